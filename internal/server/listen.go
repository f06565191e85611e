package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/peer"
)

const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	headerSize = 64 << 10
	// stopTime is what calls that are under way get to end by themselves.
	stopTime = 5 * time.Second
)

// serve answers HTTP on the listeners and announces their addresses. At the stop, it accepts no new connections, closes
// streams, and gives running calls a moment to end.
func (s *Server) serve(context.Context) error {
	closing := make(chan struct{})
	base, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:                      counted(s.handler(closing)),
		ReadHeaderTimeout:            headerTime,
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               headerSize,
		DisableGeneralOptionsHandler: true, // it would answer to any Host
		BaseContext:                  func(net.Listener) context.Context { return base },
		ConnContext:                  s.withPeer,
		ErrorLog:                     slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
	}
	shares := sharesOf(descriptors(), s.Config.Connections.Total, s.Config.Connections.Address)
	s.Log.Debug("connections are bounded", "most", shares)
	s.conns = newConns(shares)
	for _, door := range s.listeners {
		go func() {
			if err := server.Serve(guarded{door, s.conns}); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- fmt.Errorf("the door at %s has failed: %w", door.Addr(), err)
			}
		}()
	}
	s.onStop(func() error {
		close(closing)
		limited, done := context.WithTimeout(context.Background(), stopTime)
		defer done()
		err := server.Shutdown(limited)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			s.Log.Warn("calls that did not end were cut off")
			err = server.Close()
		}
		return err
	})
	return s.lock.Announce(home.Hub{
		PID: s.about.PID, Address: s.about.Address, Socket: s.about.Socket, StartedAt: s.about.StartedAt, Version: s.about.Version,
	})
}

type peerKey struct{}

// localPeer is who is at the other end of the socket, or why that is not known.
type localPeer struct {
	peer.Peer
	err error
}

// withPeer looks at who has connected, while it is certain to be there.
func (s *Server) withPeer(ctx context.Context, opened net.Conn) context.Context {
	if counted, ok := opened.(*conn); ok {
		ctx = context.WithValue(ctx, connKey{}, counted)
	}
	conn := plainConn(opened)
	if conn.LocalAddr().Network() != "unix" {
		return ctx
	}
	who, err := s.peers.Identify(conn)
	if err == nil && who.Owner() && s.Config.OwnerAuth == "token" {
		err = parley.Errorf(parley.NotPermitted, "on this hub owners too need a token").
			Because(parley.Unauthenticated).Suggest("set PARLEY_TOKEN (the configuration says owner_auth: token)")
	}
	if counted := connOf(ctx); counted != nil && !counted.identified(err == nil && who.Owner(), who.Agent) {
		err = errNoPlace()
		defer refuse(conn)
	}
	return context.WithValue(ctx, peerKey{}, localPeer{who, err})
}

// peer finds where a call comes from. It looks at each call, because a connection may outlive its run, and its client may have
// begun a session since.
func (s *Server) peer(ctx context.Context) (hub.Place, error) {
	who, ok := ctx.Value(peerKey{}).(localPeer)
	if !ok {
		return hub.Place{TCP: true}, nil
	}
	at := hub.Place{Socket: true}
	err := who.err
	if err == nil {
		err = s.peers.Still(who.Peer)
	}
	if err != nil {
		return at, err
	}
	if at.Agent, at.Run = who.Agent, who.Run; who.Owner() {
		at.Agent = parley.Owner
	}
	return at, nil
}

// attach makes the client at the other end of the socket, and everything that descends from it, the agent while its session
// lasts. So a command that the client starts in its shell without a token is not the owner.
func (s *Server) attach(ctx context.Context, agent string) (leave func()) {
	who, ok := ctx.Value(peerKey{}).(localPeer)
	if !ok || who.PID == 0 || agent == parley.Owner {
		return func() {}
	}
	return s.peers.Attach(who.PID, agent, s.Config.Clients)
}

// Origin is where a browser on this machine finds the hub.
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
		return nil, parley.Errorf(parley.Unavailable, "the address %s is in use by %s", addr, whoIsAt(ctx, addr)).
			Because(parley.Conflict).From(err).Suggest("choose another with --addr, or any that is free with --addr 127.0.0.1:0")
	case err != nil:
		return nil, parley.Errorf(parley.Unavailable, "the address %s cannot be used: %w", addr, err).Suggest("choose another with --addr")
	}
	return listener, nil
}

// whoIsAt tells a hub from other programs.
func whoIsAt(ctx context.Context, addr string) string {
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

// isOpen says whether others than this machine can reach an address.
func isOpen(address net.Addr) bool {
	tcp, ok := address.(*net.TCPAddr)
	return ok && !tcp.IP.IsLoopback()
}
