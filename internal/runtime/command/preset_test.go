package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

func TestThePresetsOfEveryClientAreThere(t *testing.T) {
	want := []string{"aider", "amp", "claude", "codex", "cursor", "gemini", "goose", "opencode", "qwen"}
	if got := New(Presets(), Options{}).Names(); !cmp.Equal(got, want) {
		t.Errorf("there are %v", got)
	}
	for name, p := range Presets() {
		if err := p.check(name); err != nil || p.Install == "" {
			t.Errorf("%s: %v, install %q", name, err, p.Install)
		}
	}
}

func TestArguments(t *testing.T) {
	p := Preset{
		Argv: []string{"x", "run", argModel, argResume, "-f", argPromptFile}, Resume: []string{"resume", argSession, "-"},
		Model: []string{"--model", argModel},
	}
	for _, test := range []struct{ session, model, want string }{
		{"", "", "run -f F"},
		{"s1", "", "run resume s1 - -f F"},
		{"", "opus", "run --model opus -f F"},
		{"s1", "opus", "run --model opus resume s1 - -f F"},
	} {
		if got := strings.Join(p.arguments(test.session, test.model, "F"), " "); got != test.want {
			t.Errorf("%q, %q: %s", test.session, test.model, got)
		}
	}
	if p.Resume[1] != argSession || p.Model[1] != argModel {
		t.Error("the preset itself was changed")
	}
}

func TestACustomPresetChangesOnlyItsOwnSettings(t *testing.T) {
	presets, err := ParsePresets([]byte(`
claude:
  argv: [/opt/claude, -p, --output-format, stream-json, --verbose, --permission-mode, plan, "{model}", "{resume}"]
  env: {MY_SETTING: "1"}
mine:
  argv: [my-program]
`))
	if err != nil {
		t.Fatal(err)
	}
	builtIn, got := Presets()["claude"], presets["claude"]
	if got.Argv[0] != "/opt/claude" || got.Env["MY_SETTING"] != "1" {
		t.Errorf("it is %+v", got)
	}
	if !cmp.Equal(got.Resume, builtIn.Resume) || !cmp.Equal(got.Pass, builtIn.Pass) || got.Lost != builtIn.Lost || got.Output != FormatClaude {
		t.Errorf("it has lost what it did not set: %+v", got)
	}
	if presets["mine"].Output != FormatText || !cmp.Equal(presets["codex"], Presets()["codex"]) {
		t.Errorf("there are %+v", presets)
	}
}

func TestAnEmptyConfigurationKeepsThePresets(t *testing.T) {
	for _, text := range []string{"", "# nothing yet\n", "{}", "null"} {
		if presets, err := ParsePresets([]byte(text)); err != nil || len(presets) != len(Presets()) {
			t.Errorf("%q: %v, %d presets", text, err, len(presets))
		}
	}
}

func TestTheTokenOfARunIsForTheSocketUnlessItsRuntimeSaysOtherwise(t *testing.T) {
	presets, err := ParsePresets([]byte("mine: {argv: [x]}\nplain: {argv: [x], run_token: socket}\ncodex: {run_token: bearer}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := New(presets, Options{})
	for runtime, want := range map[string]parley.TokenKind{
		"mine": parley.TokenRun, "plain": parley.TokenRun, "claude": parley.TokenRun, "codex": parley.TokenBearer,
	} {
		if got := r.RunToken(parley.Agent{Profile: parley.Profile{Runtime: runtime}}); got != want {
			t.Errorf("runs of %s have a token of the kind %s, want %s", runtime, got, want)
		}
	}
}

func TestWrongPresets(t *testing.T) {
	for text, want := range map[string]string{
		"- a":                                                          "line 1: runtimes must be a map",
		"mine: 3":                                                      "line 1",
		"mine:\n  argv: [x]\n  arg: y":                                 `line 3: unknown field "arg"`,
		"mine:\n  argv: x: y":                                          "line 2",
		"mine: {argv: [x]}\nmine: {argv: [y]}":                         "line 2",
		"\n\nmine: {output: text}":                                     "line 3: runtime mine: argv must begin with a program",
		`mine: {argv: ["{model}"]}`:                                    "argv must begin with a program",
		`mine: {argv: [x, "--m={model}"]}`:                             "{model} must be an argument of its own",
		`mine: {argv: [x, "{session}"]}`:                               "{session} has no meaning in argv",
		`mine: {argv: [x, "{resume}"]}`:                                "need each other",
		`mine: {argv: [x], model: ["{model}"]}`:                        "need each other",
		`mine: {argv: [x, "{resume}"], resume: [-c]}`:                  "resume has no argument {session}",
		"mine: {argv: [x], run_token: everybody}":                      `run_token "everybody" is not known: use socket or bearer`,
		"llm: {run_token: bearer}":                                     `llm is a built-in runtime, not a program`,
		"mine:\n  argv: [x]\n  input: text":                            `line 1: runtime mine: input "text" is not known: use prompt, message or json`,
		"mine: {argv: [x], output: yaml}":                              `output "yaml" is not known`,
		"Mine: {argv: [x]}":                                            "is not valid: use up to 32",
		"llm: {argv: [x]}":                                             "llm is a built-in runtime, not a program",
		"mine: {argv: [x], pass: [PARLEY_TOKEN]}":                      "PARLEY_TOKEN belongs to the hub",
		"mine: {argv: [x], pass: [A-B]}":                               "not the name of a variable",
		"mine: {argv: [x], env: {PARLEY_RUN: a}}":                      "env cannot set PARLEY_RUN",
		"mine: {argv: [x], lost: '('}":                                 "lost: error parsing regexp",
		"mine: {argv: [x], says: [{match: '(', reason: r}]}":           "is not a regular expression",
		"mine: {argv: [x], says: [{match: a}]}":                        "a cause has no reason",
		"mine: {argv: [x], exits: {3: {reason: r, failure: perhaps}}}": `failure "perhaps" is not known`,
	} {
		_, err := ParsePresets([]byte(text))
		if e := parley.AsError(err); err == nil || e.Code != parley.BadInput || !strings.Contains(e.Message, want) || e.Suggestion == "" {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestCheckNamesTheMissingProgramOrRuntime(t *testing.T) {
	r := New(Presets(), Options{Environ: []string{"PATH=" + t.TempDir()}})
	for runtime, want := range map[string][]string{
		"claude": {"the program claude of the runtime claude is missing", "npm install -g @anthropic-ai/claude-code"},
		"cloude": {`there is no runtime "cloude"`, "claude"},
		"other":  {"use one of aider, amp, claude"},
	} {
		err := r.Check(t.Context(), parley.Agent{Profile: parley.Profile{Runtime: runtime}})
		if parley.CodeOf(err) != parley.BadInput {
			t.Fatalf("%s: %v", runtime, err)
		}
		for _, words := range want {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%q does not say %q", err, words)
			}
		}
	}
}

func TestAProgramIsFoundAsAShellFindsIt(t *testing.T) {
	b := newBench(t, "claude", fakeClient{}, Options{})
	for program, found := range map[string]bool{
		"claude": true, b.bin + "/claude": true, "claude.play": false, "./claude": false, "nothing": false, b.bin: false,
	} {
		if got := lookPath(program, b.options.Environ) != ""; got != found {
			t.Errorf("%s: found %t", program, got)
		}
	}
	if lookPath("claude", []string{"PATH=.:bin"}) != "" {
		t.Error("it was found in a current directory")
	}
}

func TestTheModelIsAnArgumentOfItsOwn(t *testing.T) {
	b := newBench(t, "claude", fakeClient{Behaviour: "answer", Stdout: recording(t, "claude", "answer")}, Options{})
	dir := t.TempDir()
	b.set(fmt.Sprintf(`{"model": "claude-opus-5", "dir": %q}`, dir))
	mustRun(t, b)
	given := b.clientInput(t)
	if at := slices.Index(given.Args, "--model"); at < 0 || given.Args[at+1] != "claude-opus-5" || given.Dir != dir {
		t.Errorf("it was given %+v", given)
	}
}
