package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/httpstream"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/peer"
)

const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	headerSize = 64 << 10
	// stopTime is how long Stop waits for the calls that are under way.
	stopTime = 5 * time.Second
)

// serve answers HTTP on the listeners and announces their addresses. At the stop, it accepts no new connections, closes
// streams, and gives running calls a moment to end.
func (s *Server) serve(context.Context) error {
	closing, endStreams := context.WithCancel(context.Background())
	streams := httpstream.New(s.Log)
	base, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:                      streams.Handler(countRequests(s.handler(closing)), httpapi.IsStream),
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               headerSize,
		DisableGeneralOptionsHandler: true, // it would answer to any Host
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext:                  s.withPeer,
		ErrorLog:                     slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	limits := newConnLimits(descriptors(), s.Config.Connections.Total, s.Config.Connections.Address)
	s.Log.Debug("the hub limits its connections", "limits", limits)
	s.conns = newConns(limits)
	for _, listener := range s.listeners {
		go func() {
			if err := server.Serve(countedListener{listener, s.conns}); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- fmt.Errorf("cannot serve HTTP at %s: %w", listener.Addr(), err)
			}
		}()
	}
	s.onStop(func() error {
		endStreams()
		limited, done := context.WithTimeout(context.Background(), stopTime)
		defer done()
		err := errors.Join(server.Shutdown(limited), streams.Shutdown(limited))
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			s.Log.Warn("some calls did not end in time; the hub closes their connections", "waited", stopTime)
			err = server.Close()
		}
		return err
	})
	return s.lock.Announce(home.Hub{
		PID: s.about.PID, Address: s.about.Address, Socket: s.about.Socket, StartedAt: s.about.StartedAt, Version: s.about.Version,
	})
}

type peerKey struct{}

// localPeer is the process at the other end of a local socket, or the error that prevented its identification.
type localPeer struct {
	peer.Peer
	err error

	connectedAs *atomic.Value // the UUID of the agent that connectClient has seen last on this connection
}

// withPeer adds the connection, and the process at its other end, to the context of its requests. It identifies the process now,
// because the process may end before its first request is read.
func (s *Server) withPeer(ctx context.Context, opened net.Conn) context.Context {
	if wrapped, ok := opened.(*conn); ok {
		ctx = context.WithValue(ctx, connKey{}, wrapped)
	}
	conn := plainConn(opened)
	if conn.LocalAddr().Network() != "unix" {
		return ctx
	}
	process, err := s.peers.Identify(conn)
	if err == nil && process.Owner() && s.Config.OwnerAuth == "token" {
		err = parley.Errorf(parley.NotPermitted, "this hub requires a token even from the owner on its own machine").
			Because(parley.Unauthenticated).Suggest("set PARLEY_TOKEN (the configuration says owner_auth: token)")
	}
	if wrapped := connOf(ctx); wrapped != nil && !wrapped.setPeer(err == nil && process.Owner(), process.Agent) {
		err = errTooManyConnections()
		defer refuse(conn)
	}
	return context.WithValue(ctx, peerKey{}, localPeer{process, err, &atomic.Value{}})
}

// peer returns where a call comes from: TCP, or a process on the local socket. It checks the process at every call, because a
// connection may outlive its run, and its client may have begun a session since. It returns the error of the identification, or
// that of the check.
func (s *Server) peer(ctx context.Context) (hub.Connection, error) {
	process, ok := ctx.Value(peerKey{}).(localPeer)
	if !ok {
		return hub.Connection{TCP: true}, nil
	}
	at := hub.Connection{Socket: true}
	err := process.err
	if err == nil {
		err = s.peers.Recheck(process.Peer)
	}
	if err != nil {
		return at, err
	}
	at.Client, at.AgentUUID = process.Client, process.AgentUUID
	if at.Agent, at.Run = process.Agent, process.Run; process.Owner() {
		at.Agent = parley.Owner
	}
	return at, nil
}

// attach makes the process at the other end of the socket, and its descendants, act as the agent until leave is called. So a
// command that the client starts in its shell without a token does not act as the owner.
func (s *Server) attach(ctx context.Context, agent string) (leave func()) {
	process, ok := ctx.Value(peerKey{}).(localPeer)
	if !ok || process.PID == 0 || agent == parley.Owner {
		return func() {}
	}
	return s.peers.Attach(process.PID, agent, s.Config.Clients)
}

// Origin returns the URL of the hub for a browser on this machine.
func (s *Server) Origin() string {
	host, port, err := net.SplitHostPort(s.about.Address)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return "http://" + net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + s.about.Address
}

func listenTCP(ctx context.Context, addr string) (net.Listener, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, parley.Errorf(parley.Unavailable, "the address %s is in use by %s", addr, describeProgramAt(ctx, addr)).
			Because(parley.Conflict).From(err).Suggest("choose another address with --addr, or let the system choose a free port with --addr 127.0.0.1:0")
	case err != nil:
		return nil, parley.Errorf(parley.Unavailable, "cannot listen at the address %s: %w", addr, err).Suggest("choose another address with --addr")
	}
	return listener, nil
}

// describeProgramAt names the program that listens at an address: another hub with its version, or "another program".
func describeProgramAt(ctx context.Context, addr string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", http.NoBody)
	if err != nil {
		return "another program"
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "another program"
	}
	_ = response.Body.Close()
	if version := response.Header.Get("Parley-Version"); version != "" {
		return "another hub (parley " + version + ")"
	}
	return "another program"
}

// reachableByOthers reports whether other machines can reach an address.
func reachableByOthers(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}
