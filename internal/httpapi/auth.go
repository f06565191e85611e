package httpapi

import (
	"context"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	sessionCookie = "parley_session"
	pageHeader    = "Parley-Page"
	asHeader      = "Parley-As"
	clientHeader  = "Parley-Client"
	sourceHeader  = "Parley-Source"
)

// admit identifies the caller and checks that its credential permits an operation. It does not read the request's input.
func (a *api) admit(r *http.Request, op *Operation) (*call, error) {
	if op.Who == hub.Anyone {
		return &call{api: a}, nil
	}
	c, err := a.identify(r)
	if err != nil {
		return c, err
	}
	c.caller.Local = c.local
	if err := a.options.OnIdentified(r.Context(), c.caller.Agent); err != nil {
		return c, err
	}
	a.connectClient(r, c)
	if err := a.checkUse(r, op, c); err != nil {
		return c, err
	}
	if as := r.Header[asHeader]; len(as) > 0 {
		if len(as) > 1 || as[0] == "" {
			return c, parley.Errorf(parley.BadInput, "%s must name one agent", asHeader).Suggest("give it once, or not at all")
		}
		enter := a.hub.ActAs
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			enter = a.hub.ReadAs
		}
		c.caller, err = enter(r.Context(), c.caller, as[0], op.ID)
	}
	c.caller.Trace = traceOf(r)
	return c, err
}

// connectClient notes that a part of an agent's client makes a request over the local socket: "parley mcp" or a hook. The request must
// have the token of the agent. It can only take rights away, from its own process and from the client of this process.
func (a *api) connectClient(r *http.Request, c *call) {
	if c.local && r.Header.Get(clientHeader) != "" && len(r.Header[asHeader]) == 0 && c.caller.Kind == parley.TokenPlain && c.caller.Token != "" {
		a.options.Connect(r.Context(), c.caller)
	}
}

// checkUse returns E001 if the caller's credential does not permit an operation.
func (a *api) checkUse(r *http.Request, op *Operation, c *call) error {
	if c.session != "" {
		if err := a.checkPage(r, op, c.session); err != nil {
			a.hub.Refused(c.caller, op.ID, err)
			return err
		}
	}
	return a.hub.May(c.caller, op.ID)
}

// identify returns the caller of a request: the holder of its token or session, or the owner of the process at the other end of
// the local socket.
func (a *api) identify(r *http.Request) (*call, error) {
	c := &call{api: a}
	at, err := a.options.Peer(r.Context())
	c.local, c.client = at.Socket, at.Client
	if secret, given, wrong := bearer(r); wrong != nil {
		return c, wrong
	} else if given {
		c.caller, err = a.identifySecret(r, secret, at, "api", parley.TokenPlain, parley.TokenRun, parley.TokenBearer, parley.TokenReply)
		return c, err
	}
	if cookies := r.CookiesNamed(sessionCookie); len(cookies) > 0 && !c.local {
		if len(cookies) > 1 { // a page on another port can add a cookie, but cannot remove ours
			return c, unauthenticated("the request has two session cookies")
		}
		c.session = cookies[0].Value
		c.caller, err = a.identifySecret(r, c.session, at, "web", parley.TokenSession)
		return c, err
	}
	switch {
	case err != nil:
		return c, err
	case !c.local:
		return c, unauthenticated("the request has no credential")
	}
	c.caller, err = a.hub.Local(r.Context(), at)
	c.caller.Source = source(r, "api")
	return c, err
}

// identifySecret returns the holder of a secret. It refuses a token of another kind than the given ones: the secret of a session
// works only as a cookie, because checkPage then makes further checks.
func (a *api) identifySecret(r *http.Request, secret string, at hub.Connection, fallback string, kinds ...parley.TokenKind) (hub.Caller, error) {
	caller, err := a.hub.IdentifyAt(r.Context(), secret, at)
	if err == nil && !slices.Contains(kinds, caller.Kind) {
		return hub.Caller{}, unauthenticated("the secret is not a " + string(kinds[0]))
	}
	caller.Source = source(r, fallback)
	return caller, err
}

func unauthenticated(sentence string) *parley.Error {
	return parley.Errorf(parley.NotPermitted, "%s", sentence).Because(parley.Unauthenticated).
		Suggest("send a token: Authorization: Bearer parley_…")
}

// bearer returns the token of a request.
func bearer(r *http.Request) (secret string, given bool, err error) {
	headers := r.Header["Authorization"]
	if len(headers) == 0 {
		return "", false, nil
	}
	scheme, secret, found := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !found || !strings.EqualFold(scheme, "Bearer") {
		return "", true, unauthenticated("the Authorization header has no Bearer token")
	}
	return secret, true, nil
}

// source returns the source of the messages of a request: cli, web or mcp if the caller says so, and otherwise fallback.
func source(r *http.Request, fallback string) string {
	if s := r.Header.Get(sourceHeader); s == "cli" || s == "web" || s == "mcp" {
		return s
	}
	return fallback
}

// checkPage keeps other pages from using a session. The browser sends the session's cookie with the requests of every page, and
// to every port of the machine. So a call also needs a secret that only the hub's own page has, and a call that changes data
// must come from the hub's origin.
func (a *api) checkPage(r *http.Request, op *Operation, session string) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		return foreignPage()
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads && !slices.Contains(a.origins(r), r.Header.Get("Origin")) {
		return foreignPage()
	}
	if op.Hidden {
		return nil
	}
	if given := parley.SessionSecret(r.Header.Get(pageHeader)); subtle.ConstantTimeCompare([]byte(given), []byte(session)) == 0 {
		return parley.Errorf(parley.NotPermitted, "the request lacks the secret of the page").
			Suggest("send the secret that followed #page= at sign-in as the header %s, or sign in again", pageHeader)
	}
	return nil
}

// whileValid runs a call that can take long. The call ends when the caller's credential becomes invalid, or the server stops.
func whileValid[T any](ctx context.Context, c *call, do func(context.Context) (T, error)) (out T, err error) {
	ctx, release, err := c.watch(ctx)
	if err != nil {
		return out, err
	}
	defer release()
	out, err = do(ctx)
	if cause, ok := context.Cause(ctx).(*parley.Error); ok && err != nil { //nolint:errorlint // the cause is not wrapped
		err = cause
	}
	return out, err
}

// watch returns a context that ends when the caller's credential becomes invalid, or the server stops.
func (c *call) watch(ctx context.Context) (_ context.Context, release func(), err error) {
	ctx, unwatch, err := c.hub.WatchCredential(ctx, c.caller)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	open := context.AfterFunc(c.options.Closing, func() {
		cancel(parley.Errorf(parley.Unavailable, "the hub is stopping").Because(parley.Stopping).
			Suggest("accepted requests go on once the hub is back; check whether this one was accepted before you repeat it"))
	})
	return ctx, func() {
		open()
		cancel(nil)
		unwatch()
	}, nil
}

// watchAfter is how long a call lasts until its credential is watched.
const watchAfter = time.Second

// whileValidIfLong is whileValid for a call that seldom takes long. To watch a credential costs more than most calls, so it begins when the
// call has lasted for a while. It then also finds what happened before.
func whileValidIfLong[T any](ctx context.Context, c *call, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-c.options.Closing.Done():
		case <-time.After(watchAfter):
		}
		_, err := whileValid(ctx, c, func(ctx context.Context) (noInput, error) {
			<-ctx.Done()
			return noInput{}, ctx.Err()
		})
		cancel(err)
	}()
	return do(ctx)
}
