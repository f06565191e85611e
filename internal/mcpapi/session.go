package mcpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// streams are the client sessions of open streams over HTTP. A stream is a live session of its participant, and the other requests of
// the same client belong to it.
type streams struct {
	mu   sync.Mutex
	open map[streamKey]*openStream
}

// openStream is what the streams of one client session share.
type openStream struct {
	count int
	takes tools.Takes
}

type streamKey struct{ principal, session string }

// join opens a client session for a stream. If the hub refuses it, the stream works without one: then the client has no lease beyond a
// plain one. Nobody waits for the signs of the session: a stream of this protocol has no notice for them, the hub keeps none, and to look
// at the inbox of each idle stream from time to time would cost more than the stream. So join does not learn if the hub ends the session
// before the stream. The takes of the client then have plain leases too.
func (s *streams) join(ctx context.Context, o Options, c Caller, n parley.NewSession) (leave func()) {
	if c.InRun {
		return func() {}
	}
	link, err := c.Workspace.OpenSession(ctx, n)
	if err != nil {
		o.Log.Debug("a client of MCP gets no session", "agent", c.ID, "error", err)
		return func() {}
	}
	key := streamKey{c.Principal, n.Key}
	s.add(key, 1)
	return func() {
		s.add(key, -1)
		_ = link.Close() // it may have ended before
	}
}

func (s *streams) add(key streamKey, more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[streamKey]*openStream{}
	}
	if s.open[key] == nil {
		s.open[key] = &openStream{}
	}
	if s.open[key].count += more; s.open[key].count <= 0 {
		delete(s.open, key)
	}
}

// sessionOf returns the caller as a part of the client session with this key, if a stream of it is open.
func (s *streams) sessionOf(c Caller, key string) Caller {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.open[streamKey{c.Principal, key}]; open != nil {
		c.Session, c.takes = key, &open.takes
	}
	return c
}

// sessionOfID returns the key of the client session that belongs to a session of the protocol.
func sessionOfID(id string) string {
	random, _, _ := strings.Cut(id, "-")
	return "mcp-" + strings.ToLower(random)
}

// sessionOfClient returns the key of the client session of a client without a session of the protocol. The requests of one participant
// that name the same client share it.
func sessionOfClient(c Caller, client *mcp.Implementation) string {
	sum := sha256.Sum256([]byte(c.Principal + "/" + nameOf(client)))
	return "mcp-" + hex.EncodeToString(sum[:10])
}

// nameOf returns the name and version of a client, as it reports them.
func nameOf(client *mcp.Implementation) string {
	if client == nil {
		return ""
	}
	return shortened(strings.TrimSpace(client.Name + " " + client.Version))
}

// shortened returns the beginning of what a client says of itself, as a text that a session can have.
func shortened(name string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(name[:min(len(name), 100)], "\x00", ""), "")
}

// whileOpen makes a standing stream of an earlier revision a client session.
func (s *streams) whileOpen(next http.Handler, o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get(sessionHeader) != "" {
			defer s.joinStanding(r, o)()
		}
		next.ServeHTTP(w, r)
	})
}

func (s *streams) joinStanding(r *http.Request, o Options) (leave func()) {
	return s.join(r.Context(), o, callerOf(r.Context()), parley.NewSession{
		Key: sessionOfID(r.Header.Get(sessionHeader)), Client: shortened(r.UserAgent()), Kind: parley.SessionHTTP, Wake: parley.WakeNone,
	})
}

// find is a middleware that finds the client session of each request, and makes a stream of notices one.
func (s *streams) find(o Options) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			c := callerOf(ctx)
			if c.Session != "" {
				return next(ctx, method, req)
			}
			key, client := s.keyOf(c, req)
			if _, listens := req.(*mcp.SubscriptionsListenRequest); listens {
				wake := parley.WakeNone
				if declaresTasks(req.GetParams()) {
					wake = parley.WakeTask
				}
				defer s.join(ctx, o, c, parley.NewSession{Key: key, Client: nameOf(client), Kind: parley.SessionHTTP, Wake: wake})()
			}
			return next(context.WithValue(ctx, callerKey{}, s.sessionOf(c, key)), method, req)
		}
	}
}

// keyOf returns the key of the client session that a request belongs to, and the client that it names.
func (s *streams) keyOf(c Caller, req mcp.Request) (string, *mcp.Implementation) {
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok {
		return "", nil
	}
	if id := session.ID(); id != "" {
		return sessionOfID(id), nil
	}
	var client *mcp.Implementation
	if begun := session.InitializeParams(); begun != nil {
		client = begun.ClientInfo
	}
	return sessionOfClient(c, client), client
}
