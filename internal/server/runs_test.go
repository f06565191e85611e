//go:build linux

package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/runtime/llm"
)

var theOwner = hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}

const patience = 30 * time.Second

func addAgent(t *testing.T, s *Server, runtime string, config any) {
	t.Helper()
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.hub.AddAgent(t.Context(), theOwner, parley.NewAgent{ID: "arya", Profile: parley.Profile{Runtime: runtime, RuntimeConfig: text}})
	if err != nil {
		t.Fatal(err)
	}
}

// tell posts to arya's DM and returns the message.
func tell(t *testing.T, s *Server, text string) string {
	t.Helper()
	receipt, err := s.hub.Post(t.Context(), theOwner, parley.Draft{Direct: []string{"arya"}, Content: parley.Content{Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	return receipt.Message.ID
}

// reached waits until the delivery of a message has reached a state.
func reached(t *testing.T, s *Server, message string, state parley.DeliveryState) parley.Delivery {
	t.Helper()
	shown, err := s.hub.AwaitState(t.Context(), theOwner, message, state, patience)
	if err != nil || shown.Deliveries[0].State != state {
		t.Fatalf("it is %s, because of %v: %v", shown.Deliveries[0].State, shown.Deliveries[0].Failure, err)
	}
	return shown.Deliveries[0]
}

func answerTo(t *testing.T, s *Server, message string) string {
	t.Helper()
	m, err := s.hub.Message(t.Context(), theOwner, reached(t, s, message, parley.DeliveryAnswered).Answer)
	if err != nil {
		t.Fatal(err)
	}
	return m.Content.Text
}

// withProgram adds a runtime to the configuration that is a shell command. It has read its prompt when it starts.
func withProgram(o Options, script string, args ...string) Options {
	c := *o.Config
	argv, _ := json.Marshal(append([]string{"/bin/sh", "-c", "cat >/dev/null; " + script}, args...)) // which is YAML
	c.Runtimes = fmt.Appendf(nil, "helper: {argv: %s, output: text}\n", argv)
	c.Runs.Grace = 0
	o.Config = &c
	return o
}

// withBearer lets the tokens of runs be used over TCP.
func withBearer(o Options) Options {
	c := *o.Config
	c.Runtimes = []byte(strings.Replace(string(c.Runtimes), "output: text", "output: text, run_token: bearer", 1))
	o.Config = &c
	return o
}

func TestAScriptAnswers(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		s := start(t, o)
		defer stop(t, s)
		addAgent(t, s, "script", map[string]string{"rules": "- else:\n    - reply: valar dohaeris\n"})
		if text := answerTo(t, s, tell(t, s, "valar morghulis")); text != "valar dohaeris" {
			t.Errorf("it answers %q", text)
		}
	})
}

func TestTheProgramOfARunIsItsAgent(t *testing.T) {
	o := options(t, nil)
	s := start(t, withProgram(o, `env -i "$0" call "$1" GET /v1/whoami`, os.Args[0], o.Home.Socket()))
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	if text := answerTo(t, s, tell(t, s, "who are you?")); !strings.Contains(text, `"id":"arya"`) {
		t.Errorf("the hub tells it %q", text)
	}
}

func TestTheProgramOfARunFindsParley(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, withProgram(options(t, nil), `echo "$PATH"`))
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	if text := answerTo(t, s, tell(t, s, "where do you look?")); !strings.HasSuffix(text, ":"+filepath.Dir(self)) {
		t.Errorf("its PATH is %q, and parley in %q", text, filepath.Dir(self))
	}
}

// Row "Environment leak": a program has nothing open that the hub has, nor what the hub was given by its starter.
func TestEnvironmentLeakByOpenFiles(t *testing.T) {
	given := filepath.Join(t.TempDir(), "canary")
	fd, err := syscall.Open(given, syscall.O_CREAT|syscall.O_RDWR, 0o600) // as a shell would leave it to the hub
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	o := options(t, nil)
	s := start(t, withProgram(o, `ls -l /proc/self/fd`))
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	text := answerTo(t, s, tell(t, s, "what do you see?"))
	if !strings.Contains(text, "pipe:") {
		t.Fatalf("it sees nothing: %s", text)
	}
	for _, foreign := range []string{given, string(o.Home), "socket:", "anon_inode:"} {
		if strings.Contains(text, foreign) {
			t.Errorf("it has %s open:\n%s", foreign, text)
		}
	}
}

// Row "Agent as owner": the token of a run is an agent's at the port too, where its runtime may use it there, and good for
// nothing once the run has ended.
func TestAgentAsOwnerByTheTokenOfItsRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	s := start(t, withBearer(withProgram(options(t, nil), `printf %s "$PARLEY_TOKEN" >"$0"; echo "it is $PARLEY_TOKEN"; tail -f /dev/null`, file)))
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	if _, err := s.hub.AddAgent(t.Context(), theOwner, parley.NewAgent{ID: "gendry"}); err != nil {
		t.Fatal(err)
	}
	run := reached(t, s, tell(t, s, "work"), parley.DeliverySeen).Run
	token := written(t, file)
	call := func(method, path, body string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, s.Origin()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	for _, test := range []struct {
		method, path, body string
		status             int
	}{
		{"GET", "/v1/whoami", "", http.StatusOK},
		{"GET", "/v1/runs/" + run, "", http.StatusOK},
		{"POST", "/v1/agents", `{"id":"mallory"}`, http.StatusForbidden},
		{"PATCH", "/v1/agents/arya", `{"runtime_config":{"env":["HOME"]}}`, http.StatusForbidden},
		{"POST", "/v1/tokens", `{"agent":"arya"}`, http.StatusForbidden},
		{"POST", "/v1/tokens", `{"agent":"user"}`, http.StatusForbidden},
		{"POST", "/v1/sign-in-links", `{}`, http.StatusForbidden},
		{"POST", "/v1/agents/gendry/commands", `{"action":"stop"}`, http.StatusForbidden},
		{"POST", "/v1/agents/arya/commands", `{"action":"resume"}`, http.StatusBadRequest},
		{"PUT", "/v1/agents/gendry/health", `{"health":"healthy"}`, http.StatusForbidden},
		{"POST", "/v1/agents/arya/resume-pair", `{"with":"gendry"}`, http.StatusForbidden},
		{"GET", "/v1/runs?agent=gendry", "", http.StatusForbidden},
	} {
		if status := call(test.method, test.path, test.body); status != test.status {
			t.Errorf("%s %s is answered with %d, want %d", test.method, test.path, status, test.status)
		}
	}
	if _, err := s.hub.CancelRun(t.Context(), theOwner, run, ""); err != nil {
		t.Fatal(err)
	}
	settled(t, "the token outlives its run", func() bool { return call("GET", "/v1/whoami", "") == http.StatusUnauthorized })
	if output, err := s.hub.RunOutput(t.Context(), theOwner, run); err != nil || !strings.Contains(string(output), "it is [hidden]") || strings.Contains(string(output), token) {
		t.Errorf("its output is %q, %v", output, err)
	}
}

// written waits for what a program writes into a file at once.
func written(t *testing.T, file string) (text string) {
	t.Helper()
	settled(t, file+" is not written", func() bool {
		bytes, _ := os.ReadFile(file)
		text = string(bytes)
		return text != ""
	})
	return text
}

// settled waits until a condition holds that a program brings about in its own time.
func settled(t *testing.T, otherwise string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

func TestInterruptedRunsAreRepeatedAfterAStart(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		flag := filepath.Join(t.TempDir(), "flag")
		o = withProgram(o, `test -e "$0" && echo done || tail -f /dev/null`, flag)
		s := start(t, o)
		addAgent(t, s, "helper", struct{}{})
		message := tell(t, s, "work")
		reached(t, s, message, parley.DeliverySeen)
		stop(t, s)
		if err := os.WriteFile(flag, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s = start(t, o)
		defer stop(t, s)
		if text := answerTo(t, s, message); text != "done" {
			t.Errorf("it answers %q", text)
		}
		runs, err := s.hub.Runs(t.Context(), theOwner, parley.RunFilter{Agent: "arya", Limit: 10})
		if err != nil || len(runs) != 2 || runs[0].State != parley.RunSucceeded || runs[1].State != parley.RunCancelled || runs[0].Attempt != 1 {
			t.Errorf("its runs are %+v, %v", runs, err)
		}
	})
}

func TestACancelledRunEndsAtOnce(t *testing.T) {
	s := start(t, withProgram(options(t, nil), "tail -f /dev/null"))
	defer stop(t, s)
	addAgent(t, s, "helper", struct{}{})
	message := tell(t, s, "work")
	run := reached(t, s, message, parley.DeliverySeen).Run
	if _, err := s.hub.CancelRun(t.Context(), theOwner, run, "it is late"); err != nil {
		t.Fatal(err)
	}
	shown, err := s.hub.AwaitState(t.Context(), theOwner, message, parley.DeliveryAnswered, patience)
	if d := shown.Deliveries[0]; err != nil || d.State != parley.DeliveryFailed || !strings.Contains(d.Failure.Message, "it is late") {
		t.Errorf("it is %s because of %v: %v", d.State, d.Failure, err)
	}
}

func TestALateRunTimesOut(t *testing.T) {
	for whose, deadlines := range map[string]struct{ all, own string }{"all": {all: "1s"}, "the agent's own": {"1h", "1s"}} {
		t.Run(whose, func(t *testing.T) {
			o := withProgram(options(t, nil), "tail -f /dev/null")
			var err error
			if o.Config.Runs.Deadline, err = time.ParseDuration(deadlines.all); err != nil {
				t.Fatal(err)
			}
			s := start(t, o)
			defer stop(t, s)
			addAgent(t, s, "helper", map[string]string{"deadline": deadlines.own})
			shown, err := s.hub.AwaitState(t.Context(), theOwner, tell(t, s, "work"), parley.DeliveryAnswered, patience)
			if d := shown.Deliveries[0]; err != nil || d.State != parley.DeliveryFailed || d.Failure.Code != parley.TimedOut || d.Failure.Suggestion == "" {
				t.Errorf("it is %s because of %v: %v", d.State, d.Failure, err)
			}
		})
	}
}

func TestKeysOfProvidersStayInTheHub(t *testing.T) {
	environ := []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "MY_KEY=b", "MY_KEY_ID=c"}
	got := withoutKeys(environ, map[string]llm.Provider{"mine": {KeyEnv: "MY_KEY"}, "other": {KeyEnv: "ANTHROPIC_API_KEY"}, "open": {}}, nil)
	if want := []string{"PATH=/bin", "ANTHROPIC_API_KEY=a", "MY_KEY_ID=c"}; !slices.Equal(got, want) {
		t.Errorf("programs get %q, want %q", got, want)
	}
}

func TestRuntimesThatCannotRunAreRefused(t *testing.T) {
	o := options(t, nil)
	c := *o.Config
	c.Runtimes = []byte("absent: {argv: [no-such-program], install: 'install it from the moon'}\n")
	o.Config = &c
	s := start(t, o)
	defer stop(t, s)
	for runtime, want := range map[string]string{
		"scrpt":    "did you mean script?",
		"absent":   "install it from the moon",
		"attached": "",
	} {
		_, err := s.hub.AddAgent(t.Context(), theOwner, parley.NewAgent{ID: "a-" + runtime, Profile: parley.Profile{Runtime: runtime}})
		if want == "" && err == nil {
			continue
		}
		if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", runtime, err, want)
		}
	}
	_, err := s.hub.ChangeAgent(t.Context(), theOwner, "a-attached", func(a *parley.Agent) error { a.Runtime = "absent"; return nil })
	if parley.CodeOf(err) != parley.BadInput {
		t.Errorf("changed to what cannot run: %v", err)
	}
}
