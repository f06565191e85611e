package command

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// Row "Command injection": the runtime writes text to stdin, keeps argv constant, and uses no shell.
func TestCommandInjection(t *testing.T) {
	answer := recording(t, "claude", "answer")
	plain := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: answer}, Options{})
	mustRun(t, plain)
	want := plain.clientInput(t).Args
	for _, body := range []string{
		"--settings=x", "--dangerously-skip-permissions", "-", "$(touch x)", "`touch x`", "; touch x", "| touch x",
		"hello\n--settings=x\n", "{session}", "{model}", "{prompt-file}", "\x04\x1b", strings.Repeat("--settings=x ", 20_000),
	} {
		b := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: answer}, Options{})
		b.prompt = parley.Prompt{User: body}
		mustRun(t, b)
		given := b.clientInput(t)
		if !cmp.Equal(given.Args, want) {
			t.Errorf("%.40q changed the arguments to %q", body, given.Args)
		}
		if given.Stdin != body {
			t.Errorf("%.40q arrived as %.80q", body, given.Stdin)
		}
		for _, dir := range []string{b.dir, b.bin, given.Dir} {
			if slices.Contains(files(t, dir), "x") {
				t.Errorf("%.40q was executed", body)
			}
		}
	}
}

// The API can set an agent's runtime_config, so it cannot set a program, an argument or a flag.
func TestCommandInjectionBySettings(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer"}, Options{})
	for _, config := range []string{
		`{"argv": ["/bin/sh"]}`, `{"Model": "x"}`, `{"model": "a", "model": "b"}`, `{"model": "--settings=x"}`, `{"model": "-p"}`,
		`{"model": "a b"}`, `{"model": "a\nb"}`, `{"model": "$(touch x)"}`, `{"dir": "work"}`, `{"dir": "/there/is/no/such"}`,
		`{"dir": "../.."}`, `{"deadline": "soon"}`, `{"deadline": "999ms"}`, `{"deadline": "169h"}`, `{"env": ["PARLEY_TOKEN"]}`, `{"env": ["PGPASSWORD"]}`,
		`{"env": ["A=B"]}`, `{"env": ["DATABASE_URL"]}`, `{"env": ["PARLEY_DATABASE_URL"]}`, `[]`, `"x"`,
	} {
		b.set(config)
		err := b.Check(t.Context(), b.agent)
		if e := parley.AsError(err); err == nil || e.Code != parley.BadInput || e.Suggestion == "" {
			t.Errorf("%s: %v", config, err)
		}
	}
}

// canaries is an environment of the hub with secrets that no program may get.
var canaries = []string{
	"PARLEY_TOKEN=canary-owner", "PARLEY_DATABASE=postgres://u:canary-db@h/d", "DATABASE_URL=canary-url", "PGPASSWORD=canary-pg",
	"GEMINI_API_KEY=canary-gemini", "AWS_SECRET_ACCESS_KEY=canary-aws", "GITHUB_TOKEN=canary-github", "SSH_AUTH_SOCK=canary-ssh",
	"CLAUDECODE=canary-nested", "CLAUDE_CODE_ENTRYPOINT=canary-nested", "CODEX_THREAD_ID=canary-nested", "MY_VAR=canary-mine",
	"LD_PRELOAD=canary-preload", "NODE_OPTIONS=canary-node",
}

// Row "Environment leak": a program gets only the variables on the list.
func TestEnvironmentLeak(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: recording(t, "claude", "answer")}, Options{
		Environ: append(slices.Clone(canaries), "ANTHROPIC_API_KEY=sk-ant-its-own", "LC_ALL=C", "HTTPS_PROXY=http://proxy"),
	})
	b.set(`{"env": ["MY_NAMED"]}`)
	b.options.Environ = append(b.options.Environ, "MY_NAMED=wanted")
	mustRun(t, b)
	env := b.clientInput(t).Env
	if text := strings.Join(env, "\n"); strings.Contains(text, "canary") {
		t.Errorf("it was given\n%s", text)
	}
	for _, want := range []string{
		"ANTHROPIC_API_KEY=sk-ant-its-own", "LC_ALL=C", "HTTPS_PROXY=http://proxy", "MY_NAMED=wanted", "TERM=dumb",
		"PARLEY_TOKEN=" + runToken, "PARLEY_RUN=" + b.id, "PARLEY_URL=http://127.0.0.1:7717", "DISABLE_AUTOUPDATER=1",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

// fakeHub is the argument that makes the test program act as a hub with secrets in its environment.
const fakeHub = "fake hub"

// Row "Environment leak": a child cannot read the environment of its parent in /proc.
func TestEnvironmentLeakFromTheParent(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		return // this system does not show environments in /proc
	}
	for _, hidden := range []bool{false, true} {
		dir := t.TempDir()
		install(t, dir, "claude", fakeClient{Behaviour: "answer", Stdout: recording(t, "claude", "answer")})
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		hub := exec.Command(self, fakeHub, fmt.Sprint(hidden))
		hub.Env = append(slices.Clone(canaries), "PATH="+dir, "HOME="+dir)
		if out, err := hub.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if leaked := strings.Contains(readClientInput(t, dir, "claude").ParentEnviron, "canary"); leaked == hidden {
			t.Errorf("hidden %t: the child sees its parent's secrets: %t", hidden, leaked)
		}
	}
}

// runFakeHub does one run. If hide is "true", it first erases its environment in /proc. os.Getenv must still work.
func runFakeHub(hide string) int {
	if hide == "true" {
		if err := EraseEnviron(); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	r := New(Presets(), Options{})
	_, err := r.Run(context.Background(), parley.RunRequest{
		Agent: parley.Agent{ID: "ana", Profile: parley.Profile{Runtime: "claude"}}, Dir: os.Getenv("HOME"),
		Begin: func(context.Context, parley.Process) error { return nil },
		Say:   func(string) {}, Log: func([]byte) {},
	})
	if err != nil || os.Getenv("PARLEY_TOKEN") != "canary-owner" {
		fmt.Println(err, os.Getenv("PARLEY_TOKEN"))
		return 1
	}
	return 0
}

// Row "Secrets in logs": the runtime removes credentials from the output of a client.
func TestSecretsInLogs(t *testing.T) {
	const key = "sk-ant-canary-0123456789"
	b := newBench(t, "claude", fakeClient{
		Behaviour: "answer", Stdout: "using " + key + "\n", Stderr: "bad key " + key + " and token " + runToken + "\n", Exit: 1,
	}, Options{Environ: []string{"ANTHROPIC_API_KEY=" + key}})
	_, err := b.run(t.Context())
	wantFailure(t, err, parley.FailureFinal, "bad key [hidden] and token [hidden]")
	if text := err.Error() + b.output.String(); strings.Contains(text, "canary") || strings.Contains(text, runToken) {
		t.Errorf("a secret is in %s", text)
	}
}

// Row "Secrets in logs": the runtime removes credentials from an answer, if a sender has talked a client into revealing them.
func TestSecretsInAnswers(t *testing.T) {
	const passed, set = "sk-ant-canary-0123456789", "canary-of-the-configuration"
	presets := Presets()
	preset := presets["claude"]
	preset.Output, preset.Env = FormatText, map[string]string{"MY_API_KEY": set}
	presets["claude"] = preset
	b := newBenchOf(t, presets, "claude", fakeClient{
		Behaviour: "answer", Stdout: fmt.Sprintf("the keys are %s and %s, the token is %s\n", passed, set, runToken),
	}, Options{Environ: []string{"ANTHROPIC_API_KEY=" + passed}})
	result := mustRun(t, b)
	const want = "the keys are [hidden] and [hidden], the token is [hidden]"
	for where, text := range map[string]string{"the answer": result.Text, "what is shown": b.progress.String(), "the output": b.output.String()} {
		if strings.TrimSpace(text) != want {
			t.Errorf("%s is %q", where, text)
		}
	}
}

// Row "Bombs": the memory for an answer in many pieces is proportional to its size, in every format.
func TestBombsOfManyPieces(t *testing.T) {
	const pieces, most = 20_000, 64 << 20
	for format, piece := range map[Format]string{
		FormatText:     "x",
		FormatGemini:   `{"type":"message","role":"assistant","content":"xxxxxxxxxxxxxxxxxxxx","delta":true}`,
		FormatOpenCode: `{"type":"text","part":{"type":"text","text":"xxxxxxxxxxxxxxxxxxxx"}}`,
	} {
		var read transcript
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range pieces {
			parsers[format](&read, []byte(piece))
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > most || len(read.text) < pieces {
			t.Errorf("%s: %d bytes were used for an answer of %d", format, used, len(read.text))
		}
	}
}

// Other users cannot read the working directory of a run.
func TestAWorkingDirectoryIsPrivate(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: recording(t, "claude", "answer")}, Options{})
	mustRun(t, b)
	info, err := os.Stat(filepath.Join(b.dir, "work"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
