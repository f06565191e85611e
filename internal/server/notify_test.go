package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/hub"
)

// TestAPersonIsNotifiedAndDecides goes the whole way: a held call, its notification, the link in it, the call.
func TestAPersonIsNotifiedAndDecides(t *testing.T) {
	me := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	links := make(chan string, 1)
	ntfy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct{ Click string }
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Error(err)
		}
		links <- message.Click
	}))
	defer ntfy.Close()
	o := options(t, nil)
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := "addr: 127.0.0.1:0\nwebhook.allow: 127.0.0.1\nnotify:\n  user:\n    - ntfy: {url: '" + ntfy.URL + "/topic'}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.Config, err = config.Load(file, nil, nil); err != nil {
		t.Fatal(err)
	}
	s := start(t, o)
	defer stop(t, s)
	for _, id := range []string{"arya", "gendry"} {
		if _, err := s.hub.AddAgent(t.Context(), me, parley.NewAgent{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	rule := parley.Permission{Agent: "arya", Target: "gendry", Effect: parley.EffectAllow, RequiresApproval: true}
	if _, err := s.hub.Permit(t.Context(), me, rule); err != nil {
		t.Fatal(err)
	}
	draft := parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: "hello"}}
	if _, err := s.hub.Post(t.Context(), hub.Caller{Agent: "arya"}, draft); err == nil {
		t.Fatal("the call was not held")
	}
	link := <-links
	if !strings.HasPrefix(link, s.Origin()+"/approve/parley_") {
		t.Fatalf("the link is %s", link)
	}
	response, err := http.PostForm(link, url.Values{"approve": {"1"}})
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	inbox, err := s.hub.Peek(t.Context(), hub.Caller{Agent: "gendry"}, 1)
	if err != nil || inbox.Waking != 1 {
		t.Errorf("gendry has %+v, %v; the hub answers %d", inbox, err, response.StatusCode)
	}
}

func TestAWrongNotifierStopsTheStart(t *testing.T) {
	o := options(t, nil)
	o.Config.Notify = []byte("\n\nuser:\n  - pager: {}\n")
	_, err := Start(t.Context(), o)
	if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), o.Home.Config()+": line 4: notify: ") {
		t.Errorf("it starts with %v", err)
	}
}

func TestLinksLeadToThePublicURL(t *testing.T) {
	s := start(t, options(t, map[string]string{"public_url": "https://parley.example.org"}))
	defer stop(t, s)
	if got := s.publicURL(); got != "https://parley.example.org" {
		t.Errorf("links begin with %s", got)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Origin()+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "parley.example.org"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("by that name it answers %d", response.StatusCode)
	}
}
