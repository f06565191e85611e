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

// Options are what the door can be told. The zero value of a field means its default.
type Options struct {
	// Hosts are names under which the hub may be called beside those of the machine itself, each with its
	// port where that is not the scheme's: parley.example.org, or https://parley.example.org for one scheme
	// alone.
	Hosts []string
	// Origin is where a browser finds the hub, for links: http://127.0.0.1:7717. Default: where the request
	// came to.
	Origin string
	// Peer says where a request came from, and, if that is the local socket, whose process is at its other end, or
	// why nobody can tell. The server puts what it needs into the connection's context.
	Peer func(ctx context.Context) (hub.Place, error)
	// Attach is called when a participant begins a session by a local socket, and leave when that ends.
	Attach func(ctx context.Context, agent string) (leave func())
	// Known is called with the context of each request whose caller has shown a good credential, and with whose that is.
	// The request fails with its error.
	Known func(ctx context.Context, who string) error
	// Closing is closed when the server stops: streams and long calls end.
	Closing <-chan struct{}
	// Limits are those of the hub. They bound what is read of a request.
	Limits parley.Limits
	// Metrics answers with what the hub measures of itself; Messages is its message log. Either may be missing.
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

// New makes the handler for everything the hub answers over HTTP.
func New(h *hub.Hub, options Options) http.Handler {
	a := &api{
		hub: h, options: withDefaults(options), mux: http.NewServeMux(), cross: http.NewCrossOriginProtection(),
		hosts: originsOf(options.Hosts),
		doc:   sync.OnceValue(newDocument),
	}
	allowed := map[string][]string{}
	for _, r := range routes() {
		r.mustHaveRule()
		a.mux.HandleFunc(r.Method+" "+r.pattern(), a.serve(r))
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
		o.Peer = func(context.Context) (hub.Place, error) { return hub.Place{TCP: true}, nil }
	}
	if o.Attach == nil {
		o.Attach = func(context.Context, string) func() { return func() {} }
	}
	if o.Known == nil {
		o.Known = func(context.Context, string) error { return nil }
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// ServeHTTP implements http.Handler.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &responseWriter{ResponseWriter: w}
	defer a.recovered(out, r)
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

// slack is what writing an answer may take beyond the time that making it has.
const slack = 30 * time.Second

// limitAnswerTime says how long an answer may take, so that nobody who stops reading holds anything up for ever.
func limitAnswerTime(w http.ResponseWriter, length time.Duration) {
	deadline := time.Time{}
	if length != endless {
		deadline = time.Now().Add(length + slack)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(deadline) // only a real connection has one
}

// limitBodyTime says how long the sender of a body may take. It also holds for a body that nobody reads, which the
// server takes in before it answers.
func limitBodyTime(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTime)) // only a real connection has one
}

// Values that every answer has, made once.
var (
	versionHeader    = []string{parley.Version}
	nosniffHeader    = []string{"nosniff"}
	noReferrerHeader = []string{"no-referrer"}
	noStoreHeader    = []string{"no-store"}
	jsonHeader       = []string{"application/json"}
)

// recovered answers a request whose handler has panicked.
func (a *api) recovered(out *responseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // it is a value to compare with
		panic(cause)
	}
	a.options.Log.Error("a request failed badly", "operation", r.Pattern, "cause", cause, "stack", string(debug.Stack()))
	a.fail(out, r, parley.Errorf(parley.Internal, "the hub failed at this request").
		Suggest("see the hub's log; it is a defect of the hub"))
}

// wrongMethod answers for a path that exists, with a method it does not have.
func (a *api) wrongMethod(methods []string) http.HandlerFunc {
	if slices.Contains(methods, http.MethodGet) {
		methods = append(methods, http.MethodHead)
	}
	slices.Sort(methods)
	allow := strings.Join(slices.Compact(methods), ", ")
	return a.authenticated(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return withStatus(http.StatusMethodNotAllowed, parley.Errorf(parley.BadInput, "%s cannot be used here", clip(r.Method)).
			Suggest("use %s", allow))
	})
}

func (a *api) wrongPath(w http.ResponseWriter, r *http.Request) {
	a.authenticated(func(http.ResponseWriter, *http.Request) error {
		return parley.Errorf(parley.BadInput, "there is nothing at %q", clip(r.URL.Path)).Because(parley.NotFound).
			Suggest("see /docs for what there is")
	})(w, r)
}

// authenticated answers only those with a credential: a stranger learns nothing, not even which paths there
// are.
func (a *api) authenticated(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, err := a.identify(r)
		if err == nil {
			err = do(w, r)
		}
		a.fail(w.(*responseWriter), r, err)
	}
}

// responseWriter notes whether anything of an answer has been sent.
type responseWriter struct {
	http.ResponseWriter
	begun bool
	pace  time.Duration // in which a reader must take what it is sent at once; 0: the answer has a time of its own
}

func (w *responseWriter) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *responseWriter) Write(p []byte) (int, error) {
	w.begun = true
	if w.pace > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.pace)) // only a real connection has one
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what it needs.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
