package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/runtime/llm"
	"github.com/parley-hub/parley/internal/tools"
)

// canary is the key of every test. It must appear only in the header of a request.
const canary = "sk-canary-0123456789"

var kinds = []llm.Kind{llm.Anthropic, llm.OpenAI}

// each runs a test with each kind of API.
func each(t *testing.T, test func(t *testing.T, kind llm.Kind)) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) { test(t, kind) })
	}
}

// fixture is a run on a fake API, with everything that the run reports.
type fixture struct {
	api     *modeltest.Server
	runtime *llm.Runtime
	request parley.RunRequest

	mu       sync.Mutex
	begun    int
	progress strings.Builder
	logged   strings.Builder
	pauses   []time.Duration
}

func newFixture(t *testing.T, kind llm.Kind, answer func(modeltest.Request) modeltest.Answer) *fixture {
	t.Helper()
	s := &fixture{api: modeltest.New(answer)}
	t.Cleanup(s.api.Close)
	runtime, err := llm.New(map[string]llm.Provider{"fake": {Kind: kind, BaseURL: baseURL(kind, s.api), KeyEnv: "FAKE_KEY"}}, llm.Options{
		Getenv: func(name string) string { return map[string]string{"FAKE_KEY": canary + "\n"}[name] },
		Pause:  s.pause,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.runtime = runtime
	s.request = parley.RunRequest{
		Agent:  agentWith(`{"provider":"fake","model":"model-1","max_tokens":1000,"temperature":0.5}`),
		Prompt: parley.Prompt{System: "You are Arya.", User: "Hello?"}, Tools: tools.Docs(), Workspace: &workspace{},
		Begin: func(context.Context, parley.Process) error { s.begun++; return nil },
		Say:   func(text string) { s.progress.WriteString(text) },
		Log:   func(output []byte) { s.logged.Write(output) },
	}
	return s
}

// baseURL returns the base URL of a fake API for a provider of a kind.
func baseURL(kind llm.Kind, api *modeltest.Server) string {
	if kind == llm.Anthropic {
		return api.URL
	}
	return api.URL + "/v1"
}

func (s *fixture) pause(ctx context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses = append(s.pauses, d)
	return ctx.Err()
}

func (s *fixture) run(t *testing.T) (parley.Result, error) {
	t.Helper()
	result, err := s.runtime.Run(t.Context(), s.request)
	s.wantNoKey(t, result, err)
	return result, err
}

// wantNoKey checks that no output of a run contains the key.
func (s *fixture) wantNoKey(t *testing.T, result parley.Result, err error) {
	t.Helper()
	output := fmt.Sprintf("%+v %+v %v %s %s", result, err, err, s.progress.String(), s.logged.String())
	for e := err; e != nil; e = errors.Unwrap(e) {
		output += fmt.Sprintf(" %#v %v", e, e)
	}
	for _, r := range s.api.Requests() {
		output += string(r.Body) + r.Path
	}
	if strings.Contains(output, canary) {
		t.Errorf("the key is in %s", output)
	}
}

func agentWith(config string) parley.Agent {
	a := parley.Agent{ID: "arya", Name: "Arya", Kind: parley.KindAgent, Profile: parley.DefaultProfile()}
	a.Runtime, a.RuntimeConfig = parley.RuntimeLLM, json.RawMessage(config)
	return a
}

// wantFailure checks how a run has failed, and that its error contains some texts. It returns the failure.
func wantFailure(t *testing.T, err error, failure parley.Failure, words ...string) parley.Trouble {
	t.Helper()
	trouble, ok := errors.AsType[*parley.RunError](err)
	if !ok {
		t.Fatalf("the error is %v, want a *RunError", err)
	}
	if trouble.Failure != failure {
		t.Errorf("the failure is %s (%v), want %s", trouble.Failure, err, failure)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	return trouble.Trouble
}

// workspace is a fake hub that records posts and contacts.
type workspace struct {
	parley.Workspace
	posted []parley.Draft
	post   func() error

	contacted []parley.Contact
	contact   func(context.Context, parley.Contact) (parley.Contacted, error)
}

func (w *workspace) Contact(ctx context.Context, c parley.Contact) (parley.Contacted, error) {
	w.contacted = append(w.contacted, c)
	return w.contact(ctx, c)
}

func (w *workspace) Post(_ context.Context, d parley.Draft) (parley.Receipt, error) {
	if w.post != nil {
		if err := w.post(); err != nil {
			return parley.Receipt{}, err
		}
	}
	w.posted = append(w.posted, d)
	return parley.Receipt{Message: parley.Message{ID: fmt.Sprintf("m%d", len(w.posted)), Conversation: "c1"}}, nil
}

func (w *workspace) Named(ctx context.Context, _ ...string) ([]parley.Presence, error) {
	return w.Who(ctx)
}

func (w *workspace) Self(context.Context) (parley.Agent, error) {
	return parley.Agent{ID: "arya", Name: "Arya", Kind: parley.KindAgent, Profile: parley.Profile{Role: "verifier"}}, nil
}

func (w *workspace) Who(context.Context) ([]parley.Presence, error) {
	return []parley.Presence{{ID: "arya", Name: "Arya", Kind: parley.KindAgent, Role: "verifier", Status: "working"}}, nil
}
