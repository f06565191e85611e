package mcpapi

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Headers of the protocol.
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	sessionHeader = "Mcp-Session-Id"
)

// sessionless is the first revision without a handshake and without sessions.
const sessionless = "2026-07-28"

// MaxBody is the largest request in bytes.
const MaxBody = 1 << 20

// maxBatch is how many messages one request of the revisions with batches may have. Each is answered at the same time, and an answer can be
// a thousand times as large as its call.
const maxBatch = 32

// idleSession is how long a session of the protocol lives without a request of its client.
const idleSession = 30 * time.Minute

// Handler serves MCP over streamable HTTP for all participants of a hub. It is safe for concurrent use.
type Handler struct {
	options Options
	secret  []byte // seals the ids of sessions

	current http.Handler // revisions without sessions
	earlier http.Handler // revisions with sessions

	open   streams
	closed chan struct{} // closed by Close
	close  func()

	mu      sync.Mutex
	servers map[string]*entry // by principal
}

// entry is the server of one principal. Each has its own, so that change notices of one never reach another.
type entry struct {
	server *mcp.Server
	jobs   jobs
	used   time.Time
	ids    []string // of sessions, the oldest first; some may have ended
}

// NewHandler returns a handler.
func NewHandler(o Options) *Handler {
	h := &Handler{options: o.withDefaults(), secret: []byte(rand.Text()), servers: map[string]*entry{}, closed: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	// The guard of the hub has checked Host and Origin.
	current := mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true, Logger: h.options.Log,
	}
	earlier := mcp.StreamableHTTPOptions{
		SessionTimeout: idleSession, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true, Logger: h.options.Log,
	}
	h.current = withCredential(mcp.NewStreamableHTTPHandler(h.serverOf, &current))
	h.earlier = h.open.whileOpen(withCredential(mcp.NewStreamableHTTPHandler(h.serverOf, &earlier)), h.options)
	return h
}

// Serve answers a request of a caller that the hub has identified.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, c Caller) {
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, c))
	if h.answerDirectly(w, r, c) || r.Method == http.MethodPost && !limitBatch(w, r) {
		return
	}
	if isCurrent(r) {
		h.current.ServeHTTP(w, r)
		return
	}
	if id := r.Header.Get(sessionHeader); id != "" && !h.sealedFor(c, id) {
		http.Error(w, "session not found", http.StatusNotFound) // what the SDK says of a session that never was
		return
	}
	h.earlier.ServeHTTP(w, r)
}

// limitBatch refuses a batch of too many messages. It leaves anything else to the SDK.
func limitBatch(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body)) // the SDK refuses a body that is too large
	if err != nil || !bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return true
	}
	list := json.NewDecoder(bytes.NewReader(body))
	_, err = list.Token()
	for n := 1; err == nil && list.More(); n++ {
		if n > maxBatch {
			http.Error(w, fmt.Sprintf("a batch has at most %d messages", maxBatch), http.StatusBadRequest)
			return false
		}
		var one json.RawMessage
		err = list.Decode(&one)
	}
	return true
}

// isCurrent reports whether a request belongs to a revision without sessions. Its clients name the revision and the method in headers.
func isCurrent(r *http.Request) bool {
	version := r.Header.Get(versionHeader)
	return version >= sessionless || version == "" && r.Header.Get(methodHeader) != "" && r.Header.Get(sessionHeader) == ""
}

// withCredential passes the caller on to the SDK as the credential of the request, because the SDK keeps nothing else of a request of a
// session.
func withCredential(next http.Handler) http.Handler {
	pass := auth.RequireBearerToken(func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c := callerOf(ctx)
		return &auth.TokenInfo{UserID: c.Principal, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{callerExtra: c}}, nil
	}, nil)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hideCredential(r)
		pass.ServeHTTP(w, r)
	})
}

// hideCredential replaces the credential of a request. The hub has checked the real one, and tools never see it.
func hideCredential(r *http.Request) {
	r.Header = r.Header.Clone()
	r.Header.Set("Authorization", "Bearer identified")
}

// idleServer is how long the server of a principal is kept after its last request, if it has no sessions.
const idleServer = 10 * time.Minute

// serverOf returns the server of the caller of a request.
func (h *Handler) serverOf(r *http.Request) *mcp.Server {
	principal := callerOf(r.Context()).Principal
	h.mu.Lock()
	defer h.mu.Unlock()
	kept, ok := h.servers[principal]
	if !ok {
		h.dropIdle()
		kept = &entry{}
		kept.server, kept.jobs = newServer(h.options, callerOfRequest, func() string {
			id := h.newSessionID(principal)
			h.addSession(kept, id)
			return id
		}, &h.open)
		h.servers[principal] = kept
	}
	kept.used = time.Now()
	return kept.server
}

// dropIdle forgets servers that nobody uses. The caller holds the lock.
func (h *Handler) dropIdle() {
	for principal, kept := range h.servers {
		if time.Since(kept.used) > idleServer && !hasSessions(kept.server) {
			kept.jobs.close()
			delete(h.servers, principal)
		}
	}
}

// maxSessions is how many sessions of the protocol one principal may have. Clients that crash leave theirs behind.
const maxSessions = 64

// addSession notes the id of a new session. If there are too many, it ends the oldest one.
func (h *Handler) addSession(kept *entry, id string) {
	h.mu.Lock()
	live := map[string]*mcp.ServerSession{}
	for s := range kept.server.Sessions() {
		live[s.ID()] = s
	}
	kept.ids = append(slices.DeleteFunc(kept.ids, func(id string) bool { return live[id] == nil }), id)
	var oldest *mcp.ServerSession
	if len(kept.ids) > maxSessions {
		oldest = live[kept.ids[0]]
	}
	h.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // it ends, or has ended
	}
}

// Close ends all sessions of the protocol, and everything that goes on for a client.
func (h *Handler) Close() {
	h.close()
	h.mu.Lock()
	servers := slices.Collect(maps.Values(h.servers))
	h.servers = map[string]*entry{}
	h.mu.Unlock()
	for _, kept := range servers {
		for s := range kept.server.Sessions() {
			_ = s.Close() // it ends, or has ended
		}
		kept.jobs.close()
	}
}

func hasSessions(s *mcp.Server) bool {
	for range s.Sessions() {
		return true
	}
	return false
}

// newSessionID returns the id of a session of the protocol. Only its principal can use it.
func (h *Handler) newSessionID(principal string) string {
	random := rand.Text()
	return random + "-" + h.seal(principal, random)
}

func (h *Handler) seal(principal, random string) string {
	sum := hmac.New(sha256.New, h.secret)
	_, _ = sum.Write([]byte(random + "/" + principal)) // a hash returns no error
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

func (h *Handler) sealedFor(c Caller, id string) bool {
	random, seal, _ := strings.Cut(id, "-")
	return hmac.Equal([]byte(seal), []byte(h.seal(c.Principal, random)))
}
