package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// sendRaw sends a request line and headers as they are, and returns the answer.
func (w *servedHub) sendRaw(lines ...string) string {
	w.T.Helper()
	conn, err := net.Dial("tcp", w.server.Listener.Addr().String())
	w.NoError(err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, strings.Join(append(lines, "Connection: close", "", ""), "\r\n"))
	w.NoError(err)
	answer, err := io.ReadAll(conn)
	w.NoError(err)
	return string(answer)
}

// TestAmbiguousHeaders: who calls is said once, or not at all. Two answers to that would be read differently
// by what stands between the caller and the hub.
func TestAmbiguousHeaders(t *testing.T) {
	w := newServedHub(t)
	bearer := func(agent string) string { return "Authorization: Bearer " + w.tokens[agent] }
	session := func(person string) string { return w.signInHeaders(person)["Cookie"] }
	host := "Host: 127.0.0.1:" + w.port()
	for name, test := range map[string]struct {
		status string
		lines  []string
	}{
		"two tokens":                  {"401", []string{host, bearer("user"), bearer("arya")}},
		"the same token twice":        {"401", []string{host, bearer("arya"), bearer("arya")}},
		"two agents to act as":        {"400", []string{host, bearer("user"), "Parley-As: arya", "Parley-As: gendry"}},
		"acting as nobody":            {"400", []string{host, bearer("user"), "Parley-As: "}},
		"two sessions in two headers": {"401", []string{host, "Cookie: " + session("user"), "Cookie: " + session("rickon")}},
		"two sessions in one header":  {"401", []string{host, "Cookie: " + session("rickon") + "; " + session("user")}},
		"two origins":                 {"403", []string{host, bearer("user"), "Origin: " + w.server.URL, "Origin: " + w.server.URL}},
		"two hosts":                   {"400", []string{host, host, bearer("user")}},
		"no host":                     {"400", []string{bearer("user")}},
		"a name in brackets":          {"421", []string{"Host: [localhost]:" + w.port(), bearer("user")}},
		"once":                        {"200", []string{host, bearer("user"), "Parley-As: arya", "Cookie: " + session("rickon")}},
	} {
		if got := w.sendRaw(append([]string{"GET /v1/whoami HTTP/1.1"}, test.lines...)...); !strings.HasPrefix(got, "HTTP/1.1 "+test.status) {
			t.Errorf("%s: want %s, got %s", name, test.status, got)
		}
	}
	for name, line := range map[string]string{
		"another host in the target": "GET http://evil.example.org/v1/whoami HTTP/1.1",
		"to anywhere":                "CONNECT evil.example.org:80 HTTP/1.1",
	} {
		if got := w.sendRaw(line, host, bearer("user")); !strings.HasPrefix(got, "HTTP/1.1 421") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := w.sendRaw("GET /v1/whoami HTTP/1.0", bearer("user")); !strings.HasPrefix(got, "HTTP/1.0 421") {
		t.Errorf("HTTP/1.0 without a host: %s", got)
	}
}

// TestLineBreaksSplitNoEventsOrHeaders: what a caller writes begins no new event of a stream, and no new header.
func TestLineBreaksSplitNoEventsOrHeaders(t *testing.T) {
	w := newServedHub(t)
	body := `{"conversation":"square","content":{"text":"a\r\n\r\nevent: agent.removed\ndata: {}\n\n"},"payload":{` + "\r\n\n" + `"a":` + "\n" + `"b"}}`
	if got := w.send(request{as: "arya", path: "/v1/messages", body: body}); got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "bran", Profile: parley.Profile{Description: "a\r\n\r\ndata: b\n\n"}})
	w.NoError(err)
	req, err := http.NewRequest(http.MethodGet, w.server.URL+"/v1/events?after=0&include=message", http.NoBody)
	w.NoError(err)
	req.Header.Set("Authorization", "Bearer "+w.tokens["user"])
	res, err := direct.Do(req)
	w.NoError(err)
	defer func() { _ = res.Body.Close() }()
	// A line without a name is a comment: the hub's own, at the start.
	known := map[string]bool{"": true, "id": true, "event": true, "data": true, "\n": true}
	for lines, last := bufio.NewReader(res.Body), ""; !strings.Contains(last, "bran"); {
		last, err = lines.ReadString('\n')
		w.NoError(err)
		if name, _, _ := strings.Cut(last, ": "); !known[name] || strings.Contains(last, "\r") {
			t.Errorf("a line is %q", last)
		}
	}
}
