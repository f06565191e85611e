package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	defaultBody    = 1 << 20
	importBody     = 64 << 30
	arrivalsAtOnce = 4 << 20
	defaultTime    = 30 * time.Second
	maxWait        = 50 * time.Second
	waitTime       = maxWait + defaultTime
	bodyTime       = 30 * time.Second // to send a request's JSON
	fileTime       = time.Hour        // to send or fetch an artifact
	longTime       = 24 * time.Hour
	endless        = -1 // no limit of time
)

// Operation is what there is to know of a route.
type Operation struct {
	ID          string
	Method      string
	Path        string
	Tag         string
	Summary     string
	Description string
	Status      int           // of success; default: 200, or 204 without a body
	Body        int64         // bytes of a request, 0: the default
	Time        time.Duration // 0: the default
	Takes       string        // media type of a request's body that is not JSON
	Gives       string        // media type of an answer's body that is not JSON
	Example     string        // of a request's body
	Hidden      bool          // a page, not part of the API

	// The hub's rule for it. A route does not say these: they are in the hub's table of operations.
	Scope parley.Scope // none only where Who is Anyone
	Who   hub.Who
	Held  bool // an agent's call may have to be approved first
	Work  hub.Work
}

// mustHaveRule keeps an operation from being served of which nobody has said who may use it.
func (o Operation) mustHaveRule() {
	open := o.Who == hub.Anyone && o.Scope == ""
	if !open && (o.Who == hub.Anyone || !o.Who.Known() || !parley.AllScopes().Has(o.Scope)) {
		panic(fmt.Sprintf("httpapi: %s %s has no rule: scope %q, who %q", o.Method, o.Path, o.Scope, o.Who))
	}
}

// withRules gives routes what the hub's table of operations says of them.
func withRules(list []route) []route {
	operations := hub.Operations()
	for i := range list {
		op := &list[i].Operation
		if rule, known := operations[op.ID]; known && op.Who == "" {
			op.Scope, op.Who, op.Work = rule.Scope, rule.Who, rule.Work
			op.Held = rule.Held == hub.HeldStrict || rule.Held == hub.HeldSupervised
		}
	}
	return list
}

// pattern is the path as http.ServeMux wants it: the root stands for itself alone.
func (o Operation) pattern() string {
	if o.Path == "/" {
		return "/{$}"
	}
	return o.Path
}

// route is an operation with what does it.
type route struct {
	Operation
	handle   func(w *responseWriter, r *http.Request, c call) error
	document func(huma.API, huma.Operation)
}

// call is one request whose caller is known.
type call struct {
	*api
	caller  hub.Caller
	session string // the secret of the session it came with, if it did
	local   bool   // it came by the local socket

	underway *underway
}

// jsonRoute makes a route of a function that answers with a value.
func jsonRoute[In, Out any](op Operation, do func(context.Context, call, *In) (Out, error)) route {
	return jsonRouteWithStatus(op, func(Out) int { return op.success() }, do)
}

// jsonRouteWithStatus makes a route whose status depends on the answer.
func jsonRouteWithStatus[In, Out any](op Operation, status func(Out) int, do func(context.Context, call, *In) (Out, error)) route {
	in := inputOf[In]()
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c call) error {
			var input In
			if err := in.read(w, r, c.limit(op), &input); err != nil {
				return err
			}
			out, err := do(r.Context(), c, &input)
			c.underway.found()
			if err == nil {
				sayTrace(w, c, out)
				writeJSON(w, status(out), out)
			}
			return err
		},
		document: func(doc huma.API, described huma.Operation) {
			huma.Register(doc, described, func(context.Context, *In) (*struct{ Body Out }, error) { return nil, nil })
		},
	}
}

// emptyRoute makes a route of a function that answers with nothing.
func emptyRoute[In any](op Operation, do func(context.Context, call, *In) error) route {
	in := inputOf[In]()
	op.Status = http.StatusNoContent
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c call) error {
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

// streamRoute makes a route of a function that reads or writes a body by itself, bit by bit. An error before
// the first byte is answered as any other; one after it cuts the connection.
func streamRoute[In any](op Operation, do func(w http.ResponseWriter, r *http.Request, c call, in *In) error) route {
	in := inputOf[In]()
	return route{
		Operation: op,
		handle: func(w *responseWriter, r *http.Request, c call) error {
			var input In
			if err := in.read(w, r, c.limit(op), &input); err != nil {
				return err
			}
			if op.Time <= 0 { // it is short, or looks after itself
				return do(w, r, c, &input)
			}
			_, err := whileValid(r.Context(), c, func(ctx context.Context) (noInput, error) {
				r := r.WithContext(ctx) // a copy: what is left of the body stays where it is
				if op.Takes != "" {
					defer allowUpload(ctx, w, op.Time)()
					r.Body = http.MaxBytesReader(w, r.Body, c.limit(op))
					if op.Body == bodyOfArtifact {
						r.Body = newBody(ctx, w, r.Body)
					}
				}
				return noInput{}, do(w, r, c, &input)
			})
			return err
		},
		document: documented[In],
	}
}

// allowUpload gives the sender of a body time, as long as it may send.
func allowUpload(ctx context.Context, w http.ResponseWriter, length time.Duration) (stop func()) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(length)) // only a real connection has one
	ended := context.AfterFunc(ctx, func() { _ = control.SetReadDeadline(time.Now()) })
	return func() {
		ended()
		limitBodyTime(w) // with what nobody will read
	}
}

// pageRoute makes a route of a handler that anybody may call.
func pageRoute(op Operation, do func(a *api, w http.ResponseWriter, r *http.Request) error) route {
	op.Who = hub.Anyone
	return route{
		Operation: op,
		handle:    func(w *responseWriter, r *http.Request, c call) error { return do(c.api, w, r) },
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

// limit is how many bytes a request may have.
func (a *api) limit(op Operation) int64 {
	switch op.Body {
	case 0:
		return defaultBody
	case bodyOfMessage:
		// Text may be written with escapes of six characters, and metadata comes on top of it.
		return max(defaultBody, 8*int64(a.options.Limits.Body))
	case bodyOfArtifact:
		return a.options.Limits.Artifact + 1 // so that the hub says what the limit is
	case bodyOfArrivals:
		// A client sends no more at once, unless a single document, which stands there twice, is larger.
		return arrivalsAtOnce + 16*int64(a.options.Limits.Body)
	default:
		return op.Body
	}
}

// Limits that depend on the hub's.
const (
	bodyOfMessage  = -1
	bodyOfArtifact = -2
	bodyOfArrivals = -3
)

// serve is the way of every request: who is it, may it, and what does it want.
func (a *api) serve(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out := w.(*responseWriter)
		if route.Work == hub.Sending {
			out.pace = sendPace
		}
		if route.Time != 0 {
			limitAnswerTime(out, route.Time)
		}
		ctx, cancel := route.bounded(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
		c, err := a.admit(r, route.Operation)
		if err == nil {
			err = checkContentType(r, route.Operation)
		}
		if err == nil {
			if err = c.begin(ctx, route.Operation); err == nil {
				defer c.underway.end()
			}
		}
		if err == nil {
			err = route.handle(out, r, c)
		}
		if err != nil {
			a.fail(out, r, err)
		}
	}
}

func (o Operation) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	switch o.Time {
	case endless:
		return ctx, func() {}
	case 0:
		return context.WithTimeout(ctx, defaultTime)
	default:
		return context.WithTimeout(ctx, o.Time)
	}
}

// Routes lists every operation.
func Routes() []Operation {
	var list []Operation
	for _, r := range routes() {
		list = append(list, r.Operation)
	}
	return list
}
