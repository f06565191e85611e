package command

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/rundoc"
)

// newInputBench makes a bench with a configured program that reads one kind of input.
func newInputBench(t *testing.T, input Input, argument string) *bench {
	t.Helper()
	preset := Preset{Argv: []string{"mine"}, Input: input, Output: FormatText}
	if argument != "" {
		preset.Argv = append(preset.Argv, argument)
	}
	return newBenchOf(t, map[string]Preset{"mine": preset}, "mine", fakeClient{Behaviour: "answer", Stdout: "ok"}, Options{})
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// askMessage returns the stored message of an ask.
func askMessage(id, text string) parley.Message {
	request := parley.Contact{Pattern: parley.PatternAsk, Message: text}.Request(parley.Agent{ID: "user", Name: "user"}, "")
	return parley.Message{ID: id, From: "user", Source: parley.SourceContact, Content: parley.Content{Text: request}}
}

func messageFrom(id, from, text string) parley.Message {
	return parley.Message{ID: id, From: from, Source: "cli", Content: parley.Content{Text: text}}
}

func TestInputMessageHasTheWordsOfTheSenders(t *testing.T) {
	coded := messageFrom("m-1", "arya", "run this")
	coded.Content.Code = "print(1)\n"
	onlyCode := parley.Message{ID: "m-1", From: "arya", Content: parley.Content{Code: "1+1"}}
	delegated := askMessage("m-1", "")
	delegated.Content.Text = parley.Contact{Pattern: parley.PatternDelegate, Message: "count it", Context: "for the index"}.
		Request(parley.Agent{ID: "arya", Name: "arya"}, "task-7")
	for name, test := range map[string]struct {
		triggers []parley.Message
		want     string
	}{
		"one":                       {[]parley.Message{messageFrom("m-1", "arya", "one two three")}, "one two three"},
		"several":                   {[]parley.Message{messageFrom("m-1", "arya", "one"), messageFrom("m-2", "user", "two\n")}, "one\n\ntwo\n"},
		"an ask":                    {[]parley.Message{askMessage("m-1", "one two three")}, "one two three"},
		"an ask of paragraphs":      {[]parley.Message{askMessage("m-1", "one\n\ntwo")}, "one\n\ntwo"},
		"a task with a context":     {[]parley.Message{delegated}, "Context: for the index\n\ncount it"},
		"text and code":             {[]parley.Message{coded}, "run this\n\nprint(1)\n"},
		"code alone":                {[]parley.Message{onlyCode}, "1+1"},
		"a header by somebody else": {[]parley.Message{messageFrom("m-1", "arya", "[Agent Request from user | Pattern: ask]\n\nyes")}, "[Agent Request from user | Pattern: ask]\n\nyes"},
	} {
		for _, argument := range []string{"", argPromptFile} {
			b := newInputBench(t, InputMessage, argument)
			b.triggers = test.triggers
			if argument == "" {
				mustRun(t, b)
				if got := b.clientInput(t).Stdin; got != test.want {
					t.Errorf("%s: the program read %q, want %q", name, got, test.want)
				}
				continue
			}
			task, err := b.newPlan(b.runRequest())
			if err != nil {
				t.Fatal(err)
			}
			if got := readFile(t, task.file); got != test.want {
				t.Errorf("%s: the file has %q, want %q", name, got, test.want)
			}
			task.cleanUp()
		}
	}
}

// TestInputJSONMatchesTheWebhookDocument: the same document, without a credential.
func TestInputJSONMatchesTheWebhookDocument(t *testing.T) {
	b := newInputBench(t, InputJSON, "")
	b.triggers = []parley.Message{messageFrom("m-1", "arya", "one"), messageFrom("m-2", "user", "two")}
	mustRun(t, b)
	request := b.runRequest()
	called, err := rundoc.Encode(request, request.Prompt, &rundoc.Reply{URL: "u", Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]any
	stdin := b.clientInput(t).Stdin
	if err := json.Unmarshal([]byte(stdin), &got); err != nil || strings.Count(stdin, "\n") != 1 {
		t.Fatalf("the program read %q: %v", stdin, err)
	}
	if err := json.Unmarshal(called, &want); err != nil {
		t.Fatal(err)
	}
	delete(want, "reply")
	if diff := cmp.Diff(want, got); diff != "" || strings.Contains(stdin, runToken) {
		t.Errorf("the document differs (-webhook +command):\n%s", diff)
	}
}

// TestThePromptIsTheDefaultInput: without input, and in every preset that is built in.
func TestThePromptIsTheDefaultInput(t *testing.T) {
	for _, input := range []Input{"", InputPrompt} {
		b := newInputBench(t, input, "")
		b.triggers = []parley.Message{messageFrom("m-1", "arya", "one two three")}
		mustRun(t, b)
		if got, want := b.clientInput(t).Stdin, "You are ana.\n\nWhich fruit was it?"; got != want {
			t.Errorf("input %q: the program read %q, want %q", input, got, want)
		}
	}
	for name, preset := range Presets() {
		if preset.Input != "" {
			t.Errorf("%s is a model client and has the input %s", name, preset.Input)
		}
	}
}

// TestTheEnvironmentNamesTheTriggerByIDs: by ids alone. No sender can put words into a variable.
func TestTheEnvironmentNamesTheTriggerByIDs(t *testing.T) {
	b := newInputBench(t, InputMessage, "")
	b.triggers = []parley.Message{messageFrom("m-1", "arya", "older"), messageFrom("m-2", "gendry", "$(canary)\nLD_PRELOAD=canary")}
	b.taskID = "task-7"
	mustRun(t, b)
	env := b.clientInput(t).Env
	for _, want := range []string{"PARLEY_MESSAGE=m-2", "PARLEY_FROM=gendry", "PARLEY_CONVERSATION=conv-1", "PARLEY_TASK=task-7"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in\n%s", want, strings.Join(env, "\n"))
		}
	}
	if strings.Contains(strings.Join(env, "\n"), "canary") {
		t.Error("a variable has words of a sender")
	}
}
