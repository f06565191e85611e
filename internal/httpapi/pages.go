package httpapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

//go:embed pages
var pageFiles embed.FS

//go:embed pages/page.js
var pageScript string

// templates returns the templates of the pages. It parses them when the first page is requested.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"bytes":  sizeInWords,
		"script": func() template.JS { return template.JS(pageScript) }, //nolint:gosec // the script is the hub's own
		"since":  func(t time.Time) string { return time.Since(t).Round(time.Second).String() },
	}).ParseFS(pageFiles, "pages/*.html", "pages/*.css"))
})

func sizeInWords(n int64) string {
	for _, unit := range []string{"bytes", "KiB", "MiB", "GiB"} {
		if n < 10<<10 {
			return strconv.FormatInt(n, 10) + " " + unit
		}
		n >>= 10
	}
	return strconv.FormatInt(n, 10) + " TiB"
}

// pagePolicy returns the content security policy of a page. The page can use its own styles, run the hub's one script, and send
// forms to the hub.
var pagePolicy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
})

// page answers with a page, which no cache may keep.
func (a *api) page(w http.ResponseWriter, status int, name string, data any) error {
	return a.pageWithPolicy(pagePolicy(), w, status, name, data)
}

func (a *api) pageWithPolicy(policy string, w http.ResponseWriter, status int, name string, data any) error {
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	// With no-referrer, browsers would send forms without their origin.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
	h["Cache-Control"] = noStoreHeader
	w.WriteHeader(status)
	_, err := w.Write(b.Bytes())
	return err
}

// frontData is the content of the front page.
type frontData struct {
	Version string
	Me      *parley.Agent
	Status  parley.HubStatus
}

// pageOperation is the operation of a page that needs a session. It is hidden, so it needs no page secret: the browser itself
// requests the page and does not have the secret.
var pageOperation = Operation{ID: "page", Hidden: true}

// frontPage shows the front page. A person who has signed in also sees the status of the hub.
func frontPage(a *api, w http.ResponseWriter, r *http.Request) error {
	show := frontData{Version: parley.Version}
	c, err := a.identify(r)
	if err == nil && c.session != "" && a.checkUse(r, &pageOperation, c) == nil {
		me, err := a.hub.Agent(r.Context(), c.caller, c.caller.Agent)
		if err != nil {
			return err
		}
		if show.Status, err = a.hub.Status(r.Context(), c.caller); err != nil {
			return err
		}
		show.Me = &me
	}
	return a.page(w, http.StatusOK, "front.html", show)
}

func docsPage(a *api, w http.ResponseWriter, _ *http.Request) error {
	return a.page(w, http.StatusOK, "docs.html", a.doc().readable)
}

func serveOpenAPI(a *api, w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(a.doc().json)
	return err
}

func healthz(_ *api, w http.ResponseWriter, _ *http.Request) error { return writeText(w, "ok\n") }

func readyz(a *api, w http.ResponseWriter, r *http.Request) error {
	for _, reason := range a.hub.Readiness(r.Context()) {
		reason = hub.InPublic(reason)
		return parley.Errorf(parley.Unavailable, "the hub cannot store anything at present: %s", reason.Message).Suggest("%s", reason.Suggestion)
	}
	return writeText(w, "ok\n")
}

func writeText(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header()["Cache-Control"] = noStoreHeader
	_, err := w.Write([]byte(text))
	return err
}
