package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-hub/parley"
)

var recorded = []string{"claude", "codex", "gemini", "opencode"}

func TestAClientIsGivenThePromptAndItsAnswerIsRead(t *testing.T) {
	for _, client := range recorded {
		t.Run(client, func(t *testing.T) {
			b := newBench(t, client, fakeClient{Behaviour: "answer", Stdout: recording(t, client, "answer")}, Options{})
			result := mustRun(t, b)
			if result.Text != "The answer is pong." || b.progress.String() != result.Text {
				t.Errorf("the answer is %q, the text for watchers is %q", result.Text, b.progress.String())
			}
			if result.Session == "" || result.InputTokens != 1100 || result.OutputTokens != 7 {
				t.Errorf("the result is %+v", result)
			}
			if client == "claude" && result.Cost == 0 {
				t.Error("the cost is not known")
			}
			given := b.clientInput(t)
			if given.Stdin != "You are ana.\n\nWhich fruit was it?" {
				t.Errorf("the prompt is %q", given.Stdin)
			}
			if want := filepath.Join(b.dir, "work"); given.Dir != want {
				t.Errorf("it works in %s, want %s", given.Dir, want)
			}
			if len(b.begun) != 1 || b.begun[0].PID == 0 {
				t.Errorf("it began with %v", b.begun)
			}
		})
	}
}

func TestASessionIsResumed(t *testing.T) {
	for client, want := range map[string][]string{
		"claude":   {"--resume", "one"},
		"codex":    {"resume", "one", "-"},
		"gemini":   {"--resume", "one"},
		"opencode": {"--session", "one"},
	} {
		b := newBench(t, client, fakeClient{Behaviour: "answer", Stdout: recording(t, client, "answer")}, Options{})
		b.session = "one"
		mustRun(t, b)
		if args := b.clientInput(t).Args; !cmp.Equal(args[len(args)-len(want):], want) {
			t.Errorf("%s was called with %q", client, args)
		}
	}
}

func TestASessionThatCannotBeOneIsNotResumed(t *testing.T) {
	for _, session := range []string{"--dangerously-skip-permissions", "../../x", "a b", "$(touch x)", strings.Repeat("x", 300)} {
		b := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: recording(t, "claude", "answer")}, Options{})
		b.session = session
		mustRun(t, b)
		given := b.clientInput(t)
		if slices.Contains(given.Args, "--resume") || !strings.Contains(given.Stdin, "All of it: ") {
			t.Errorf("it was called with %q and read %q", given.Args, given.Stdin)
		}
	}
}

func TestASessionThatIsGoneIsStartedAnew(t *testing.T) {
	for client, words := range map[string]string{
		"claude":   "No conversation found with session ID: gone",
		"codex":    "Error: thread/resume: thread/resume failed: no rollout found for thread id gone (code -32600)",
		"gemini":   `Error resuming session: Invalid session identifier "gone".`,
		"opencode": "Error: Session not found",
	} {
		t.Run(client, func(t *testing.T) {
			b := newBench(t, client, fakeClient{Behaviour: "know no session", Stdout: recording(t, client, "answer"), Stderr: words}, Options{})
			b.session = "gone"
			if result := mustRun(t, b); result.Text != "The answer is pong." || result.Session == "gone" {
				t.Errorf("the result is %+v", result)
			}
			if len(b.begun) != 2 {
				t.Errorf("it began %d times", len(b.begun))
			}
			if stdin := b.clientInput(t).Stdin; !strings.Contains(stdin, "All of it: ") {
				t.Errorf("the second process read %q", stdin)
			}
		})
	}
}

func TestAnAgentMaySayHowLongItsRunsLast(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer"}, Options{})
	for config, want := range map[string]time.Duration{
		``: 0, `{}`: 0, `{"deadline": "90m", "dir": "/"}`: 90 * time.Minute, `{"deadline": "soon"}`: 0, `{"deadline": "1ns"}`: 0, `[]`: 0,
	} {
		b.set(config)
		if got := b.Deadline(b.agent); got != want {
			t.Errorf("%s: %s, want %s", config, got, want)
		}
	}
}

// With every run, Claude Code reports the cost of the whole session. Codex also reports the tokens of the session.
func TestARunIsChargedForItselfAlone(t *testing.T) {
	for _, client := range recorded {
		t.Run(client, func(t *testing.T) {
			first := newBench(t, client, fakeClient{Behaviour: "answer", Stdout: recording(t, client, "answer")}, Options{})
			second := newBench(t, client, fakeClient{Behaviour: "answer", Stdout: recording(t, client, "resumed")}, Options{})
			second.dir = first.dir
			was, is := mustRun(t, first).Usage, mustRun(t, second).Usage
			if was.InputTokens != 1100 || was.OutputTokens != 7 {
				t.Errorf("the first run used %+v", was)
			}
			if diff := cmp.Diff(was, is, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("the second run has used something else: %s", diff)
			}
		})
	}
}

func TestATotalIsOfTheSessionOrOfTheRun(t *testing.T) {
	usage := func(in, out int64, cost float64) parley.Usage {
		return parley.Usage{InputTokens: in, OutputTokens: out, Cost: cost}
	}
	for _, test := range []struct {
		name             string
		total, run, want parley.Usage
	}{
		{"it goes on", usage(250, 25, 2.5), usage(150, 15, 2.5), usage(150, 15, 1.5)},
		{"it goes on, and subagents used something", usage(350, 35, 3), usage(150, 15, 3), usage(250, 25, 2)},
		{"it goes on, and the run reports no usage", usage(250, 25, 2.5), usage(0, 0, 0), usage(150, 15, 1.5)},
		{"it begins anew, with less", usage(50, 5, 0.5), usage(50, 5, 0.5), usage(50, 5, 0.5)},
		{"it begins anew, with more", usage(150, 15, 1.5), usage(150, 15, 1.5), usage(150, 15, 1.5)},
		{"it begins anew, and the run reports no usage", usage(50, 5, 0.5), usage(0, 0, 0), usage(50, 5, 0.5)},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := sessionTotals{t.TempDir()}
			kept.since("s", usage(100, 10, 1), usage(100, 10, 1))
			if got := kept.since("s", test.total, test.run); got != test.want {
				t.Errorf("it used %+v, want %+v", got, test.want)
			}
			if got := kept.since("s", test.total.Plus(usage(1, 1, 1)), usage(1, 1, 1)); got != usage(1, 1, 1) {
				t.Errorf("the next used %+v", got)
			}
		})
	}
}

func TestFailuresOfClientsAreClassified(t *testing.T) {
	for _, client := range recorded {
		for _, want := range []parley.Failure{parley.FailureFinal, parley.FailureBusy, parley.FailureServer} {
			t.Run(client+" "+string(want), func(t *testing.T) {
				b := newBench(t, client, fakeClient{Behaviour: "answer", Stdout: recording(t, client, string(want)), Exit: 1}, Options{})
				result, err := b.run(t.Context())
				wantFailure(t, err, want)
				if why, _ := errors.AsType[*parley.RunError](err); why.Hint == "" || strings.Contains(why.Reason, "\n    at ") {
					t.Errorf("it says %q and advises %q", why.Reason, why.Hint)
				}
				if result.Text != "" {
					t.Errorf("it answers %q all the same", result.Text)
				}
			})
		}
	}
}

func TestExitCodesHaveMeanings(t *testing.T) {
	for exit, words := range map[int]string{41: "GEMINI_API_KEY", 55: "--skip-trust", 53: "maxSessionTurns", 9: "exit code 9"} {
		b := newBench(t, "gemini", fakeClient{Behaviour: "answer", Stderr: "oh no", Exit: exit}, Options{})
		_, err := b.run(t.Context())
		wantFailure(t, err, parley.FailureFinal, words, "oh no")
	}
}

func TestAProgramOfOnesOwnAnswersWithText(t *testing.T) {
	presets, err := ParsePresets([]byte("mine: {argv: [my-program, --once]}"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBenchOf(t, presets, "mine", fakeClient{Behaviour: "answer", Stdout: "  one\ntwo\n\n"}, Options{})
	if result := mustRun(t, b); result.Text != "one\ntwo" {
		t.Errorf("the answer is %q", result.Text)
	}
	b = newBenchOf(t, presets, "mine", fakeClient{Behaviour: "answer", Stdout: "half an ans", Stderr: "no more memory", Exit: 3}, Options{})
	result, err := b.run(t.Context())
	wantFailure(t, err, parley.FailureFinal, "exit code 3", "no more memory")
	if result.Text != "" {
		t.Errorf("it answers %q all the same", result.Text)
	}
}

func TestAPromptCanGoIntoAFile(t *testing.T) {
	b := newBench(t, "aider", fakeClient{Behaviour: "answer", Stdout: "done"}, Options{})
	b.dir = filepath.Join(b.dir, "new") // the directory of an agent that works elsewhere does not exist yet
	b.set(fmt.Sprintf(`{"model": "gpt-5", "dir": %q}`, t.TempDir()))
	mustRun(t, b)
	given := b.clientInput(t)
	file := given.Args[1]
	if filepath.Dir(file) != b.dir || given.Stdin != "" || !slices.Contains(given.Args, "gpt-5") {
		t.Errorf("it was given %+v", given)
	}
	if left := files(t, b.dir); !cmp.Equal(left, []string{"work"}) {
		t.Errorf("%v is left in its directory", left)
	}
}

func TestARunThatCannotBeginTellsItsProgramNothing(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: recording(t, "claude", "answer")}, Options{})
	refused := errors.New("the run is over")
	request := b.runRequest()
	request.Begin = func(context.Context, parley.Process) error { return refused }
	if _, err := b.Run(t.Context(), request); !errors.Is(err, refused) {
		t.Errorf("it ended with %v", err)
	}
	if left := files(t, b.bin); slices.Contains(left, "claude.seen") {
		t.Error("the program had got as far as the end of its prompt")
	}
}

func TestAProgramFindsParleyAtTheEndOfItsPath(t *testing.T) {
	for _, test := range []struct{ name, path, bin, want string }{
		{"elsewhere", "/usr/bin:/bin", "/opt/parley", "/usr/bin:/bin:/opt/parley"},
		{"there already", "/opt/parley:/bin", "/opt/parley", "/opt/parley:/bin"},
		{"in a directory with such a beginning", "/opt/parley-2", "/opt/parley", "/opt/parley-2:/opt/parley"},
		{"alone", "", "/opt/parley", "/opt/parley"},
		{"not known where", "/usr/bin", "", "/usr/bin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			own := []string{"LANG=C", "PATH=" + test.path}
			env, _ := environment(withBin(own, test.bin), Preset{}, settings{}, parley.RunRequest{})
			if got := valueOf("PATH", env); got != test.want {
				t.Errorf("its PATH is %q, want %q", got, test.want)
			}
			if own[1] != "PATH="+test.path {
				t.Errorf("the hub's own became %q", own[1])
			}
		})
	}
}
