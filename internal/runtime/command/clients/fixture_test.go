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

// client is a real client, with the settings that make it use another API.
type client struct {
	name   string
	config object // runtime_config
	shell  shell
	// set prepares its home, and returns the variables that it needs.
	set func(t *testing.T, home, api string) []string
}

// shell has the names of a client's shell tool and of its argument.
type shell struct{ tool, argument string }

// calls returns the answer of a model that runs a command in the shell.
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
		// OpenCode downloads its plugin SDK unless it is installed.
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

// setup is the environment of a client: its home, the API, and a proxy that refuses all other connections.
type setup struct {
	client
	api   *model
	proxy *proxy

	home, temp, tools string
	environ           []string
}

func newSetup(t *testing.T, c client) *setup {
	t.Helper()
	p := &setup{client: c, api: newModel(t), proxy: newProxy(t), home: t.TempDir(), temp: t.TempDir(), tools: abs(t, ".tools/clients")}
	p.environ = append(c.set(t, p.home, p.api.URL),
		"HOME="+p.home, "PATH="+filepath.Join(p.tools, "node_modules", ".bin")+":"+os.Getenv("PATH"), "TMPDIR="+p.temp, "LANG=C.UTF-8",
		"HTTP_PROXY="+p.proxy.URL, "HTTPS_PROXY="+p.proxy.URL, "NO_PROXY=127.0.0.1,localhost")
	return p
}

// abs returns the absolute path of a file in the module.
func abs(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bench is a client that its preset runs without a hub.
type bench struct {
	*setup
	runtime *command.Runtime
	dir     string // the directory of the agent
}

func newBench(t *testing.T, c client) *bench {
	t.Helper()
	b := &bench{setup: newSetup(t, c)}
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

// record is everything that a run has reported.
type record struct {
	parley.Result
	err      error
	begun    []parley.Process
	progress string
	output   string
}

// run does one run. It resumes a session unless session is "".
func (b *bench) run(ctx context.Context, t *testing.T, session, prompt string, settings ...object) record {
	t.Helper()
	var r record
	var mu sync.Mutex
	p := parley.Prompt{System: "You are ana.", User: prompt}
	r.Result, r.err = b.runtime.Run(ctx, parley.RunRequest{
		Run:    parley.Run{ID: uuid.NewString(), Session: session},
		Agent:  b.agent(t, settings...),
		Prompt: p,
		Fresh:  func() parley.Prompt { return p },
		Token:  "parley_canary-token-of-the-run", URL: "http://127.0.0.1:1", Dir: b.dir,
		Begin: func(_ context.Context, p parley.Process) error {
			r.begun = append(r.begun, p)
			return nil
		},
		Say: func(text string) { r.progress += text },
		Log: func(output []byte) {
			mu.Lock()
			defer mu.Unlock()
			r.output += string(output)
		},
	})
	return r
}

// proxy refuses all requests and records their hosts.
type proxy struct {
	*httptest.Server
	mu        sync.Mutex
	requested []string
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requested = append(p.requested, r.Host)
		p.mu.Unlock()
		w.WriteHeader(http.StatusForbidden)
	}))
	closeAtEnd(t, p.Server)
	return p
}

func (p *proxy) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	hosts := slices.Clone(p.requested)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// scrub replaces the paths and addresses of this machine in recorded output. Claude Code also writes paths with dashes.
func (p *setup) scrub(output string) string {
	return strings.NewReplacer(
		p.home, "/home/user", strings.ReplaceAll(p.home, "/", "-"), "-home-user", p.temp, "/tmp", p.tools, "/clients",
		p.api.Listener.Addr().String(), "api",
	).Replace(output)
}
