package httpapi

import (
	"context"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	sessionCookie = "parley_session"
	pageHeader    = "Parley-Page"
	asHeader      = "Parley-As"
	sourceHeader  = "Parley-Source"
)

// admit finds out who calls, and whether its credential is good for an operation. Nothing that the
// request names has been looked at by then.
func (a *api) admit(r *http.Request, op Operation) (call, error) {
	if op.Who == hub.Anyone {
		return call{api: a}, nil
	}
	c, err := a.identify(r)
	if err != nil {
		return c, err
	}
	c.caller.Local = c.local
	if err := a.options.Known(r.Context(), c.caller.Agent); err != nil {
		return c, err
	}
	if err := a.checkUse(r, op, c); err != nil {
		return c, err
	}
	if as := r.Header[asHeader]; len(as) > 0 {
		if len(as) > 1 || as[0] == "" {
			return c, parley.Errorf(parley.BadInput, "%s does not name one agent", asHeader).Suggest("give it once, or not at all")
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

// checkUse refuses a credential that is not good for an operation.
func (a *api) checkUse(r *http.Request, op Operation, c call) error {
	if c.session != "" {
		if err := a.checkPage(r, op, c.session); err != nil {
			a.hub.Refused(c.caller, op.ID, err)
			return err
		}
	}
	return a.hub.May(c.caller, op.ID)
}

// identify finds out who calls: by a token, by a session, or by the process at the other end of the local
// socket.
func (a *api) identify(r *http.Request) (call, error) {
	c := call{api: a}
	at, err := a.options.Peer(r.Context())
	c.local = at.Socket
	if secret, given, wrong := bearer(r); wrong != nil {
		return c, wrong
	} else if given {
		c.caller, err = a.holder(r, secret, at, "api", parley.TokenPlain, parley.TokenRun, parley.TokenBearer, parley.TokenReply)
		return c, err
	}
	if cookies := r.CookiesNamed(sessionCookie); len(cookies) > 0 && !c.local {
		if len(cookies) > 1 { // a page on another port can add one, but not take one away
			return c, unauthenticated("the request comes with two sessions")
		}
		c.session = cookies[0].Value
		c.caller, err = a.holder(r, c.session, at, "web", parley.TokenSession)
		return c, err
	}
	switch {
	case err != nil:
		return c, err
	case !c.local:
		return c, unauthenticated("the request does not say who calls")
	}
	c.caller, err = a.hub.Local(r.Context(), at)
	c.caller.Source = source(r, "api")
	return c, err
}

// holder is whose secret it is. The secret of a session is good for its cookie alone, where more is asked
// than the secret.
func (a *api) holder(r *http.Request, secret string, at hub.Place, door string, kinds ...parley.TokenKind) (hub.Caller, error) {
	caller, err := a.hub.IdentifyAt(r.Context(), secret, at)
	if err == nil && !slices.Contains(kinds, caller.Kind) {
		return hub.Caller{}, unauthenticated("the secret is of another kind than a " + string(kinds[0]))
	}
	caller.Source = source(r, door)
	return caller, err
}

func unauthenticated(sentence string) *parley.Error {
	return parley.Errorf(parley.NotPermitted, "%s", sentence).Because(parley.Unauthenticated).
		Suggest("send a token: Authorization: Bearer parley_…")
}

// bearer is the token of a request.
func bearer(r *http.Request) (secret string, given bool, err error) {
	headers := r.Header["Authorization"]
	if len(headers) == 0 {
		return "", false, nil
	}
	scheme, secret, found := strings.Cut(headers[0], " ")
	if len(headers) > 1 || !found || !strings.EqualFold(scheme, "Bearer") {
		return "", true, unauthenticated("the Authorization header is not one of a token")
	}
	return secret, true, nil
}

// source is the door a message comes by, as far as a caller may say.
func source(r *http.Request, otherwise string) string {
	if s := r.Header.Get(sourceHeader); s == "cli" || s == "web" {
		return s
	}
	return otherwise
}

// checkPage keeps others from using a session. The browser sends its cookie with what any page asks for, and
// to every port of a machine, whatever listens there. So a call must also carry a secret that the hub's own
// page alone has, and what changes something must come from there.
func (a *api) checkPage(r *http.Request, op Operation, session string) error {
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
			Suggest("send what followed #page= when you signed in as %s, or sign in again", pageHeader)
	}
	return nil
}

// whileValid runs a call that may wait long. It ends when its caller's credential does, or the server stops.
func whileValid[T any](ctx context.Context, c call, do func(context.Context) (T, error)) (out T, err error) {
	ctx, release, err := c.hub.Hold(ctx, c.caller)
	if err != nil {
		return out, err
	}
	defer release()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-c.options.Closing:
			cancel(parley.Errorf(parley.Unavailable, "the hub is stopping").Because(parley.Stopping).
				Suggest("accepted requests go on once the hub is back; check whether this one was accepted before you repeat it"))
		case <-ctx.Done():
		}
	}()
	out, err = do(ctx)
	if cause, ok := context.Cause(ctx).(*parley.Error); ok && err != nil { //nolint:errorlint // it is the cause itself
		err = cause
	}
	return out, err
}
