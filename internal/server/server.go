// Package server connects the parts of a hub: it builds the home, the listeners, the store, the hub, the runtimes and the
// dispatcher, starts them in order and stops them in reverse. No other package connects them.
package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/mcpapi"
	"github.com/parley-hub/parley/internal/notify"
	"github.com/parley-hub/parley/internal/peer"
	"github.com/parley-hub/parley/internal/service"
)

// Options are the settings of a server.
type Options struct {
	Home   home.Dir
	Config *config.Config
	Log    *slog.Logger
	Grace  time.Duration // how long runs may take to end at the stop; 0: the configured time, negative: no time
	// MCP changes the MCP server. Programs that test the protocol use it.
	MCP mcpapi.Options
}

// Server is a running hub with its listeners.
type Server struct {
	Options
	about     parley.HubStatus
	fresh     bool // this start created the home
	lock      *home.Lock
	node      string
	listeners []net.Listener
	conns     *conns
	store     store
	hub       *hub.Hub
	peers     *peer.Registry
	clients   savedClients
	runtimes  runtimes
	notified  notify.Settings
	observed  observers
	failed    chan error
	undo      []func() error // the functions that Stop calls, in the order of the start
}

// Run runs a hub until ctx is done or a listener fails. It calls started when the hub can be reached.
func Run(ctx context.Context, o Options, started func(*Server)) error {
	s, err := Start(ctx, o)
	if err != nil {
		return err
	}
	started(s)
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	s.Log.Info("the hub is stopping")
	return errors.Join(err, s.Stop())
}

// Start opens everything, or leaves nothing behind. A cancelled ctx ends the start, not the server.
func Start(ctx context.Context, o Options) (*Server, error) {
	s := &Server{Options: o, failed: make(chan error, 2)}
	for _, step := range []func(context.Context) error{
		s.lockHome, s.checkStore, s.openListeners, s.readNotify, s.makeRuntimes, s.openStore, s.startHub, s.startObserving, s.serve, s.startRuns, s.startNotify,
		s.startBridges, s.startNATS,
	} {
		if err := step(ctx); err != nil {
			s.undoFailedStart(s.abandon)
			return nil, err
		}
	}
	s.lock.FillReserve()
	for _, reason := range s.hub.Readiness(ctx) {
		s.Log.Warn("the hub can be read, but cannot store anything at present: "+reason.Message, "check", reason.Check, "suggestion", reason.Suggestion)
	}
	return s, nil
}

// undoFailedStart calls the function that undoes a failed start. It logs what cannot be undone, so that the caller returns
// only the reason of the failure.
func (s *Server) undoFailedStart(undo func() error) {
	if err := undo(); err != nil {
		s.Log.Warn("cannot undo all steps of a failed start", "error", err)
	}
}

// abandon undoes a start that failed. It also removes a home that the start created, unless a store was opened in it.
func (s *Server) abandon() error {
	if s.fresh && s.store == nil && s.lock != nil {
		s.undo[0] = s.lock.Remove
	}
	return s.Stop()
}

// Stop stops the parts of the server in the reverse order of their start. Everything that the hub acknowledged is stored.
func (s *Server) Stop() error {
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo())
	}
	s.undo = nil
	return errors.Join(errs...)
}

// onStop adds a function that Stop calls.
func (s *Server) onStop(undo func() error) { s.undo = append(s.undo, undo) }

// lockHome creates the home if it is missing, and locks it for this process. It returns E002 with the PID of another hub that
// has locked it.
func (s *Server) lockHome(context.Context) error {
	s.fresh = errors.Is(s.Home.Check(), fs.ErrNotExist)
	if err := s.Home.Make(); err != nil {
		return err
	}
	lock, err := s.Home.Acquire()
	if err != nil {
		return err
	}
	s.lock = lock
	s.onStop(lock.Release)
	if err := lock.FreeReserve(); err != nil {
		return err
	}
	s.onStop(func() error { lock.FillReserve(); return nil })
	if s.node, err = lock.Node(); err != nil {
		return err
	}
	s.peers = peer.NewRegistry(s.node)
	s.restoreClients()
	s.about = parley.HubStatus{
		Version: parley.Version, StartedAt: time.Now().UTC().Truncate(time.Millisecond), PID: os.Getpid(), Home: string(s.Home),
	}
	return nil
}

func (s *Server) openStore(ctx context.Context) (err error) {
	if s.store, s.about.Store, err = openDatabase(ctx, s.Home, s.Config.Store); err != nil {
		return err
	}
	s.onStop(s.store.Close)
	return nil
}

// openListeners listens on TCP and on the socket before the server stores anything, so that an address in use leaves nothing
// behind. The server answers when the hub is ready; earlier callers wait.
func (s *Server) openListeners(ctx context.Context) error {
	tcp, err := listenTCP(ctx, s.Config.Addr)
	if err != nil {
		return err
	}
	s.onStop(ignoreClosed(tcp.Close))
	if reachableByOthers(tcp.Addr()) {
		s.Log.Warn("other machines can reach this hub, and the connections are not encrypted: "+
			"put a TLS proxy in front of the hub, or listen on 127.0.0.1", "addr", tcp.Addr())
	}
	socket, err := s.lock.Listen()
	if err != nil {
		return err
	}
	s.onStop(ignoreClosed(socket.Close))
	s.listeners = []net.Listener{tcp, socket}
	s.about.Address, s.about.Socket = tcp.Addr().String(), s.Home.Socket()
	return nil
}

func (s *Server) startHub(ctx context.Context) (err error) {
	if err := s.saveStoreName(); err != nil {
		return err
	}
	s.observed = s.newObserved()
	config := s.hubConfig()
	if s.hub, err = hub.New(ctx, s.store, config); err != nil {
		return err
	}
	s.startReaper()
	s.hub.Start(context.WithoutCancel(ctx))
	s.onStop(func() error { s.hub.Stop(); return nil })
	return nil
}

// sweepTime is how long a start waits until the processes of earlier runs have ended.
const sweepTime = 10 * time.Second

// startReaper ends the processes that earlier runs left behind. Then it makes the hub the parent of processes that later runs
// leave behind, and starts to reap them.
func (s *Server) startReaper() {
	limited, done := context.WithTimeout(context.Background(), sweepTime)
	defer done()
	if err := s.peers.Sweep(limited); err != nil {
		s.Log.Warn("cannot end all processes of earlier runs; some may still be running", "error", err)
	}
	if err := peer.Adopt(); err != nil {
		s.Log.Warn("cannot adopt the processes that leave a run; the hub treats their calls as calls of the owner", "error", err)
		return
	}
	reaper := service.New(peer.NewReaper(s.peers).Run)
	reaper.Start(context.Background())
	<-reaper.Started()
	s.onStop(func() error { reaper.Stop(); return nil })
}

func (s *Server) hubConfig() hub.Config {
	c := s.Config
	events := c.Retention.Events
	if events == 0 {
		events = -1 // for ever
	}
	approvals := hub.Approvals(c.Approvals)
	if approvals.Remind == 0 {
		approvals.Remind = -1 // never
	}
	return hub.Config{
		Node:  s.node,
		Tiers: c.Tiers, Approvals: approvals,
		Limits: c.Limits,
		Rate:   hub.Rate(c.Rate),
		Load:   hubLoad(c),
		Retention: hub.Retention{
			Messages: hub.RetentionLimit(c.Retention.Messages), Artifacts: hub.RetentionLimit(c.Retention.Artifacts), Events: events,
		},
		AutoArchive: c.AutoArchive,
		Log:         s.Log,
		About:       s.about,
		AuditHead:   s.Home.AuditHead(),
		Loops:       hub.Loops(c.Loops),
		Asks:        hub.Asks(c.Ask),

		CheckRuntime:   s.runtimes.check,
		SetFilesAside:  s.Home.MoveAgentDirAside,
		UnknownClients: s.peers.UnknownClients, ClientProcesses: s.clientProcesses,
		Notified: s.notified.Has,
		Observer: s.observed,
	}
}

// ignoreClosed returns a function that closes a listener, and ignores the error of a listener that is already closed.
func ignoreClosed(closeListener func() error) func() error {
	return func() error {
		if err := closeListener(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}
