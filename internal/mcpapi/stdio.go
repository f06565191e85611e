package mcpapi

import (
	"cmp"
	"context"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// ServeStream serves one client, whose messages are lines of JSON on in and out, until in ends or ctx is done. identify returns the
// caller; it is called for each request until it succeeds, because the hub may not run yet. The stream is a client session with this
// key from its first request on.
func ServeStream(ctx context.Context, in io.ReadCloser, out io.Writer, identify func(context.Context) (Caller, error), key string, o Options) error {
	o = o.withDefaults()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &stdioSession{ctx: ctx, key: key, options: o, identify: identify}
	defer s.close()
	server, jobs := newServer(o, s.callerOf, nil, &streams{})
	defer jobs.close()
	plain := &lineCalls{ctx: ctx, options: o, caller: s.callerOfCall, cancels: map[string]context.CancelFunc{}}
	defer plain.running.Wait()
	defer cancel()
	return server.Run(ctx, &lines{in: in, out: out, plain: plain})
}

// stdioSession is the client session of a client on standard streams. The caller becomes known, and the session opens, with the first
// request that reaches the hub.
type stdioSession struct {
	ctx      context.Context //nolint:containedctx // of the whole stream, which outlives each request
	key      string
	options  Options
	identify func(context.Context) (Caller, error)

	mu     sync.Mutex
	caller Caller
	client string // its name and version
	known  bool
	opened bool
	link   parley.SessionStream
	loop   sync.WaitGroup
	takes  tools.Takes
}

// openTime is how long a request waits for the session to open. Then the request goes on, and the session opens behind it.
const openTime = 2 * time.Second

// callerOf returns the caller of a request, and opens the session with the first one.
func (s *stdioSession) callerOf(req mcp.Request) (Caller, bool) {
	wake := parley.WakeNone
	if declaresTasks(req.GetParams()) {
		wake = parley.WakeTask
	}
	return s.enter(clientOf(req), wake), true
}

// callerOfCall is callerOf for a plain call, which does not declare tasks.
func (s *stdioSession) callerOfCall(p *plainRequest) Caller {
	c := s.enter(nameOf(p.Params.Meta.Client), parley.WakeNone)
	c.maxWait = s.options.MaxWait
	return c
}

func (s *stdioSession) enter(client string, wake parley.SessionWake) Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = cmp.Or(client, s.client)
	ctx, cancel := context.WithTimeout(s.ctx, openTime)
	defer cancel()
	if !s.known {
		c, err := s.identify(ctx)
		s.caller, s.known = c, err == nil
	}
	if s.known && !s.opened && !s.caller.InRun {
		s.open(ctx, wake)
	}
	return s.caller
}

// open opens the session. The caller holds the lock.
func (s *stdioSession) open(ctx context.Context, wake parley.SessionWake) {
	n := parley.NewSession{Key: s.key, Kind: parley.SessionStdio, Wake: wake, Client: s.client}
	link, err := s.caller.Workspace.OpenSession(ctx, n)
	if err != nil {
		s.options.Log.Warn("cannot open a session; the next call tries again", "error", err)
		return
	}
	s.opened, s.link, s.caller.Session = true, link, s.key
	s.caller.takes = &s.takes
	s.loop.Go(func() { s.follow(link) })
}

// clientOf returns the name and version of the client of a request: those of the request, or those of the handshake.
func clientOf(req mcp.Request) string {
	if begin, ok := req.GetParams().(*mcp.InitializeParams); ok && begin != nil {
		return nameOf(begin.ClientInfo)
	}
	if session, ok := req.GetSession().(*mcp.ServerSession); ok && session.InitializeParams() != nil {
		return nameOf(session.InitializeParams().ClientInfo)
	}
	if info, ok := metaOf(req.GetParams())[mcp.MetaKeyClientInfo].(map[string]any); ok {
		name, _ := info["name"].(string)
		version, _ := info["version"].(string)
		return nameOf(&mcp.Implementation{Name: name, Version: version})
	}
	return ""
}

// follow keeps the session open. When the hub ends it, the next request opens it again.
func (s *stdioSession) follow(link parley.SessionStream) {
	for {
		if _, err := link.Next(s.ctx); err == nil {
			continue
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.link == link {
			s.opened, s.caller.Session = false, ""
		}
		_ = link.Close() // it has ended
		return
	}
}

func (s *stdioSession) close() {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link != nil {
		_ = link.Close() // the process ends, and its session with it
	}
	s.loop.Wait()
}
