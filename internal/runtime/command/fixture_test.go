package command

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// bench is a runtime with one fake client.
type bench struct {
	*Runtime
	program  string
	bin      string // the directory of the client
	dir      string // the directory of the agent
	agent    parley.Agent
	id       string // the id of the run
	session  string
	taskID   string
	prompt   parley.Prompt
	triggers []parley.Message

	mu       sync.Mutex
	begun    []parley.Process
	progress strings.Builder
	output   strings.Builder
	onLog    func(text string)
}

const runToken = "parley_secret-of-this-run-only-0123456789"

// newBench makes a bench with a fake client for a built-in preset.
func newBench(t *testing.T, preset string, p fakeClient, o Options) *bench {
	t.Helper()
	return newBenchOf(t, Presets(), preset, p, o)
}

func newBenchOf(t *testing.T, presets map[string]Preset, preset string, p fakeClient, o Options) *bench {
	t.Helper()
	b := &bench{
		program: presets[preset].Argv[0], bin: t.TempDir(), dir: t.TempDir(), id: uuid.NewString(), onLog: func(string) {},
		prompt: parley.Prompt{System: "You are ana.", User: "Which fruit was it?"},
	}
	if !filepath.IsAbs(b.program) {
		install(t, b.bin, b.program, p)
	}
	o.Environ = append(o.Environ, "PATH="+b.bin, "HOME="+t.TempDir())
	if o.Grace == 0 {
		o.Grace = 50 * time.Millisecond
	}
	b.Runtime = New(presets, o)
	b.agent = parley.Agent{ID: "ana", Kind: parley.KindAgent, Profile: parley.Profile{Runtime: preset}}
	return b
}

func (b *bench) set(config string) { b.agent.RuntimeConfig = json.RawMessage(config) }

func (b *bench) runRequest() parley.RunRequest {
	return parley.RunRequest{
		Run: parley.Run{ID: b.id, Session: b.session, Conversation: "conv-1", Task: b.taskID}, Agent: b.agent, Prompt: b.prompt, Triggers: b.triggers,
		Fresh: func() parley.Prompt {
			return parley.Prompt{System: b.prompt.System, User: "All of it: " + b.prompt.User}
		},
		Token: runToken, URL: "http://127.0.0.1:7717", Dir: b.dir,
		Begin: func(_ context.Context, p parley.Process) error {
			b.begun = append(b.begun, p)
			return nil
		},
		Say: func(text string) { b.progress.WriteString(text) },
		Log: func(output []byte) {
			b.mu.Lock()
			b.output.Write(output)
			text := b.output.String()
			b.mu.Unlock()
			b.onLog(text)
		},
	}
}

func (b *bench) run(ctx context.Context) (parley.Result, error) { return b.Run(ctx, b.runRequest()) }

func (b *bench) clientInput(t *testing.T) clientInput {
	t.Helper()
	return readClientInput(t, b.bin, b.program)
}

func mustRun(t *testing.T, b *bench) parley.Result {
	t.Helper()
	result, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func wantFailure(t *testing.T, err error, want parley.Failure, words ...string) {
	t.Helper()
	why, ok := errors.AsType[*parley.RunError](err)
	if !ok || why.Failure != want {
		t.Fatalf("the run ended with %v (%T), want %s", err, err, want)
	}
	for _, w := range words {
		if !strings.Contains(why.Error(), w) {
			t.Errorf("%q does not say %q", why, w)
		}
	}
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		names = append(names, filepath.Base(entry.Name()))
	}
	return names
}
