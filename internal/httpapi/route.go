package httpapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	defaultBody     = 1 << 20
	importBody      = 64 << 30
	maxArrivalsBody = 4 << 20
	defaultTime     = 30 * time.Second
	maxWait         = 50 * time.Second
	waitTime        = maxWait + defaultTime
	bodyTime        = 30 * time.Second // to send a request's JSON
	fileTime        = time.Hour        // to send or fetch an artifact
	longTime        = 24 * time.Hour
	noTimeLimit     = -1
)

// Operation describes a route.
type Operation struct {
	ID          string
	Method      string
	Path        string
	Tag         string
	Summary     string
	Description string
	Status      int           // the HTTP status of success; default: 200, or 204 without a body
	MaxBody     int64         // the largest request body in bytes; 0: the default
	TimeLimit   time.Duration // 0: the default
	RequestType string        // the media type of a request's body that is not JSON
	AnswerType  string        // the media type of an answer's body that is not JSON
	Example     string        // an example of a request's body
	Hidden      bool          // a page, not part of the API

	// The hub's rule for the operation. withRules copies these fields from the hub's table of operations.
	Scope parley.Scope // empty only if Who is Anyone
	Who   hub.Callers
	Held  bool // an agent's call may need an approval
	Work  hub.CallKind
}

// mustHaveRule panics if no rule says which callers may use an operation.
func (o Operation) mustHaveRule() {
	open := o.Who == hub.Anyone && o.Scope == ""
	if !open && (o.Who == hub.Anyone || !o.Who.Known() || !parley.AllScopes().Has(o.Scope)) {
		panic(fmt.Sprintf("httpapi: %s %s has no rule: scope %q, who %q", o.Method, o.Path, o.Scope, o.Who))
	}
}

// withRules copies the rules in the hub's table of operations to the routes.
func withRules(list []route) []route {
	operations := hub.Operations()
	for i := range list {
		op := &list[i].Operation
		if rule, known := operations[op.ID]; known && op.Who == "" {
			op.Scope, op.Who, op.Work = rule.Scope, rule.Callers, rule.Kind
			op.Held = rule.Held == hub.HeldStrict || rule.Held == hub.HeldSupervised
		}
	}
	return list
}

// pattern returns the path as a pattern for http.ServeMux, in which "/" alone would match every path.
func (o Operation) pattern() string {
	if o.Path == "/" {
		return "/{$}"
	}
	return o.Path
}

// route is an operation with its handler, and with the function that adds it to the OpenAPI document.
type route struct {
	Operation
	handle   func(w *responseWriter, r *http.Request, c *call) error
	document func(huma.API, huma.Operation)
}

// call is one request with its caller.
type call struct {
	*api
	caller  hub.Caller
	session string               // the secret of the browser session, if the request has one
	local   bool                 // the request came over the local socket
	client  parley.ClientProcess // the client from which the calling process descends, if any

	underway *underway
}

// jsonRoute returns the route of a function whose result is the answer.
func jsonRoute[In, Out any](op Operation, do func(context.Context, *call, *In) (Out, error)) route {
	return jsonRouteWithStatus(op, func(Out) int { return op.success() }, do)
}

// jsonRouteWithStatus returns a route like jsonRoute, whose HTTP status depends on the answer.
func jsonRouteWithStatus[In, Out any](op Operation, status func(Out) int, do func(context.Context, *call, *In) (Out, error)) route {
	in := inputOf[In]()
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c *call) error {
			var input In
			if err := in.read(w, r, c.limit(op), &input); err != nil {
				return err
			}
			out, err := do(r.Context(), c, &input)
			c.underway.workDone()
			if err == nil {
				setTraceHeader(w, c, out)
				writeJSON(w, status(out), out)
			}
			return err
		},
		document: func(doc huma.API, described huma.Operation) {
			huma.Register(doc, described, func(context.Context, *In) (*struct{ Body Out }, error) { return nil, nil })
		},
	}
}

// emptyRoute returns the route of a function whose answer has no body.
func emptyRoute[In any](op Operation, do func(context.Context, *call, *In) error) route {
	in := inputOf[In]()
	op.Status = http.StatusNoContent
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c *call) error {
			var input In
			if err := in.read(w, r, c.limit(op), &input); err != nil {
				return err
			}
			err := do(r.Context(), c, &input)
			if err == nil {
				w.WriteHeader(http.StatusNoContent)
			}
			return err
		},
		document: documented[In],
	}
}

// streamRoute returns the route of a function that reads or writes a body by itself. If the function fails before the first
// byte, the answer is the error. If it fails later, the server cuts the connection.
func streamRoute[In any](op Operation, do func(w http.ResponseWriter, r *http.Request, c *call, in *In) error) route {
	in := inputOf[In]()
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c *call) error {
			var input In
			if err := in.read(w, r, c.limit(op), &input); err != nil {
				return err
			}
			if op.TimeLimit <= 0 { // the call is short, or limits itself
				return do(w, r, c, &input)
			}
			_, err := whileValid(r.Context(), c, func(ctx context.Context) (noInput, error) {
				r := r.WithContext(ctx) // a copy, so that the server still finds the unread body in the original
				if op.RequestType != "" {
					defer allowUpload(ctx, w, op.TimeLimit)()
					r.Body = http.MaxBytesReader(w, r.Body, c.limit(op))
					if op.MaxBody == bodyOfArtifact {
						r.Body = newArtifactBody(ctx, w, r.Body)
					}
				}
				return noInput{}, do(w, r, c, &input)
			})
			return err
		},
		document: documented[In],
	}
}

// allowUpload gives the sender of a body more time, until ctx ends or the caller calls stop.
func allowUpload(ctx context.Context, w http.ResponseWriter, length time.Duration) (stop func()) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(length)) // only a real connection has one
	ended := context.AfterFunc(ctx, func() { _ = control.SetReadDeadline(time.Now()) })
	return func() {
		ended()
		limitBodyTime(w) // the server still receives the unread rest
	}
}

// pageRoute returns the route of a handler that needs no credential.
func pageRoute(op Operation, do func(a *api, w http.ResponseWriter, r *http.Request) error) route {
	op.Who = hub.Anyone
	return route{
		Operation: op,
		handle:    func(w *responseWriter, r *http.Request, c *call) error { return do(c.api, w, r) },
		document:  documented[struct{}],
	}
}

func documented[In any](doc huma.API, described huma.Operation) {
	huma.Register(doc, described, func(context.Context, *In) (*struct{}, error) { return nil, nil })
}

func (o Operation) success() int {
	if o.Status == 0 {
		return http.StatusOK
	}
	return o.Status
}

// limit returns the largest size of a request's body in bytes.
func (a *api) limit(op Operation) int64 {
	switch op.MaxBody {
	case 0:
		return defaultBody
	case bodyOfMessage:
		// JSON may write each character of a text as an escape of six characters, and the request has metadata too.
		return max(defaultBody, 8*int64(a.options.Limits.Body))
	case bodyOfArtifact:
		return a.options.Limits.Artifact + 1 // one byte more, so that the error is that of the hub, which names the limit
	case bodyOfArrivals:
		// A client sends at most maxArrivalsBody, or one larger document. The request has the document twice.
		return maxArrivalsBody + 16*int64(a.options.Limits.Body)
	default:
		return op.MaxBody
	}
}

// Values of MaxBody for limits that depend on the hub's limits.
const (
	bodyOfMessage  = -1
	bodyOfArtifact = -2
	bodyOfArrivals = -3
)

// serve returns the handler of a route. The handler checks the credential, the rights, the type of the body and the load of the
// hub, and then calls the handler of the route.
func (a *api) serve(route *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out := w.(*responseWriter)
		if route.Work == hub.Sending {
			out.writeTime = sendPartTime
		}
		if route.TimeLimit != 0 {
			limitAnswerTime(out, route.TimeLimit)
		}
		ctx, cancel := withTimeLimit(r.Context(), route.TimeLimit)
		defer cancel()
		r = r.WithContext(ctx)
		c, err := a.begin(r, &route.Operation)
		if err == nil {
			defer c.underway.end()
			err = route.handle(out, r, c)
		}
		if err != nil {
			a.fail(out, r, err)
		}
	}
}

// begin returns the call that a request makes, if the caller may make it now. The call occupies a slot of the hub until it ends.
func (a *api) begin(r *http.Request, op *Operation) (*call, error) {
	c, err := a.admit(r, op)
	if err == nil {
		err = checkContentType(r, op)
	}
	if err == nil {
		err = c.begin(r.Context(), op)
	}
	return c, err
}

func withTimeLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	switch limit {
	case noTimeLimit:
		return ctx, func() {}
	case 0:
		return context.WithTimeout(ctx, defaultTime)
	default:
		return context.WithTimeout(ctx, limit)
	}
}

// Routes returns every operation.
func Routes() []Operation {
	var list []Operation
	for _, r := range allRoutes() {
		list = append(list, r.Operation)
	}
	return list
}

// IsStream reports whether a request is for a stream that can stay open for hours.
func IsStream(r *http.Request) bool {
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/events", "POST /v1/sessions", "GET /mcp":
		return true
	case "POST /mcp":
		return r.Header.Get("Mcp-Method") == "subscriptions/listen"
	default:
		return false
	}
}

// idempotencyKey returns the idempotency key of a call, from its header or its body. It returns E003 if they differ.
func idempotencyKey(header, body string) (string, error) {
	if header != "" && body != "" && header != body {
		return "", parley.Errorf(parley.BadInput, "the Idempotency-Key header and idempotency_key differ").Suggest("give only one of them")
	}
	return cmp.Or(header, body), nil
}

const traceHeader = "Traceparent"

// traceOf returns the trace in the traceparent of a request, or "". It ignores an invalid traceparent.
func traceOf(r *http.Request) string {
	if given := r.Header[traceHeader]; len(given) == 1 {
		trace, _ := parley.ParseTraceParent(given[0])
		return trace
	}
	return ""
}

// setTraceHeader sets the header with the trace and the span of a stored message or contact.
func setTraceHeader(w http.ResponseWriter, c *call, made any) {
	switch made := made.(type) {
	case parley.Receipt:
		w.Header()[traceHeader] = []string{parley.TraceParent(made.Message.TraceID, parley.MessageSpan(made.Message.ID))}
	case parley.Contacted:
		if c.caller.Trace != "" && c.caller.Run == "" && !made.Duplicate { // otherwise the trace is that of the run
			w.Header()[traceHeader] = []string{parley.TraceParent(c.caller.Trace, parley.MessageSpan(made.Message))}
		}
	}
}
