package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

func endSession(w http.ResponseWriter, r *http.Request, c call, _ *noInput) error {
	if err := c.hub.EndSession(r.Context(), c.caller); err != nil {
		return err
	}
	http.SetCookie(w, c.cookie(r, "", time.Unix(1, 0)))
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// cookie keeps a session where no script can read it and no other site can use it.
func (a *api) cookie(r *http.Request, secret string, until time.Time) *http.Cookie {
	return &http.Cookie{
		Name: sessionCookie, Value: secret, Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
}

// signInPage only shows a button: what looks at links before people do must not use them up.
func signInPage(a *api, w http.ResponseWriter, r *http.Request) error {
	return a.page(w, http.StatusOK, "sign-in.html", map[string]any{"Code": r.URL.Query().Get("code")})
}

// formBody is more than any form here has.
const formBody = 4 << 10

// form reads what a page of this hub has posted.
func (a *api) form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.Header.Get("Sec-Fetch-Site") == "" && r.Header.Get("Origin") == "" {
		return nil, foreignPage() // every browser that is still in use sends one of them
	}
	return formOf(w, r)
}

// formOf reads a form, whoever has posted it.
func formOf(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	r.Body = http.MaxBytesReader(w, r.Body, formBody)
	if err := r.ParseForm(); err != nil {
		return nil, unreadable(err)
	}
	return r.PostForm, nil
}

func signIn(a *api, w http.ResponseWriter, r *http.Request) error {
	form, err := a.form(w, r)
	if err != nil {
		return err
	}
	made, err := a.hub.SignIn(r.Context(), form.Get("code"))
	if err != nil {
		p := problemOf(err)
		return a.page(w, p.Status, "sign-in.html", map[string]any{"Problem": p})
	}
	http.SetCookie(w, a.cookie(r, made.Secret, *made.ExpiresAt))
	// What stands behind # is for the page alone: no browser sends it anywhere. The page believes it only where
	// it comes from here.
	w.Header().Set("Referrer-Policy", "same-origin")
	http.Redirect(w, r, "/#page="+made.Page, http.StatusSeeOther)
	return nil
}

// signOut ends the session of a page without scripts.
func signOut(a *api, w http.ResponseWriter, r *http.Request) error {
	if _, err := a.form(w, r); err != nil {
		return err
	}
	c, err := a.admit(r, signedIn)
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
