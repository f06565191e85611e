//go:build linux

package server

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Row "Stolen run token": a supervised agent reads its manager's token in /proc while the manager's run is alive, and
// approves its own call with it: on the socket, over TCP, plainly and with its environment cleared.
func TestStolenRunTokenFromTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	o := options(t, nil)
	// Each run of the manager says that it is there and stays: the request for an approval wakes it too. The report finds the
	// token and tries each way.
	script := `case "$PWD" in */boss/*) echo $$ >"$2/$$"; mv "$2/$$" "$2/manager"; tail -f /dev/null;; esac
		stolen=$(tr '\0' '\n' <"/proc/$(cat "$2/manager")/environ" | sed -n 's/^PARLEY_TOKEN=//p')
		approve="/v1/approvals/$(cat "$2/approval")/decide"
		"$0" "call with" "$1" "$stolen" POST "$approve"
		env -i "$0" "call with" "$1" "$stolen" POST "$approve"
		(setsid -w "$0" "call with" "$1" "$stolen" POST "$approve" >"$2/detached"; mv "$2/detached" "$2/done") &
		while test ! -e "$2/done"; do :; done; cat "$2/done"
		"$0" "call with" "$1" "$PARLEY_TOKEN" GET /v1/whoami
		echo "stolen: $stolen, at $PARLEY_URL"`
	s := start(t, withProgram(o, script, os.Args[0], o.Home.Socket(), dir))
	defer stop(t, s)
	for _, n := range []parley.NewAgent{
		{ID: "boss", Profile: parley.Profile{Runtime: "helper"}},
		{ID: "arya", Profile: parley.Profile{Runtime: "helper", Manager: "boss", Mode: parley.ModeSupervised}},
		{ID: "gendry"},
	} {
		if _, err := s.hub.AddAgent(t.Context(), theOwner, n); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.hub.Contact(t.Context(), hub.Caller{Agent: "arya"}, parley.Contact{Pattern: parley.PatternNotify, Agent: "gendry", Message: "now"})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		t.Fatalf("the call is not held: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "approval"), []byte(held.Approval.ID), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.hub.Post(t.Context(), theOwner, parley.Draft{Direct: []string{"boss"}, Content: parley.Content{Text: "stay"}}); err != nil {
		t.Fatal(err)
	}
	written(t, filepath.Join(dir, "manager"))
	said := answerTo(t, s, tell(t, s, "steal"))
	if strings.Count(said, "401 ") != 3 || !strings.Contains(said, `200 {"agent":{"id":"arya"`) || !strings.Contains(said, "stolen: parley_") ||
		!strings.Contains(said, "at unix://"+o.Home.Socket()) {
		t.Errorf("it is answered %s", said)
	}
	a, err := s.hub.Approval(t.Context(), theOwner, held.Approval.ID)
	if err != nil || a.State != parley.ApprovalPending {
		t.Errorf("the approval is %s, %v", a.State, err)
	}
	settled(t, "nothing of it is audited", func() bool {
		log, err := s.hub.AuditLog(t.Context(), theOwner, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(log)
		return err == nil && strings.Contains(string(text), `"actor":"arya","act":"refused","subject":"token of boss"`)
	})
}

// runtime_config is set by owners over the API too: what it names must be allowed by config.yaml.
func TestRuntimeConfigIsWithinWhatTheConfigurationAllows(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	o := withProgram(options(t, nil), "true")
	o.Config.Runs.Dirs, o.Config.Runs.Env = []string{root}, []string{"MY_KEY", "AWS_*"}
	s := start(t, o)
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	within, link := filepath.Join(root, "project"), filepath.Join(root, "link")
	own, others := s.Home.Agent("arya"), s.Home.Agent("gendry")
	for _, dir := range []string{within, filepath.Join(own, "work"), others} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	config := func(key string, value any) string {
		text, _ := json.Marshal(map[string]any{key: value})
		return string(text)
	}
	for text, allowed := range map[string]bool{
		config("dir", root): true, config("dir", within): true, config("dir", own): true, config("dir", filepath.Join(own, "work")): true,
		config("dir", "/"): false, config("dir", outside): false, config("dir", link): false, config("dir", root+"/.."): false,
		config("dir", string(s.Home)): false, config("dir", filepath.Dir(string(s.Home))): false, config("dir", others): false,
		config("dir", filepath.Join(string(s.Home), "agents")): false, config("dir", own+"/../gendry"): false,
		config("env", []string{"MY_KEY", "AWS_REGION", "ANTHROPIC_API_KEY", "HOME"}): true,
		config("env", []string{"OTHER_KEY"}):                                         false, config("env", []string{"PARLEY_TOKEN"}): false, config("env", []string{"MY_KEY", "AW"}): false,
	} {
		_, err := s.hub.ChangeAgent(t.Context(), theOwner, "arya", func(a *parley.Agent) error { a.RuntimeConfig = []byte(text); return nil })
		if allowed && err != nil || !allowed && parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// SPEC 7.4: a daemonized child of a run is found, and is that agent while the run goes on. It has left its parents, its
// session and its environment.
func TestADaemonOfARunIsItsAgent(t *testing.T) {
	dir := t.TempDir()
	o := options(t, nil)
	script := `(env -i setsid /bin/sh -c '"$0" call "$1" GET /v1/whoami >"$2/new"; "$0" call "$1" POST /v1/agents >>"$2/new"; mv "$2/new" "$2/said"' "$0" "$1" "$2" &)
		while test ! -e "$2/said"; do :; done; cat "$2/said"`
	s := start(t, withProgram(o, script, os.Args[0], o.Home.Socket(), dir))
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	if said := answerTo(t, s, tell(t, s, "who are you?")); !strings.Contains(said, `200 {"agent":{"id":"arya"`) || !strings.Contains(said, "403 ") {
		t.Errorf("the daemon is answered %q", said)
	}
}
