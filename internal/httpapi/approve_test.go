package httpapi_test

import (
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// postHeldWithLink has arya write to gendry, for which it needs the approval of rickon, and makes his link to it.
func (w *servedHub) postHeldWithLink(words string) (a parley.Approval, path string) {
	w.T.Helper()
	w.AddPermission("arya", "gendry", parley.EffectAllow, func(p *parley.Permission) { p.RequiresApproval = true })
	_, err := w.Post(ctx, hub.Caller{Agent: "arya"}, parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: words}})
	held := w.HeldApproval(err)
	secret, err := w.NewApprovalLink(ctx, held.ID, "rickon")
	w.NoError(err)
	return held, "/approve/" + secret
}

func TestTheLinkOfAnApprovalIsShownAndDecides(t *testing.T) {
	w := newServedHub(t)
	a, path := w.postHeldWithLink("Is it <b>good</b>?")
	for range 2 { // what looks at links before people do must not decide
		page := w.send(request{path: path})
		if page.status != http.StatusOK || !strings.Contains(page.body, html.EscapeString(a.Summary)) || !strings.Contains(page.body, `<form method="post">`) {
			t.Fatalf("the page is %d %s", page.status, page.body)
		}
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		} {
			if got := page.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
	for _, r := range []request{{path: path + "?approve=1"}, {path: path + "?approve=1", method: http.MethodHead}} {
		w.send(r)
	}
	if now := w.ApprovalByID(a.ID); now.State != parley.ApprovalPending {
		t.Fatalf("looking has decided: %s", now.State)
	}
	decided := w.postForm(path, "approve=1&note=fine+by+me", nil)
	now := w.ApprovalByID(a.ID)
	if decided.status != http.StatusOK || !strings.Contains(decided.body, "by rickon") || strings.Contains(decided.body, "<form") {
		t.Errorf("it says %d %s", decided.status, decided.body)
	}
	if now.DecidedBy != "rickon" || now.Note != "fine by me" || now.State != parley.ApprovalExecuted {
		t.Errorf("it is %+v", now)
	}
	again := w.postForm(path, "approve=0", nil)
	if again.status != http.StatusConflict || !strings.Contains(again.body, "was approved by rickon") || w.ApprovalByID(a.ID).State != parley.ApprovalExecuted {
		t.Errorf("the second time: %d %s", again.status, again.body)
	}
	if page := w.send(request{path: path}); page.status != http.StatusOK || !strings.Contains(page.body, "<strong>executed</strong> by rickon") {
		t.Errorf("afterwards: %d %s", page.status, page.body)
	}
}

// TestAButtonOfANotificationDecides: an app that shows notifications is no browser, and says nothing of where it is.
func TestAButtonOfANotificationDecides(t *testing.T) {
	w := newServedHub(t)
	a, path := w.postHeldWithLink("hello")
	got := w.send(request{method: http.MethodPost, path: path, body: "approve=0", header: in("Content-Type", "application/x-www-form-urlencoded")})
	if now := w.ApprovalByID(a.ID); got.status != http.StatusOK || now.State != parley.ApprovalDenied || now.DecidedBy != "rickon" {
		t.Errorf("%d %s: %+v", got.status, got.body, now)
	}
}

func TestTheLinkOfAnApprovalRefusesInvalidDecisions(t *testing.T) {
	w := newServedHub(t)
	a, path := w.postHeldWithLink("hello")
	other, _ := w.postHeldWithLink("something else")
	for name, c := range map[string]struct {
		path, form string
		header     map[string]string
		status     int
	}{
		"another page's form":  {path, "approve=1", in("Origin", "https://evil.example.org", "Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"no answer":            {path, "", nil, http.StatusBadRequest},
		"another answer":       {path, "approve=yes", nil, http.StatusBadRequest},
		"an answer of the URL": {path + "?approve=1", "", nil, http.StatusBadRequest},
		"a long form":          {path, "approve=1&note=" + strings.Repeat("x", 8<<10), nil, http.StatusRequestEntityTooLarge},
		"a wrong secret":       {"/approve/" + parley.NewSecret(), "approve=1", nil, http.StatusUnauthorized},
		"no secret":            {"/approve/" + other.ID, "approve=1", nil, http.StatusUnauthorized},
		"a token":              {"/approve/" + w.tokens["rickon"], "approve=1", nil, http.StatusUnauthorized},
	} {
		if got := w.postForm(c.path, c.form, c.header); got.status != c.status {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for _, one := range []parley.Approval{a, other} {
		if now := w.ApprovalByID(one.ID); now.State != parley.ApprovalPending {
			t.Errorf("%s is %s", one.Summary, now.State)
		}
	}
	page := w.send(request{path: "/approve/" + parley.NewSecret()})
	if page.status != http.StatusUnauthorized || !strings.Contains(page.body, "is not valid") || strings.Contains(page.body, "<form") {
		t.Errorf("a link that is none: %d %s", page.status, page.body)
	}
	secret := strings.TrimPrefix(path, "/approve/")
	if got := w.send(request{path: "/v1/whoami", header: in("Authorization", "Bearer "+secret)}); got.status != http.StatusUnauthorized {
		t.Errorf("the link is a token: %d", got.status)
	}
	if strings.Contains(w.logged.String(), secret) {
		t.Error("the secret is in the log")
	}
}

// TestScriptsInAnApproval: what agents write stays text.
func TestScriptsInAnApproval(t *testing.T) {
	w := newServedHub(t)
	for _, hostile := range []string{
		`<script>alert(1)</script>`, `</pre><form action="//evil.example"><button>Approve`, `"><img src=x onerror=alert(1)>`,
		`{{.ID}}`, `<a href="javascript:alert(1)">`, `</style><style>*{display:none}`,
	} {
		_, path := w.postHeldWithLink(hostile)
		page := w.send(request{path: path}).body
		for _, tag := range []string{"<script", "<img", "<a ", "</style><style", "evil.example\"><button"} {
			if strings.Contains(page, tag) {
				t.Errorf("%q became %s", hostile, page)
			}
		}
		if strings.Count(page, "<form") != 1 {
			t.Errorf("%q made a form", hostile)
		}
	}
}

// TestHiddenTextInAnApproval: what nobody sees, and what turns a line around, is shown as what it is.
func TestHiddenTextInAnApproval(t *testing.T) {
	w := newServedHub(t)
	_, path := w.postHeldWithLink("pay \u202e001\u202c \u200bnow")
	page := w.send(request{path: path}).body
	if strings.ContainsAny(page, "\u202e\u202c\u200b") {
		t.Errorf("the page hides something: %q", page)
	}
	if strings.Count(page, `\u202e001`) != 2 { // in the request, and in the call itself
		t.Errorf("the page does not show it: %s", page)
	}
}
