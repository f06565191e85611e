package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

func endSession(w http.ResponseWriter, r *http.Request, c *call, _ *noInput) error {
	if err := c.hub.EndSession(r.Context(), c.caller); err != nil {
		return err
	}
	http.SetCookie(w, c.cookie(r, "", time.Unix(1, 0)))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// cookie returns the cookie of a session. No script can read it, and no other site can use it.
func (a *api) cookie(r *http.Request, secret string, until time.Time) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: secret, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}

// signInPage only shows a button, because programs that open links before people do must not use the links up.
func signInPage(a *api, w http.ResponseWriter, r *http.Request) error {
	return a.page(w, http.StatusOK, "sign-in.html", map[string]any{"Code": r.URL.Query().Get("code")})
}

// formBody is the largest size of a form in bytes.
const formBody = 4 << 10

// ownForm reads a form, and refuses a form that a browser could have sent from a page of another site.
func (a *api) ownForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		return nil, foreignPage() // every current browser sends one of these headers
	}
	return parseForm(w, r)
}

// parseForm reads a form without checking its origin.
func parseForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, formBody)
	if err := r.ParseForm(); err != nil {
		return nil, unreadable(err)
	}
	return r.PostForm, nil
}

func signIn(a *api, w http.ResponseWriter, r *http.Request) error {
	form, err := a.ownForm(w, r)
	if err != nil {
		return err
	}
	made, err := a.hub.SignIn(r.Context(), form.Get("code"))
	if err != nil {
		p := problemOf(err)
		return a.page(w, p.Status, "sign-in.html", map[string]any{"Problem": p})
	}
	http.SetCookie(w, a.cookie(r, made.Secret, *made.ExpiresAt))
	// Browsers do not send the part after # to any server, so only the page gets the secret. The page accepts the secret only if
	// the referrer is this hub.
	w.Header().Set("Referrer-Policy", "same-origin")
	http.Redirect(w, r, "/#page="+made.Page, http.StatusSeeOther)
	return nil
}

// signOut ends the session of a page without scripts.
func signOut(a *api, w http.ResponseWriter, r *http.Request) error {
	if _, err := a.ownForm(w, r); err != nil {
		return err
	}
	c, err := a.admit(r, &pageOperation)
	if err != nil {
		return err
	}
	if err := a.hub.EndSession(r.Context(), c.caller); err != nil {
		return err
	}
	http.SetCookie(w, a.cookie(r, "", time.Unix(1, 0)))
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
