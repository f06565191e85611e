package llm_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/runtime/llm"
)

func TestProvidersAreRead(t *testing.T) {
	got, err := llm.ParseProviders([]byte("anthropic:\n  key_file: /keys/anthropic\nmine:\n  kind: openai\n  base_url: https://models.example/v1\n  key_env: MY_KEY\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]llm.Provider{
		"anthropic": {KeyFile: "/keys/anthropic"},
		"mine":      {Kind: llm.OpenAI, BaseURL: "https://models.example/v1", KeyEnv: "MY_KEY"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := llm.New(got, llm.Options{}); err != nil {
		t.Fatal(err)
	}
	if none, err := llm.ParseProviders(nil); err != nil || none != nil {
		t.Errorf("no section: %v, %v", none, err)
	}
	for _, text := range []string{"mine:\n  key: sk-1\n", "mine: 3\n", "- mine\n", "mine:\n  kind: openai\nmine:\n  kind: openai\n"} {
		if _, err := llm.ParseProviders([]byte(text)); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWrongProviders(t *testing.T) {
	good := llm.Provider{Kind: llm.OpenAI, BaseURL: "https://models.example/v1"}
	with := func(change func(*llm.Provider)) llm.Provider { p := good; change(&p); return p }
	for words, p := range map[string]llm.Provider{
		"anthropic or openai":        with(func(p *llm.Provider) { p.Kind = "x" }),
		"base_url":                   with(func(p *llm.Provider) { p.BaseURL = "models.example" }),
		"base_url is no":             with(func(p *llm.Provider) { p.BaseURL = "ftp://models.example" }),
		"base_url is not an address": with(func(p *llm.Provider) { p.BaseURL = "https://me:secret@models.example" }),
		"key_env and key_file":       with(func(p *llm.Provider) { p.KeyEnv, p.KeyFile = "A", "/b" }),
		"not the key":                with(func(p *llm.Provider) { p.KeyEnv = "sk-123" }),
		"whole path":                 with(func(p *llm.Provider) { p.KeyFile = "key" }),
		"without encryption":         with(func(p *llm.Provider) { p.BaseURL, p.KeyEnv = "http://models.example", "A" }),
		"sent without encryption":    with(func(p *llm.Provider) { p.BaseURL, p.KeyEnv = "http://10.0.0.1", "A" }),
		"its key would be sent with": with(func(p *llm.Provider) { p.BaseURL, p.KeyFile = "http://localhost.evil.example", "/a" }),
	} {
		_, err := llm.New(map[string]llm.Provider{"mine": p}, llm.Options{})
		if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, p := range []llm.Provider{
		good, with(func(p *llm.Provider) { p.BaseURL = "http://10.0.0.1:8000/v1" }),
		with(func(p *llm.Provider) { p.BaseURL, p.KeyEnv = "http://localhost:8000/v1", "A" }),
		with(func(p *llm.Provider) { p.BaseURL, p.KeyEnv = "http://[::1]:8000/v1", "A" }),
	} {
		if _, err := llm.New(map[string]llm.Provider{"mine": p}, llm.Options{}); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := llm.New(map[string]llm.Provider{"Not a name": good}, llm.Options{}); parley.CodeOf(err) != parley.BadInput {
		t.Error(err)
	}
}

func TestAgentsAreChecked(t *testing.T) {
	runtime, err := llm.New(nil, llm.Options{Getenv: func(name string) string {
		return map[string]string{"OPENAI_API_KEY": canary, "GEMINI_API_KEY": "two words"}[name]
	}})
	if err != nil {
		t.Fatal(err)
	}
	for config, words := range map[string]string{
		``:                                  "it is empty",
		`{}`:                                "no provider",
		`{"provider":"nobody","model":"m"}`: "anthropic, gemini, ollama, openai, openrouter, vllm",
		`{"provider":"openai"}`:             "model is missing",
		`{"provider":"openai","mode":"m"}`:  "mode",
		`{"provider":"openai","Model":"m"}`: "Model",
		`{"provider":"openai","model":3}`:   "model",
		`{"provider":"openai","model":"m","max_tokens":-1}`: "max_tokens is -1",
		`{"provider":"openai","model":"m","temperature":3}`: "temperature",
		`{"provider":"openai","model":"m","key":"sk"}`:      "key",
		`{"provider":"anthropic","model":"m"}`:              "set ANTHROPIC_API_KEY in the environment of the hub, or key_file under providers.anthropic in config.yaml",
		`{"provider":"gemini","model":"m"}`:                 "GEMINI_API_KEY does not contain a key",
		`{"provider":"openai","model":"m","model":"n"}`:     "duplicate",
	} {
		if err := runtime.Check(t.Context(), agentWith(config)); parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", config, err, words)
		}
		if _, err := runtime.Run(t.Context(), parley.RunRequest{Agent: agentWith(config)}); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s is run: %v", config, err)
		}
	}
	for _, config := range []string{`{"provider":"openai","model":"m"}`, `{"provider":"ollama","model":"llama3"}`} {
		if err := runtime.Check(t.Context(), agentWith(config)); err != nil {
			t.Errorf("%s: %v", config, err)
		}
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, words := range map[string]string{
		write("group", canary, 0o640):                   "chmod 600",
		write("world", canary, 0o604):                   "chmod 600",
		write("empty", " \n", 0o600):                    "not contain a key",
		write("long", strings.Repeat("k", 5000), 0o600): "not contain a key",
		write("several", canary+"\n"+canary, 0o600):     "not contain a key",
		filepath.Join(dir, "missing"):                   "cannot read the key file",
		pipe:                                            "not a regular file",
		dir:                                             "not a regular file",
	} {
		runtime, err := llm.New(map[string]llm.Provider{"openai": {KeyFile: path}}, llm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = runtime.Check(t.Context(), agentWith(`{"provider":"openai","model":"m"}`))
		if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: %v, want %q", path, err, words)
		}
	}

	s := newFixture(t, llm.OpenAI, modeltest.InOrder(modeltest.Answer{Text: "x"}))
	path := write("good", canary+"\n", 0o400)
	runtime, err := llm.New(map[string]llm.Provider{"fake": {Kind: llm.OpenAI, BaseURL: baseURL(llm.OpenAI, s.api), KeyFile: path}}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.runtime = runtime
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if got := s.api.Requests()[0].Header.Get("Authorization"); got != "Bearer "+canary {
		t.Errorf("the header is %q", got)
	}
}

// TestNoOtherKeyIsSent guards against libraries that look for keys of their own in the environment.
func TestNoOtherKeyIsSent(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "other-canary")
	}
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	for _, kind := range kinds {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Text: "x"}))
		runtime, err := llm.New(map[string]llm.Provider{"fake": {Kind: kind, BaseURL: baseURL(kind, s.api)}}, llm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.runtime = runtime
		if _, err := s.run(t); err != nil {
			t.Fatal(err)
		}
		for name, values := range s.api.Requests()[0].Header {
			if strings.Contains(strings.Join(values, " "), "other-canary") {
				t.Errorf("%s has a key of another", name)
			}
		}
	}
}

func TestPricesOfTheConfiguration(t *testing.T) {
	given, err := llm.ParseProviders([]byte("ollama:\n  prices:\n    mine-: {input: 3, output: 15}\n"))
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := llm.New(given, llm.Options{Getenv: func(string) string { return canary }})
	if err != nil {
		t.Fatal(err)
	}
	agent := func(provider, model string) parley.Agent {
		a := parley.Agent{ID: "arya", Profile: parley.DefaultProfile()}
		a.RuntimeConfig = []byte(`{"provider":"` + provider + `","model":"` + model + `"}`)
		a.Budget.CostPerDay = 1
		return a
	}
	for model, known := range map[string]bool{"mine-large": true, "other": false} {
		err := runtime.Check(t.Context(), agent("ollama", model))
		if known != (err == nil) || !known && !strings.Contains(err.Error(), "the price of other is not known") {
			t.Errorf("a budget in dollars on %s: %v", model, err)
		}
	}
	if err := runtime.Check(t.Context(), agent("openrouter", "any/model")); err != nil {
		t.Errorf("where the provider says what a call costs: %v", err)
	}
	bad := map[string]llm.Provider{"ollama": {Prices: map[string]llm.Price{"x": {Input: -1}}}}
	if _, err := llm.New(bad, llm.Options{}); parley.CodeOf(err) != parley.BadInput {
		t.Errorf("a negative price: %v", err)
	}
}
