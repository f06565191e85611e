//go:build clients

package clients

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/runtime/command"
)

// object is a piece of JSON.
type object = map[string]any

// client is one of the real clients, and how it is pointed at another API.
type client struct {
	name   string
	config object // runtime_config
	shell  shell
	// set prepares its home, and returns the variables that it needs.
	set func(t *testing.T, home, api string) []string
}

// shell is a client's own: the name of the tool, and of its argument.
type shell struct{ tool, argument string }

// calls is what a model answers that wants a command to be run.
func (s shell) calls(command string) modeltest.Answer {
	args, _ := json.Marshal(object{s.argument: command, "description": "talk to the others"})
	return modeltest.Answer{
		Calls: []modeltest.Call{{ID: uuid.NewString(), Name: s.tool, Args: string(args)}}, Input: inputTokens, Output: outputTokens,
	}
}

var clients = []client{
	{name: "claude", shell: shell{"Bash", "command"}, set: func(t *testing.T, home, api string) []string {
		write(t, filepath.Join(home, ".claude/settings.json"), `{"permissions": {"allow": ["Bash(parley chat:*)", "Bash(parley ask:*)", "Bash(parley delegate:*)"]}}`)
		return []string{"ANTHROPIC_API_KEY=sk-ant-canary-key", "ANTHROPIC_BASE_URL=" + api}
	}},
	{name: "codex", shell: shell{"exec_command", "cmd"}, set: func(t *testing.T, home, api string) []string {
		write(t, filepath.Join(home, ".codex/config.toml"), `
			model = "fake"
			model_provider = "fake"
			check_for_update_on_startup = false
			analytics.enabled = false
			features.plugins = false
			features.apps = false
			sandbox_workspace_write.network_access = true
			allow_login_shell = false
			[model_providers.fake]
			name = "fake"
			base_url = "`+api+`/v1"
			env_key = "OPENAI_API_KEY"
			wire_api = "responses"
			stream_max_retries = 1
			request_max_retries = 1`)
		return []string{"OPENAI_API_KEY=sk-canary-key"}
	}},
	{name: "gemini", config: object{"model": "gemini-2.5-flash"}, shell: shell{"run_shell_command", "command"}, set: func(t *testing.T, home, api string) []string {
		write(t, filepath.Join(home, ".gemini/settings.json"), `{
			"security": {"auth": {"selectedType": "gemini-api-key"}},
			"privacy": {"usageStatisticsEnabled": false},
			"general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2}
		}`)
		write(t, filepath.Join(home, ".gemini/policies/parley.toml"), `
			[[rule]]
			toolName = "run_shell_command"
			commandPrefix = ["parley chat", "parley ask", "parley delegate"]
			decision = "allow"
			priority = 100`)
		return []string{"GEMINI_API_KEY=canary-key", "GOOGLE_GEMINI_BASE_URL=" + api}
	}},
	{name: "opencode", shell: shell{"bash", "command"}, set: func(t *testing.T, home, api string) []string {
		file := filepath.Join(home, "opencode.json")
		write(t, file, `{
			"model": "fake/fake", "small_model": "fake/fake", "autoupdate": false, "share": "disabled",
			"provider": {"fake": {
				"npm": "@ai-sdk/openai-compatible", "name": "Fake",
				"options": {"baseURL": "`+api+`/v1", "apiKey": "canary-key"}, "models": {"fake": {"name": "fake", "cost": {"input": 3, "output": 15}}}
			}}
		}`)
		// It fetches its plugin SDK once, unless it is there.
		config := filepath.Join(home, ".config", "opencode")
		write(t, filepath.Join(config, "package.json"), `{"dependencies": {"@opencode-ai/plugin": "1.18.33"}}`)
		write(t, filepath.Join(config, "package-lock.json"), `{"lockfileVersion": 3, "packages": {
			"": {"dependencies": {"@opencode-ai/plugin": "1.18.33"}}, "node_modules/@opencode-ai/plugin": {"version": "1.18.33"}
		}}`)
		write(t, filepath.Join(config, "node_modules/@opencode-ai/plugin/package.json"), `{"name": "@opencode-ai/plugin", "version": "1.18.33"}`)
		return []string{"OPENCODE_CONFIG=" + file}
	}},
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// place is where a client runs: its home, the API, and the way to the rest of the world, which is closed.
type place struct {
	client
	api   *model
	proxy *proxy

	home, temp, tools string
	environ           []string
}

func newPlace(t *testing.T, c client) *place {
	t.Helper()
	p := &place{client: c, api: newModel(t), proxy: newProxy(t), home: t.TempDir(), temp: t.TempDir(), tools: abs(t, ".tools/clients")}
	p.environ = append(c.set(t, p.home, p.api.URL),
		"HOME="+p.home, "PATH="+filepath.Join(p.tools, "node_modules", ".bin")+":"+os.Getenv("PATH"), "TMPDIR="+p.temp, "LANG=C.UTF-8",
		"HTTP_PROXY="+p.proxy.URL, "HTTPS_PROXY="+p.proxy.URL, "NO_PROXY=127.0.0.1,localhost")
	return p
}

// abs is the absolute path of something in the module.
func abs(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bench is a client that is run by its preset alone.
type bench struct {
	*place
	runtime *command.Runtime
	dir     string // the agent's
}

func newBench(t *testing.T, c client) *bench {
	t.Helper()
	b := &bench{place: newPlace(t, c)}
	b.dir = filepath.Join(b.home, "agents", "ana")
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	b.runtime = command.New(command.Presets(), command.Options{Environ: b.environ})
	if err := b.runtime.Check(t.Context(), b.agent(t)); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) agent(t *testing.T, settings ...object) parley.Agent {
	t.Helper()
	config := object{}
	for _, s := range append([]object{b.config}, settings...) {
		for key, value := range s {
			config[key] = value
		}
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	a := parley.Agent{ID: "ana", Kind: parley.KindAgent}
	a.Runtime, a.RuntimeConfig = b.name, text
	return a
}

// record is what those who watch a run have seen.
type record struct {
	parley.Result
	err    error
	begun  []parley.Process
	said   string
	output string
}

// run does one run, with a session to go on with or without.
func (b *bench) run(ctx context.Context, t *testing.T, session, prompt string, settings ...object) record {
	t.Helper()
	var r record
	var mu sync.Mutex
	told := parley.Prompt{System: "You are ana.", User: prompt}
	r.Result, r.err = b.runtime.Run(ctx, parley.Job{
		Run:    parley.Run{ID: uuid.NewString(), Session: session},
		Agent:  b.agent(t, settings...),
		Prompt: told,
		Fresh:  func() parley.Prompt { return told },
		Token:  "parley_canary-token-of-the-run", URL: "http://127.0.0.1:1", Dir: b.dir,
		Begin: func(_ context.Context, p parley.Process) error {
			r.begun = append(r.begun, p)
			return nil
		},
		Say: func(text string) { r.said += text },
		Log: func(output []byte) {
			mu.Lock()
			defer mu.Unlock()
			r.output += string(output)
		},
	})
	return r
}

// proxy refuses everything, and knows what was asked for.
type proxy struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.asked = append(p.asked, r.Host)
		p.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
	}))
	closeAtEnd(t, p.Server)
	return p
}

func (p *proxy) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	hosts := slices.Clone(p.asked)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// scrub takes what is of this machine out of recorded output. Claude Code also writes paths with dashes.
func (p *place) scrub(output string) string {
	return strings.NewReplacer(
		p.home, "/home/user", strings.ReplaceAll(p.home, "/", "-"), "-home-user", p.temp, "/tmp", p.tools, "/clients",
		p.api.Listener.Addr().String(), "api",
	).Replace(output)
}
