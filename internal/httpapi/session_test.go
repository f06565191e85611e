package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
)

// signIn opens a link as a browser does, and returns its cookie.
func (w *servedHub) signIn(t *testing.T, header map[string]string) *http.Cookie {
	t.Helper()
	link := find(t, w.send(request{as: "user", path: "/v1/sign-in-links", body: `{"agent":"rickon"}`}).body, "url")
	path := strings.TrimPrefix(link, w.server.URL)
	for range 2 { // what looks at links before people do must not use them up
		page := w.send(request{path: path})
		if page.status != 200 || !strings.Contains(page.body, `<form method="post" action="/sign-in">`) {
			t.Fatalf("no button: %d %s", page.status, page.body)
		}
	}
	query, err := url.Parse(link)
	w.NoError(err)
	got := w.postForm("/sign-in", query.RawQuery, header)
	_, page, _ := strings.Cut(got.header.Get("Location"), "/#page=")
	if got.status != http.StatusSeeOther || page == "" || got.header.Get("Referrer-Policy") != "same-origin" {
		t.Fatalf("not signed in: %d %s", got.status, got.body)
	}
	again := w.postForm("/sign-in", query.RawQuery, header)
	if again.status != http.StatusUnauthorized || again.header.Get("Set-Cookie") != "" || !strings.Contains(again.body, "is invalid, used or expired") {
		t.Errorf("the link works twice: %d %s", again.status, again.body)
	}
	cookie, err := http.ParseSetCookie(got.header.Get("Set-Cookie"))
	w.NoError(err)
	if parley.SessionSecret(page) != cookie.Value {
		t.Error("the page's secret is not that of its session")
	}
	return cookie
}

func (w *servedHub) postForm(path, form string, header map[string]string) reply {
	all := in("Content-Type", "application/x-www-form-urlencoded", "Origin", w.server.URL, "Sec-Fetch-Site", "same-origin")
	for name, value := range header {
		all[name] = value
	}
	return w.send(request{method: http.MethodPost, path: path, body: form, header: all})
}

func TestSigningInAndOut(t *testing.T) {
	w := newServedHub(t)
	cookie := w.signIn(t, nil)
	if !cookie.HttpOnly || cookie.Secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" || cookie.Expires.IsZero() {
		t.Errorf("the cookie is %+v", cookie)
	}
	headers := in("Cookie", cookie.Name+"="+cookie.Value)
	front := w.send(request{path: "/", header: headers})
	if !strings.Contains(front.body, "<strong>rickon</strong>") || !strings.Contains(front.body, "Open deliveries") {
		t.Errorf("the front page is %s", front.body)
	}
	out := w.postForm("/sign-out", "", headers)
	if out.status != http.StatusSeeOther || !strings.Contains(out.header.Get("Set-Cookie"), "1970") {
		t.Errorf("not signed out: %d %s", out.status, out.body)
	}
	if got := w.send(request{path: "/v1/whoami", header: headers}); got.status != http.StatusUnauthorized {
		t.Errorf("the session is still good: %d", got.status)
	}
	if front := w.send(request{path: "/", header: headers}); !strings.Contains(front.body, "parley sign-in") {
		t.Errorf("the front page is %s", front.body)
	}
}

func TestSigningOutByTheAPI(t *testing.T) {
	w := newServedHub(t)
	headers := w.signInHeaders("rickon")
	got := w.send(request{method: http.MethodDelete, path: "/v1/session", header: headers})
	if got.status != http.StatusNoContent || !strings.Contains(got.header.Get("Set-Cookie"), "1970") {
		t.Errorf("not signed out: %d %s", got.status, got.body)
	}
	if got := w.send(request{path: "/v1/whoami", header: headers}); got.status != http.StatusUnauthorized {
		t.Errorf("the session is still good: %d", got.status)
	}
}

func TestCookiesOverHTTPSAreSecure(t *testing.T) {
	w := newServedHub(t, func(o *httpapi.Options) { o.Hosts, o.Origin = []string{"parley.example.org"}, "" })
	if cookie := w.signIn(t, in("Host", "parley.example.org", "Origin", "https://parley.example.org")); !cookie.Secure {
		t.Error("the cookie is sent over HTTP too")
	}
}

func TestLinksUseTheConfiguredOrigin(t *testing.T) {
	w := newServedHub(t, func(o *httpapi.Options) { o.Origin = "https://parley.example.org" })
	link := find(t, w.send(request{as: "user", path: "/v1/sign-in-links", body: `{}`}).body, "url")
	if !strings.HasPrefix(link, "https://parley.example.org/sign-in?code=parley_") {
		t.Errorf("the link is %s", link)
	}
}

// TestFormsOfOtherPages: a form on another page signs nobody in as somebody else.
func TestFormsOfOtherPages(t *testing.T) {
	w := newServedHub(t)
	for name, header := range map[string]map[string]string{
		"another origin": in("Origin", "https://evil.example.org", "Sec-Fetch-Site", "cross-site"),
		"another port":   in("Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"),
		"no origin":      in("Origin", "null", "Sec-Fetch-Site", "cross-site"),
	} {
		if got := w.postForm("/sign-in", "code=x", header); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	got := w.send(request{method: http.MethodPost, path: "/sign-in", body: "code=x", header: in("Content-Type", "application/x-www-form-urlencoded")})
	if got.status != http.StatusForbidden {
		t.Errorf("from nowhere: %d", got.status)
	}
}

func TestPagesShowNothingForeign(t *testing.T) {
	w := newServedHub(t)
	script, err := os.ReadFile(filepath.Join("pages", "page.js"))
	w.NoError(err)
	sum := sha256.Sum256(script)
	ours := "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
	for _, path := range []string{"/", "/docs", "/sign-in?code=%22%3E%3Cscript%3E"} {
		got := w.send(request{path: path})
		got.body = strings.Replace(got.body, "<script>"+string(script)+"</script>", "", 1)
		for header, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store",
			"Referrer-Policy": "same-origin", "Parley-Version": "0.1.0",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src '" + ours + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		} {
			if value := got.header.Get(header); value != want {
				t.Errorf("%s: %s is %q, want %q", path, header, value, want)
			}
		}
		for _, bad := range []string{"<script", "src=", "@import", "https://"} {
			if strings.Contains(got.body, bad) {
				t.Errorf("%s has %s", path, bad)
			}
		}
	}
}

func TestDocumentationNamesEveryOperation(t *testing.T) {
	w := newServedHub(t)
	page := w.send(request{path: "/docs"}).body
	for _, op := range httpapi.Routes() {
		if !op.Hidden && !strings.Contains(page, `<h3 id="`+op.ID+`">`) {
			t.Errorf("%s is not explained", op.ID)
		}
	}
}
