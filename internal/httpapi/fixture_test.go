package httpapi_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

var update = flag.Bool("update", false, "write what is kept in files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

var ctx = context.Background()

// servedHub is a hub behind its HTTP API, with the tokens of some participants.
type servedHub struct {
	*hubtest.Fixture
	server *httptest.Server
	logged *bytes.Buffer
	tokens map[string]string // secrets by participant
	peer   *peer
}

// peer is who the local socket is said to lead to.
type peer struct {
	agent string
	run   string // whose process it is

	client int    // the process of a connected client
	uuid   string // of the client's agent
	local  bool
	err    error
}

func (p *peer) who(context.Context) (hub.Connection, error) {
	return hub.Connection{Socket: p.local, TCP: !p.local, Agent: p.agent, Run: p.run, Client: parley.ClientProcess{Agent: p.agent, PID: p.client}, AgentUUID: p.uuid}, p.err
}

var (
	user  = hub.Caller{Agent: parley.Owner, Source: "test", Scopes: parley.AllScopes()}
	about = parley.HubStatus{Version: parley.Version, Store: "sqlite", PID: 1, Address: "127.0.0.1:7717", Home: "/home/of/the/hub"}
)

// roomy is a store whose disk has room, whatever the machine's has.
type roomy struct{ *sqlite.DB }

func (roomy) Space() (free, total int64, err error) { return 1 << 40, 1 << 41, nil }

// newServedHub has the owner user; rickon, a person; the agents arya, gendry and hound, and arya is rickon's
// report; the private channel forge of arya and gendry; and the public channel square.
func newServedHub(t testing.TB, change ...func(*httpapi.Options)) *servedHub {
	t.Helper()
	return newServedHubAt(t, localListener(t), change...)
}

func localListener(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

func newServedHubAt(t testing.TB, listener net.Listener, change ...func(*httpapi.Options)) *servedHub {
	t.Helper()
	return newServedHubWith(t, hub.Asks{}, listener, change...)
}

func newServedHubWith(t testing.TB, asks hub.Asks, listener net.Listener, change ...func(*httpapi.Options)) *servedHub {
	t.Helper()
	w := &servedHub{logged: &bytes.Buffer{}, tokens: map[string]string{}, peer: &peer{}}
	w.Fixture = hubtest.New(t, hubtest.SQLite, t.TempDir(), hubtest.RealTime, func(f *hubtest.Fixture) {
		f.WrapStore = func(s storage.Store) storage.Store { return roomy{s.(*sqlite.DB)} }
		f.Config.Log, f.Config.About, f.Config.Asks = w.logger(), about, asks
		f.Config.Rate, f.Config.Load = hub.Rate{Burst: 1}, hub.Load{Reads: hub.Rate{Burst: 1}}
	})
	w.serve(listener, change...)
	t.Cleanup(func() { w.server.Close() })
	w.addPeople()
	return w
}

func (w *servedHub) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(w.logged, nil)) }

// serve starts the hub, and opens its HTTP API.
func (w *servedHub) serve(listener net.Listener, change ...func(*httpapi.Options)) {
	w.Start(ctx)
	options := httpapi.Options{Log: w.logger(), Peer: w.peer.who, Metrics: http.HandlerFunc(measured), Messages: loggedLines{}, MCP: answerMCP}
	for _, f := range change {
		f(&options)
	}
	w.server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: httpapi.New(w.Hub, options)}}
	w.server.Start()
}

// answerMCP answers as an MCP server does that has nothing to say. Package mcpapi has the real one.
func answerMCP(w http.ResponseWriter, r *http.Request, _ httpapi.MCPCaller) {
	switch r.Method {
	case http.MethodPost:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	case http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (w *servedHub) addPeople() {
	w.T.Helper()
	for _, n := range []parley.NewAgent{
		{ID: "rickon", Kind: parley.KindHuman},
		{ID: "arya", Name: "Arya", Profile: parley.Profile{Manager: "rickon"}},
		{ID: "gendry"},
		{ID: "hound"},
	} {
		_, err := w.AddAgent(ctx, user, n)
		w.NoError(err)
	}
	for _, n := range []parley.NewConversation{{Name: "forge", Private: true, With: []string{"gendry"}}, {Name: "square"}} {
		_, err := w.CreateConversation(ctx, hub.Caller{Agent: "arya"}, n)
		w.NoError(err)
	}
	for _, who := range []string{parley.Owner, "rickon", "arya", "gendry", "hound"} {
		w.tokens[who] = w.MakeToken(who, parley.AllScopes()...).Secret
	}
}

// request is what a test sends.
type request struct {
	as     string // whose token
	method string // default: GET, or POST with a body
	path   string
	body   string
	header map[string]string
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

func (w *servedHub) send(r request) reply {
	w.T.Helper()
	if r.method == "" {
		r.method = http.MethodGet
		if r.body != "" {
			r.method = http.MethodPost
		}
	}
	req, err := http.NewRequest(r.method, w.server.URL+r.path, strings.NewReader(r.body))
	w.NoError(err)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.as != "" {
		req.Header.Set("Authorization", "Bearer "+w.tokens[r.as])
	}
	for name, value := range r.header {
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
	}
	return w.do(req)
}

// direct goes to the server without following anything.
var direct = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (w *servedHub) do(req *http.Request) reply {
	w.T.Helper()
	res, err := direct.Do(req)
	w.NoError(err)
	defer func() { _ = res.Body.Close() }()
	body := io.Reader(res.Body)
	if res.Header.Get("Content-Type") == "text/event-stream" {
		body = io.LimitReader(body, 16) // it has no end
	}
	raw, err := io.ReadAll(body)
	w.NoError(err)
	return reply{res.StatusCode, res.Header, string(raw)}
}

func (w *servedHub) port() string {
	return strconv.Itoa(w.server.Listener.Addr().(*net.TCPAddr).Port)
}

// kept compares with a file, or writes it with -update.
func kept(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed; if that is meant, run the test with -update", file)
	}
}

// waitForCall waits until a call is under way: a take that waits has been heard of.
func (w *servedHub) waitForCall(agent string) {
	w.T.Helper()
	for {
		view, err := w.AgentView(ctx, user, agent)
		w.NoError(err)
		if view.LastSeen != nil {
			return
		}
		runtime.Gosched()
	}
}
