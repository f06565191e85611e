package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// assertRefused sends a request that must fail, and says why it does.
func (w *servedHub) assertRefused(t *testing.T, name string, r request, status int, code parley.Code) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Helper()
		got := w.send(r)
		if got.status != status || got.header.Get("Content-Type") != "application/problem+json" || find(t, got.body, "code") != string(code) {
			t.Errorf("%d %s %s, want %d %s", got.status, got.header.Get("Content-Type"), got.body, status, code)
		}
		if got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("another origin may read the answer")
		}
	})
}

const aMessage = `{"conversation":"square","content":{"text":"hello"}}`

// TestForgedSender: who sends is known from the credential, whatever a body or a header says.
func TestForgedSender(t *testing.T) {
	w := newServedHub(t)
	w.assertRefused(t, "in the body", request{as: "arya", path: "/v1/messages", body: `{"from":"gendry",` + aMessage[1:]}, 403, parley.NotPermitted)
	w.assertRefused(t, "in a contact", request{as: "arya", path: "/v1/contact", body: `{"from":"gendry",` + aNotice[1:]}, 403, parley.NotPermitted)
	w.assertRefused(t, "in a contact, of nobody", request{as: "arya", path: "/v1/contact", body: `{"from":"nobody",` + aNotice[1:]}, 403, parley.NotPermitted)
	w.assertRefused(t, "in a task", request{as: "arya", path: "/v1/tasks", body: `{"from":"gendry","text":"do it"}`}, 403, parley.NotPermitted)
	w.assertRefused(t, "acting as another agent", request{as: "arya", path: "/v1/messages", body: aMessage, header: in("Parley-As", "gendry")}, 403, parley.NotPermitted)
	w.assertRefused(t, "a person acting as its report", request{as: "rickon", path: "/v1/messages", body: aMessage, header: in("Parley-As", "arya")}, 403, parley.NotPermitted)
	w.assertRefused(t, "an owner acting as the hub", request{as: "user", path: "/v1/messages", body: aMessage, header: in("Parley-As", "parley")}, 403, parley.NotPermitted)
	got := w.send(request{as: "arya", path: "/v1/messages", body: aMessage, header: in("Parley-Source", "run")})
	if source := find(t, got.body, "message.source"); source != "api" {
		t.Errorf("the source is %q, as the caller said", source)
	}
}

// TestOpenLocalhost: from the machine itself, TCP needs a credential too, for everything but a few pages.
func TestOpenLocalhost(t *testing.T) {
	w := newServedHub(t)
	open := map[string]bool{"/healthz": true, "/readyz": true, "/": true, "/docs": true, "/openapi.json": true, "/sign-in": true}
	paths := []string{"/v1", "/v1/nothing", "/nothing", "/v1/agents/arya/nothing"}
	for _, op := range httpapi.Routes() {
		paths = append(paths, strings.NewReplacer("{", "", "}", "").Replace(op.Path))
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path == "/approve/secret" }) // that is the credential
	for _, path := range paths {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} {
			got := w.send(request{method: method, path: path})
			if allowed := open[path] && method == "GET"; got.status == 401 == allowed && got.status != 403 {
				t.Errorf("%s %s: status %d", method, path, got.status)
			}
			if got.status == 401 && !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%s %s: 401 does not say what is needed", method, path)
			}
		}
	}
	for name, value := range map[string]string{
		"another scheme": "Basic dXNlcjp4", "no secret": "Bearer", "an unknown one": "Bearer " + parley.NewSecret(), "nonsense": "Bearer ' OR 1=1",
	} {
		w.assertRefused(t, name, request{path: "/v1/agents", header: in("Authorization", value)}, 401, parley.NotPermitted)
	}
}

// TestScopeEscalation: nobody makes a token that may do more than its own.
func TestScopeEscalation(t *testing.T) {
	w := newServedHub(t)
	w.tokens["some"] = w.MakeToken("user", parley.ScopeAdmin, parley.ScopeRead).Secret
	w.assertRefused(t, "more scopes", request{as: "some", path: "/v1/tokens", body: `{"agent":"user","scopes":["read","send"]}`}, 403, parley.NotPermitted)
	w.assertRefused(t, "that ends at once", request{as: "user", path: "/v1/tokens", body: `{"agent":"arya","expires_in":0}`}, 400, parley.BadInput)
	w.assertRefused(t, "for an agent, by itself", request{as: "arya", path: "/v1/tokens", body: `{"agent":"arya"}`}, 403, parley.NotPermitted)
	others, err := w.NewToken(ctx, user, parley.NewToken{Agent: "arya"})
	w.NoError(err)
	w.tokens["writer"] = w.MakeToken("user", parley.ScopeSend).Secret
	w.assertRefused(t, "revoking another's", request{as: "writer", method: "DELETE", path: "/v1/tokens/" + others.ID}, 403, parley.NotPermitted)
	w.assertRefused(t, "for an owner, by a member", request{as: "rickon", path: "/v1/tokens", body: `{"agent":"user"}`}, 403, parley.NotPermitted)
}

// TestStaleTokens: a token is not good any more from the next call on.
func TestStaleTokens(t *testing.T) {
	w := newServedHub(t)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "arya"})
	w.NoError(err)
	w.tokens["stale"] = made.Secret
	if got := w.send(request{as: "stale", path: "/v1/whoami"}); got.status != 200 {
		t.Fatalf("status %d", got.status)
	}
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	w.assertRefused(t, "revoked", request{as: "stale", path: "/v1/whoami"}, 401, parley.NotPermitted)
	w.NoError(w.RemoveAgent(ctx, user, "hound"))
	w.assertRefused(t, "holder removed", request{as: "hound", path: "/v1/whoami"}, 401, parley.NotPermitted)
}

// TestStaleTokensEndLongCalls: what waits with a token that is revoked ends.
func TestStaleTokensEndLongCalls(t *testing.T) {
	w := newServedHub(t)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "hound"})
	w.NoError(err)
	w.tokens["stale"] = made.Secret
	waiting := make(chan reply)
	go func() { waiting <- w.send(request{as: "stale", path: "/v1/inbox/take", body: `{"wait":50}`}) }()
	w.waitForCall("hound")
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	if got := <-waiting; got.status != 401 {
		t.Errorf("status %d: %s", got.status, got.body)
	}
}

// TestRebinding: a name that somebody else has made to lead here is none of ours, and neither is 0.0.0.0.
func TestRebinding(t *testing.T) {
	w := newServedHub(t, func(o *httpapi.Options) { o.Hosts = []string{"parley.example.org", "https://safe.example.org"} })
	for _, host := range []string{
		"evil.example.org", "evil.example.org:" + w.port(), "127.0.0.1", "localhost:1", "0.0.0.0:" + w.port(), "localhost.evil.org:" + w.port(),
		"127.0.0.1:" + w.port() + ".evil.org", "192.0.2.1:" + w.port(),
	} {
		w.assertRefused(t, "Host "+host, request{as: "user", path: "/v1/agents", header: in("Host", host)}, 421, parley.NotPermitted)
	}
	for _, host := range []string{
		"localhost:" + w.port(), "LOCALHOST:" + w.port(), "127.0.0.1:" + w.port(), "127.8.8.8:" + w.port(), "[::1]:" + w.port(),
		"parley.example.org", "Safe.Example.org",
	} {
		if got := w.send(request{as: "user", path: "/v1/agents", header: in("Host", host)}); got.status != 200 {
			t.Errorf("Host %s: %d %s", host, got.status, got.body)
		}
	}
}

// TestForeignPages: no page of another origin gets anything, even with a credential that is good.
func TestForeignPages(t *testing.T) {
	w := newServedHub(t, func(o *httpapi.Options) { o.Hosts = []string{"https://safe.example.org"} })
	for _, origin := range []string{
		"https://evil.example.org", "null", "http://localhost:1", "https://127.0.0.1:" + w.port(), "http://127.0.0.1", "http://localhost:" + w.port(),
		w.server.URL + "/", w.server.URL + ".evil.org", "file://",
	} {
		w.assertRefused(t, "Origin "+origin, request{as: "user", path: "/v1/agents", header: in("Origin", origin)}, 403, parley.NotPermitted)
		w.assertRefused(t, "Origin "+origin+" posting", request{as: "user", path: "/v1/messages", body: aMessage, header: in("Origin", origin)}, 403, parley.NotPermitted)
	}
	w.assertRefused(t, "another scheme than configured", request{as: "user", path: "/v1/agents", header: in("Host", "safe.example.org", "Origin", "http://safe.example.org")}, 403, parley.NotPermitted)
	w.assertRefused(t, "a cross-site post without Origin", request{as: "user", path: "/v1/messages", body: aMessage, header: in("Sec-Fetch-Site", "cross-site")}, 403, parley.NotPermitted)
	for name, header := range map[string]map[string]string{
		"its own origin": in("Origin", w.server.URL), "configured": in("Host", "safe.example.org", "Origin", "https://safe.example.org"),
	} {
		if got := w.send(request{as: "user", path: "/v1/messages", body: aMessage, header: header}); got.status != 201 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// TestOtherContentTypes: a form or plain text, which any page may send, is not read.
func TestOtherContentTypes(t *testing.T) {
	w := newServedHub(t)
	for _, kind := range []string{
		"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "application/json; charset=utf-16",
		"application/jsonp", "application/json, text/plain", "application/json; x=y",
	} {
		w.assertRefused(t, kind, request{as: "user", path: "/v1/messages", body: aMessage, header: in("Content-Type", kind)}, 415, parley.BadInput)
	}
	got := w.send(request{as: "user", path: "/v1/messages", body: aMessage, header: in("Content-Type", "Application/JSON; charset=UTF-8")})
	if got.status != 201 {
		t.Errorf("JSON as others write it: %d %s", got.status, got.body)
	}
}

// TestWebSockets: no request becomes anything else.
func TestWebSockets(t *testing.T) {
	w := newServedHub(t)
	header := in("Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version", "13")
	w.assertRefused(t, "events", request{as: "user", path: "/v1/events", header: header}, 403, parley.NotPermitted)
	w.assertRefused(t, "the front page", request{path: "/", header: header}, 403, parley.NotPermitted)
}

// TestCookiesOfOtherPorts: a page on another port of this machine has the cookie sent, and the server there
// gets it. Neither can do anything.
func TestCookiesOfOtherPorts(t *testing.T) {
	w := newServedHub(t)
	own := w.signInHeaders("user")
	with := func(change ...string) map[string]string {
		header := in()
		for name, value := range own {
			header[name] = value
		}
		for i := 0; i < len(change); i += 2 {
			if header[change[i]] = change[i+1]; change[i+1] == "" {
				delete(header, change[i])
			}
		}
		return header
	}
	post := func(header map[string]string) request {
		return request{path: "/v1/messages", body: aMessage, header: header}
	}
	w.assertRefused(t, "a page on another port", post(with("Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site")), 403, parley.NotPermitted)
	w.assertRefused(t, "without the page's secret", post(with("Parley-Page", "")), 403, parley.NotPermitted)
	w.assertRefused(t, "with another secret", post(with("Parley-Page", w.signInHeaders("user")["Parley-Page"])), 403, parley.NotPermitted)
	w.assertRefused(t, "without an origin", post(with("Origin", "")), 403, parley.NotPermitted)
	w.assertRefused(t, "reading from another port", request{path: "/v1/agents", header: with("Origin", "", "Sec-Fetch-Site", "same-site")}, 403, parley.NotPermitted)
	w.assertRefused(t, "reading without the page's secret", request{path: "/v1/agents", header: with("Parley-Page", "")}, 403, parley.NotPermitted)
	if front := w.send(request{path: "/", header: with("Parley-Page", "")}); strings.Contains(front.body, own["Parley-Page"]) {
		t.Error("whoever has the cookie is given the secret of the page")
	}
	w.assertRefused(t, "the cookie's secret as a token", request{path: "/v1/agents", header: in("Authorization", "Bearer "+strings.TrimPrefix(own["Cookie"], "parley_session="))}, 401, parley.NotPermitted)
	w.assertRefused(t, "a token as a cookie", request{path: "/v1/agents", header: in("Cookie", "parley_session="+w.tokens["user"])}, 401, parley.NotPermitted)
	if got := w.send(post(own)); got.status != 201 || find(t, got.body, "message.source") != "web" {
		t.Errorf("its own page: %d %s", got.status, got.body)
	}
}

// TestAmbiguousJSON: what two readers may take for different things is refused, with its place.
func TestAmbiguousJSON(t *testing.T) {
	w := newServedHub(t)
	for body, detail := range map[string]string{
		`{"From":"gendry",` + aMessage[1:]:                                         "/From is unknown",
		`{"CONVERSATION":"forge",` + aMessage[1:]:                                  "/CONVERSATION is unknown",
		`{"conversation":"forge",` + aMessage[1:]:                                  "/conversation appears twice in one object",
		`{"conversation":"square","content":{"text":"a","text":"b"}}`:              "/content/text appears twice in one object",
		`{"conversation":"square","content":{"text":"a"},"payload":{"a":1,"a":2}}`: "/payload/a appears twice in one object",
		aMessage + `{}`: "the body is not valid JSON",
		aMessage + ` x`: "the body is not valid JSON",
		"{\"conversation\":\"square\",\"content\":{\"text\":\"\xff\"}}": "/content/text is not valid JSON",
		`{"conversation":"square","content":null}`:                      "/content is null",
		`{"conversation":null,"content":{"text":"a"}}`:                  "/conversation is null",
		`{"conversation":"square","content":{"text":7}}`:                "/content/text is not a string",
		`{"conversation":"square","content":[]}`:                        "/content is not an object",
		`{"conversation":"square","content":{"text":"a"},"ttl":1.5}`:    "/ttl is not a whole number",
		`[]`:                       "the body is not an object",
		`null`:                     "the body is null",
		`{"conversation":"square"`: "the body ends too soon",
		`{"conversation":"square","content":{"text":"a"},"deadline":"soon"}`: "/deadline is not a time such as 2026-01-02T15:04:05Z",
	} {
		got := w.send(request{as: "arya", path: "/v1/messages", body: body})
		if got.status != 400 || find(t, got.body, "detail") != detail {
			t.Errorf("%s: %d %s, want %s", body, got.status, got.body, detail)
		}
	}
	history, err := w.History(ctx, user, "square", parley.Page{})
	w.NoError(err)
	if len(history) > 0 {
		t.Errorf("%d messages were stored", len(history))
	}
}

// TestIDsAsPaths: an id is a name to look up, whatever it looks like.
func TestIDsAsPaths(t *testing.T) {
	w := newServedHub(t)
	for _, id := range []string{
		"..%2f..%2fetc%2fpasswd", "%2e%2e", "%00", "a%2fb", "%c0%ae", strings.Repeat("a", 5000), "~", "%25", "-", "con", "*", "%23", "%F0%9F%A6%8A",
	} {
		for _, op := range httpapi.Routes() {
			before, rest, named := strings.Cut(op.Path, "{")
			if op.Scope != parley.ScopeRead || !named {
				continue
			}
			_, after, _ := strings.Cut(rest, "}")
			path := before + id + after
			if got := w.send(request{as: "user", path: path}); got.status != 404 && got.status != 400 && got.status != 413 {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
	}
	for _, path := range []string{"/v1//agents", "/v1/../v1/agents", "/v1/./agents", "/v1/agents/"} {
		conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
		w.NoError(err)
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, w.port(), w.tokens["user"])
		w.NoError(err)
		raw, err := io.ReadAll(conn)
		w.NoError(err)
		if !strings.HasPrefix(string(raw), "HTTP/1.1 404") {
			t.Errorf("%s: %s", path, raw)
		}
		_ = conn.Close()
	}
}

// TestBombs: what is too large or too deep is refused before it is read, and nothing is unpacked.
func TestBombs(t *testing.T) {
	w := newServedHub(t, func(o *httpapi.Options) { o.Limits.Artifact = 1 << 10 })
	long := strings.Repeat("a", 3<<20)
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	w.assertRefused(t, "a long body", request{as: "arya", path: "/v1/messages", body: `{"conversation":"square","content":{"text":"` + long + `"}}`}, 413, parley.BadInput)
	w.assertRefused(t, "a long text", request{as: "arya", path: "/v1/messages", body: `{"conversation":"square","content":{"text":"` + long[:300<<10] + `"}}`}, 413, parley.BadInput)
	w.assertRefused(t, "a deep payload", request{as: "arya", path: "/v1/messages", body: `{"conversation":"square","content":{"text":"a"},"payload":` + deep + `}`}, 413, parley.BadInput)
	w.assertRefused(t, "a very deep body", request{as: "arya", path: "/v1/messages", body: strings.Repeat("[", 20_000)}, 400, parley.BadInput)
	w.assertRefused(t, "a long body elsewhere", request{as: "user", path: "/v1/agents", body: `{"id":"` + long + `"}`}, 413, parley.BadInput)
	w.assertRefused(t, "a large artifact", request{as: "arya", path: "/v1/artifacts", body: long[:2<<10]}, 413, parley.BadInput)
	w.assertRefused(t, "packed", request{as: "arya", path: "/v1/messages", body: "\x1f\x8b\x08", header: in("Content-Encoding", "gzip")}, 400, parley.BadInput)
	got := w.send(request{as: "arya", path: "/v1/agents", header: in("Accept-Encoding", "gzip")})
	if got.header.Get("Content-Encoding") != "" {
		t.Error("an answer is packed")
	}
}

// TestBombsWithoutLength: a body that does not say how long it is ends at the limit all the same.
func TestBombsWithoutLength(t *testing.T) {
	w := newServedHub(t)
	req, err := http.NewRequest(http.MethodPost, w.server.URL+"/v1/messages", io.MultiReader(strings.NewReader(`{"a":"`), strings.NewReader(strings.Repeat("a", 3<<20))))
	w.NoError(err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+w.tokens["arya"])
	if got := w.do(req); got.status != 413 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestSecretsInLogs: no secret is in what the hub writes down, nor in an answer but the one that gives it.
func TestSecretsInLogs(t *testing.T) {
	w := newServedHub(t)
	canary := w.MakeToken("hound", parley.ScopeRead).Secret
	unknown := parley.NewSecret()
	w.tokens["hound"], w.tokens["unknown"] = canary, unknown
	var said strings.Builder
	for _, r := range []request{
		{as: "hound", path: "/v1/whoami"},
		{as: "hound", path: "/v1/agents", body: "{"},
		{as: "unknown", path: "/v1/whoami"},
		{as: "hound", path: "/v1/nothing"},
		{as: "hound", path: "/v1/agents/" + canary},
		{path: "/sign-in", body: "code=" + unknown, method: "POST", header: in("Content-Type", "application/x-www-form-urlencoded", "Origin", w.server.URL)},
		{as: "user", path: "/v1/audit?limit=1000"},
	} {
		got := w.send(r)
		if !strings.Contains(r.path, canary) {
			said.WriteString(got.body)
		}
	}
	w.server.Close()
	w.Stop() // everything is written
	for name, text := range map[string]string{"logs": w.logged.String(), "answers": said.String()} {
		if strings.Contains(text, canary) || strings.Contains(text, unknown) {
			t.Errorf("a secret is in the %s", name)
		}
	}
}

// TestExistenceLeaks: what is somebody else's and what is not there are answered alike.
func TestExistenceLeaks(t *testing.T) {
	s := newStory(t)
	forge, err := s.Conversation(ctx, user, "forge")
	s.NoError(err)
	sent, err := s.Post(ctx, hub.Caller{Agent: "arya"}, parley.Draft{Conversation: "forge", Content: parley.Content{Text: "@gendry a secret"}})
	s.NoError(err)
	stored, err := s.PutArtifact(ctx, hub.Caller{Agent: "arya"}, strings.NewReader("a secret"))
	s.NoError(err)
	made, err := s.NewToken(ctx, user, parley.NewToken{Agent: "arya"})
	s.NoError(err)
	foreign := map[string]string{"conversation": forge.ID, "message": sent.Message.ID, "trace": sent.Message.TraceID, "sha256": stored.SHA256, "token": made.ID}
	for _, op := range httpapi.Routes() {
		for name, id := range foreign {
			if !strings.Contains(op.Path, "{"+name+"}") {
				continue
			}
			absent := uuid.NewString()
			if name == "sha256" {
				absent = strings.Repeat("ab", 32)
			}
			ask := func(id string) string {
				vars := in(name, id, "agent", "gendry", "recipient", "gendry")
				got := s.send(s.request(step{op: op.ID, as: "hound", vars: vars, body: bodies[op.ID]}))
				return fmt.Sprint(got.status, got.header.Get("Content-Type"), strings.ReplaceAll(got.body, id, "<id>"))
			}
			if there, notThere := ask(id), ask(absent); there != notThere {
				t.Errorf("%s tells them apart:\n%s\n%s", op.ID, there, notThere)
			}
		}
	}
}
