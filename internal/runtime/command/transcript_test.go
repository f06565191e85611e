package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

// readAll parses lines, and returns the transcript and the text for watchers.
func readAll(format Format, lines ...string) (t transcript, shown string) {
	for _, line := range lines {
		text, _ := parsers[format](&t, []byte(line))
		shown += text
	}
	return t, shown
}

func TestTheAnswerIsTheTextAfterTheLastTool(t *testing.T) {
	for format, lines := range map[Format][]string{
		FormatGemini: {
			`{"type":"message","role":"assistant","content":"Let me","delta":true}`, `{"type":"tool_use","tool_name":"read"}`,
			`{"type":"message","role":"assistant","content":" look.","delta":true}`,
			`{"type":"tool_result","status":"success"}`,
			`{"type":"message","role":"assistant","content":"It is ","delta":true}`,
			`{"type":"message","role":"assistant","content":"42.","delta":true}`,
			`{"type":"result","status":"success","stats":{"input_tokens":5,"output_tokens":2}}`,
		},
		FormatOpenCode: {
			`{"type":"step_start","sessionID":"s"}`, `{"type":"text","part":{"type":"text","text":"Let me look."}}`,
			`{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":2,"output":1},"cost":0.5}}`,
			`{"type":"step_start"}`, `{"type":"text","part":{"type":"text","text":"It is 42."}}`,
			`{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1,"output":1,"cache":{"read":2}},"cost":0.25}}`,
		},
		FormatGoose: {
			`{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"Let me look."}]}}`,
			`{"type":"message","message":{"role":"user","content":[{"type":"toolResponse"}]}}`,
			`{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"It is "}]}}`,
			`{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"42."}]}}`,
			`{"type":"complete","total_tokens":7}`,
		},
		FormatCodex: {
			`{"type":"item.completed","item":{"type":"agent_message","text":"Let me look."}}`,
			`{"type":"item.completed","item":{"type":"command_execution"}}`,
			`{"type":"item.completed","item":{"type":"agent_message","text":"It is 42."}}`,
			`{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":2}}`,
		},
		FormatClaude: {
			`{"type":"assistant","message":{"content":[{"type":"text","text":"Let me look."},{"type":"tool_use","name":"Read"}]}}`,
			`{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"text","text":"I am a subagent."}]}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":"It is 42."}]}}`,
			`{"type":"result","subtype":"success","result":"It is 42.","usage":{"input_tokens":5,"output_tokens":2}}`,
		},
	} {
		read, shown := readAll(format, lines...)
		if !read.done || string(read.text) != "It is 42." || shown != "Let me look.It is 42." {
			t.Errorf("%s: %+v, shown %q", format, read, shown)
		}
		if used := read.usage.Plus(read.total); used.InputTokens+used.OutputTokens != 7 {
			t.Errorf("%s: used %+v", format, used)
		}
	}
}

func TestAStreamThatEndsWithToolsIsNotDone(t *testing.T) {
	read, _ := readAll(FormatOpenCode, `{"type":"text","part":{"text":"Let me look."}}`, `{"type":"step_finish","part":{"reason":"tool-calls"}}`)
	if read.done {
		t.Error("it is done")
	}
}

func TestErrorsOfEveryFormat(t *testing.T) {
	for format, line := range map[Format]string{
		FormatClaude:   `{"type":"result","subtype":"error_max_turns","is_error":true}`,
		FormatCodex:    `{"type":"turn.failed","error":{"message":""}}`,
		FormatGemini:   `{"type":"result","status":"error"}`,
		FormatOpenCode: `{"type":"error","error":{"name":"UnknownError"}}`,
		FormatGoose:    `{"type":"error","error":"no provider"}`,
	} {
		if read, _ := readAll(format, line); !read.done || read.failure == "" {
			t.Errorf("%s: %+v", format, read)
		}
	}
}

func TestStatusesHaveMeanings(t *testing.T) {
	for words, want := range map[string]parley.Failure{
		"exceeded retry limit, last status: 429 Too Many Requests":     parley.FailureBusy,
		"API Error: 529 Overloaded":                                    parley.FailureServer,
		"API Error: Request rejected (429)":                            "", // Claude Code tells the status besides
		`{"error":{"code":503,"message":"x"}}`:                         parley.FailureServer,
		"Attempt 1 failed with status 429. Retrying with backoff":      parley.FailureBusy,
		"the model is overloaded":                                      parley.FailureServer,
		"took 500 ms and 429 tokens":                                   "",
		"status code: 401":                                             parley.FailureFinal,
		"You exceeded your current quota: RESOURCE_EXHAUSTED":          parley.FailureBusy,
		"unexpected status 529 <unknown status code>, url: http://api": parley.FailureServer,
	} {
		if cause, known := (Preset{}).cause(0, words, 1); cause.Failure != want || known != (want != "") {
			t.Errorf("%q is %q, want %q", words, cause.Failure, want)
		}
	}
}

// A parser accepts any output. It reports the end of the answer only after an event that ends the answer.
func TestAnyOutputCanBeRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]Format{FormatClaude, FormatCodex, FormatGemini, FormatOpenCode, FormatGoose}).Draw(t, "format")
		var read transcript
		for _, line := range rapid.SliceOf(rapid.String()).Draw(t, "lines") {
			quoted, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			parsers[format](&read, []byte(line))
			parsers[format](&read, []byte(`{"type":`+string(quoted)+`,"message":`+string(quoted)+`}`))
		}
		if read.done && read.failure == "" {
			t.Fatalf("it is done: %+v", read)
		}
	})
}

// readLines returns the same lines however the stream is cut into reads.
func TestLinesAreWholeHoweverTheyCome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[a-zé{}" ]{0,20}`)).Draw(t, "lines")
		var got []string
		cut := rapid.IntRange(1, 9).Draw(t, "cut")
		err := readLines(&slowReader{strings.Join(append(want, ""), "\n"), cut}, func(line string) { got = append(got, line) })
		if err != nil || !cmp.Equal(got, want) && len(got)+len(want) > 0 {
			t.Fatalf("%q, %v, want %q", got, err, want)
		}
	})
}
