package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Options configure the HTTP API. The zero value of a field means its default.
type Options struct {
	// Hosts are the host names of the hub, besides those of the machine itself. Each has its port, unless it is the scheme's
	// default port: parley.example.org for both schemes, or https://parley.example.org for one scheme.
	Hosts []string
	// Origin is the hub's origin in links for browsers: http://127.0.0.1:7717. Default: the origin that the request was sent to.
	Origin string
	// Peer returns the connection that a request came over. If it is the local socket, Peer also identifies the process at the
	// other end, or returns the error that prevents this. The server puts what Peer needs into the connection's context.
	Peer func(ctx context.Context) (hub.Connection, error)
	// Attach is called when a participant begins a session over the local socket. The API calls leave when the session ends.
	Attach func(ctx context.Context, agent string) (leave func())
	// Connect is called for each request over the local socket that "parley mcp" or a hook of a client makes with the token of
	// caller.
	Connect func(ctx context.Context, caller hub.Caller)
	// OnIdentified is called for each request with a valid credential, with the request's context and the id of the caller. If
	// it returns an error, the request fails with this error.
	OnIdentified func(ctx context.Context, agent string) error
	// MCP serves the requests to /mcp, as the caller that the API has identified. If it is nil, there is no such endpoint.
	MCP func(w http.ResponseWriter, r *http.Request, c MCPCaller)
	// Closing ends when the server stops. Then streams and long calls end. Default: never.
	Closing context.Context
	// Limits are the limits of the hub. They bound the size of requests.
	Limits parley.Limits
	// Metrics serves the hub's metrics; Messages is its message log. Either may be nil.
	Metrics  http.Handler
	Messages MessageLog
	Log      *slog.Logger
}

// api serves the table of routes.
type api struct {
	hub     *hub.Hub
	options Options
	mux     *http.ServeMux
	hosts   map[string][]string // origins of configured hosts
	cross   *http.CrossOriginProtection
	doc     func() *document
	lines   eventLines
}

// New returns the handler for all HTTP requests to the hub.
func New(h *hub.Hub, options Options) http.Handler {
	a := &api{
		hub: h, options: withDefaults(options), mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		hosts: originsOf(options.Hosts),
		doc:   sync.OnceValue(newDocument),
	}
	allowed := map[string][]string{}
	for _, r := range allRoutes() {
		r.mustHaveRule()
		a.mux.HandleFunc(r.Method+" "+r.pattern(), a.serve(&r))
		allowed[r.pattern()] = append(allowed[r.pattern()], r.Method)
	}
	for path, methods := range allowed {
		a.mux.HandleFunc(path, a.wrongMethod(methods))
	}
	a.mux.HandleFunc("/", a.wrongPath)
	return a
}

func withDefaults(o Options) Options {
	limits := parley.DefaultLimits()
	if o.Limits.Body == 0 {
		o.Limits.Body = limits.Body
	}
	if o.Limits.Artifact == 0 {
		o.Limits.Artifact = limits.Artifact
	}
	if o.Peer == nil {
		o.Peer = func(context.Context) (hub.Connection, error) { return hub.Connection{TCP: true}, nil }
	}
	if o.Attach == nil {
		o.Attach = func(context.Context, string) func() { return func() {} }
	}
	if o.Closing == nil {
		o.Closing = context.Background()
	}
	if o.Connect == nil {
		o.Connect = func(context.Context, hub.Caller) {}
	}
	if o.OnIdentified == nil {
		o.OnIdentified = func(context.Context, string) error { return nil }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &responseWriter{ResponseWriter: w}
	defer a.recoverPanic(out, r)
	h := w.Header()
	h["Parley-Version"] = versionHeader
	h["X-Content-Type-Options"] = nosniffHeader
	h["Referrer-Policy"] = noReferrerHeader
	limitAnswerTime(out, defaultTime)
	if r.ContentLength != 0 {
		limitBodyTime(out)
	}
	if err := a.guard(r); err != nil {
		a.fail(out, r, err)
		return
	}
	a.mux.ServeHTTP(out, r)
}

// extraWriteTime is the time for writing an answer, in addition to the time limit of the call.
const extraWriteTime = 30 * time.Second

// limitAnswerTime limits the time for an answer, so that a reader that stops reading does not keep a call open for ever.
func limitAnswerTime(w http.ResponseWriter, length time.Duration) {
	deadline := time.Time{}
	if length != noTimeLimit {
		deadline = time.Now().Add(length + extraWriteTime)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(deadline) // only a real connection has one
}

// limitBodyTime limits the time for receiving a body. The limit also holds for a body that no handler reads: the server
// receives it before it answers.
func limitBodyTime(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // only a real connection has one
}

// Values of headers, which all answers share.
var (
	versionHeader    = []string{parley.Version}
	nosniffHeader    = []string{"nosniff"}
	noReferrerHeader = []string{"no-referrer"}
	noStoreHeader    = []string{"no-store"}
	jsonHeader       = []string{"application/json"}
)

// recoverPanic answers a request whose handler has panicked.
func (a *api) recoverPanic(out *responseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http panics with this very value
		panic(cause)
	}
	a.options.Log.Error("a request handler panicked; the caller gets E006", "operation", r.Pattern, "cause", cause, "stack", string(debug.Stack()))
	a.fail(out, r, parley.Errorf(parley.Internal, "the hub failed to handle this request").
		Suggest("see the log of the hub; this is a defect of the hub"))
}

// wrongMethod returns a handler for requests to an existing path with another method.
func (a *api) wrongMethod(methods []string) http.HandlerFunc {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	allow := strings.Join(slices.Compact(methods), ", ")
	return a.authenticated(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return withStatus(http.StatusMethodNotAllowed, parley.Errorf(parley.BadInput, "%s cannot be used here", shorten(r.Method)).
			Suggest("use %s", allow))
	})
}

func (a *api) wrongPath(w http.ResponseWriter, r *http.Request) {
	a.authenticated(func(http.ResponseWriter, *http.Request) error {
		return parley.Errorf(parley.BadInput, "there is no resource at %q", shorten(r.URL.Path)).Because(parley.NotFound).
			Suggest("see /docs for all paths")
	})(w, r)
}

// authenticated returns a handler that calls do only for a caller with a valid credential. Other callers do not even learn
// which paths exist.
func (a *api) authenticated(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := a.identify(r)
		if err == nil {
			err = do(w, r)
		}
		a.fail(w.(*responseWriter), r, err)
	}
}

// responseWriter remembers whether a part of the answer has been sent.
type responseWriter struct {
	http.ResponseWriter
	started   bool
	writeTime time.Duration // how long each write may take; 0: limitAnswerTime limits the whole answer
}

func (w *responseWriter) WriteHeader(status int) {
	w.started = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.started = true
	if w.writeTime > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.writeTime)) // only a real connection has one
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
