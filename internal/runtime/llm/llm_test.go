package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/runtime/llm"
)

func TestAnAnswerIsStreamed(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Text: "Good day, Ned. ☕\n", Input: 11, Output: 7}))
		result, err := s.run(t)
		if err != nil {
			t.Fatal(err)
		}
		want := parley.Result{Text: "Good day, Ned. ☕", Usage: parley.Usage{InputTokens: 11, OutputTokens: 7}}
		if result != want {
			t.Errorf("got %+v, want %+v", result, want)
		}
		if s.progress.String() != "Good day, Ned. ☕\n" || s.begun != 1 {
			t.Errorf("the text for watchers is %q, begun %d times", s.progress.String(), s.begun)
		}
		wantRequest(t, kind, s.api.Requests()[0])
	})
}

func wantRequest(t *testing.T, kind llm.Kind, r modeltest.Request) {
	t.Helper()
	header := r.Header.Get("Authorization")
	if kind == llm.Anthropic {
		header = "Bearer " + r.Header.Get("X-Api-Key")
	}
	var body struct {
		MaxTokens     int `json:"max_tokens"`
		Temperature   float64
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	if header != "Bearer "+canary || !r.Stream || r.Model != "model-1" || body.MaxTokens != 1000 || body.Temperature != 0.5 {
		t.Errorf("the request is %q with %s", r.Header, r.Body)
	}
	if body.StreamOptions.IncludeUsage != (kind == llm.OpenAI) {
		t.Errorf("the request does not ask for what was used: %s", r.Body)
	}
	if !r.HasText("You are Arya.") || !r.HasText("Hello?") {
		t.Errorf("the request says %q", r.Texts)
	}
	want := []string{
		"contact_agent", "send_channel_message", "read_conversation", "check_inbox", "reply", "query_workspace", "update_task", "decide_approval", "memory", "sessions_send",
	}
	if !slices.Equal(r.Tools, want) {
		t.Errorf("the tools are %q, want %q", r.Tools, want)
	}
}

func TestToolsAreUsed(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(
			modeltest.Answer{Text: "Let me tell them.", Input: 10, Output: 5, Calls: []modeltest.Call{
				{ID: "a", Name: "send_channel_message", Args: `{"channelId":"#forge","content":"Hot!"}`},
				{ID: "b", Name: "query_workspace", Args: `{"action":"whoami"}`},
				{ID: "c", Name: "send_channel_message", Args: `{"channelId":"#forge","colour":"red"}`},
				{ID: "d", Name: "launch_rockets", Args: `{}`},
			}},
			modeltest.Answer{Text: "Done.", Input: 20, Output: 3},
		))
		result, err := s.run(t)
		if err != nil {
			t.Fatal(err)
		}
		if result.Text != "Done." || result.InputTokens != 30 || result.OutputTokens != 8 || s.begun != 1 {
			t.Errorf("got %+v, begun %d times", result, s.begun)
		}
		posted := s.request.Workspace.(*workspace).posted
		if len(posted) != 1 || posted[0].Conversation != "#forge" || posted[0].Content.Text != "Hot!" {
			t.Errorf("posted %+v", posted)
		}
		second := s.api.Requests()[1]
		for _, words := range []string{
			"Posted as message m1", `You are "Arya", id arya`, `Error: the arguments are wrong: there is no "colour"`, `Error: there is no tool "launch_rockets"`,
		} {
			if !second.HasText(words) {
				t.Errorf("the model does not read %q: %q", words, second.Texts)
			}
		}
	})
}

func TestAModelThatOnlyUsesToolsIsStopped(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{
			Input: 1, Calls: []modeltest.Call{{ID: "a", Name: "query_workspace", Args: `{"action":"whoami"}`}},
		}))
		result, err := s.run(t)
		wantFailure(t, err, parley.FailureFinal, "32 times")
		if result.InputTokens != 32 || len(s.api.Requests()) != 32 {
			t.Errorf("got %+v after %d requests", result, len(s.api.Requests()))
		}
	})
}

func TestOnlyToolsOfTheRunAreOffered(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Text: "Hm."}))
		s.request.Tools = []parley.ToolDoc{{Name: "reply"}}
		if _, err := s.run(t); err != nil {
			t.Fatal(err)
		}
		if got := s.api.Requests()[0].Tools; !slices.Equal(got, []string{"reply"}) {
			t.Errorf("offered %q", got)
		}
	})
}

func TestStopReasonsEndATurn(t *testing.T) {
	stops := map[llm.Kind]map[string]string{
		llm.Anthropic: {"length": "max_tokens", "window": "model_context_window_exceeded", "refusal": "refusal"},
		llm.OpenAI:    {"length": "length", "window": "length", "refusal": "content_filter"},
	}
	call := []modeltest.Call{{ID: "a", Name: "reply", Args: `{"message":`}}
	each(t, func(t *testing.T, kind llm.Kind) {
		for _, test := range []struct {
			name   string
			answer modeltest.Answer
			text   string
			failed string // "": not
		}{
			{"long", modeltest.Answer{Text: "It is", Stop: stops[kind]["length"]}, "It is\n\n(cut off: the answer reached the limit of tokens)", ""},
			{"full", modeltest.Answer{Text: "It is", Stop: stops[kind]["window"]}, "It is\n\n(cut off: the answer reached the limit of tokens)", ""},
			{"nothing but long", modeltest.Answer{Stop: stops[kind]["length"]}, "", "max_tokens"},
			{"a call cut off", modeltest.Answer{Text: "I", Calls: call, Stop: stops[kind]["length"]}, "", "max_tokens"},
			{"refused", modeltest.Answer{Text: "I", Stop: stops[kind]["refusal"]}, "", "refuses to answer"},
			{"silent", modeltest.Answer{}, "", ""},
			{"blank", modeltest.Answer{Text: " \n"}, "", ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := newFixture(t, kind, modeltest.InOrder(test.answer))
				result, err := s.run(t)
				if result.Text != test.text {
					t.Errorf("the text is %q, want %q", result.Text, test.text)
				}
				if test.failed != "" {
					wantFailure(t, err, parley.FailureFinal, test.failed)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
	})
}

func TestARefusalSaysWhy(t *testing.T) {
	s := newFixture(t, llm.OpenAI, modeltest.InOrder(modeltest.Answer{Refusal: "I cannot help with that."}))
	_, err := s.run(t)
	wantFailure(t, err, parley.FailureFinal, "I cannot help with that.")
}

func TestARunThatMayNotBeginEnds(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Text: "Hello."}))
		gone := errors.New("the run is not live any more")
		s.request.Begin = func(context.Context, parley.Process) error { return gone }
		if _, err := s.run(t); !errors.Is(err, gone) || len(s.api.Requests()) != 1 {
			t.Errorf("%v after %d requests", err, len(s.api.Requests()))
		}
	})
}

func TestServersThatGiveEveryCallTheSameIndex(t *testing.T) {
	chunk := func(delta string, finish string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
	}
	answer := func(id, args string) string {
		return fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"type":"function","extra_content":{"google":{"thought_signature":"sig-%s"}},"function":{"name":"send_channel_message","arguments":%q}}]}`, id, id, args)
	}
	body := chunk(answer("x", `{"channelId":"a","content":"1"}`), "null") + chunk(answer("y", `{"channelId":"b","content":"2"}`), `"stop"`) + "data: [DONE]\n\n"
	s := newFixture(t, llm.OpenAI, modeltest.InOrder(
		modeltest.Answer{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}, Body: body}, modeltest.Answer{Text: "Done."},
	))
	if _, err := s.run(t); err != nil {
		t.Fatal(err)
	}
	if posted := s.request.Workspace.(*workspace).posted; len(posted) != 2 || posted[0].Conversation != "a" || posted[1].Conversation != "b" {
		t.Errorf("posted %+v", posted)
	}
	if second := string(s.api.Requests()[1].Body); !strings.Contains(second, `"sig-x"`) || !strings.Contains(second, `"sig-y"`) {
		t.Errorf("what the provider wants back is not in %s", second)
	}
}

func TestCosts(t *testing.T) {
	for _, test := range []struct {
		provider, model string
		cost            float64
	}{
		{"anthropic", "claude-opus-4-5-20251101", 5*1 + 25*0.5},
		{"anthropic", "claude-opus-4-1", 15*1 + 75*0.5},
		{"openai", "gpt-4o-mini-2024-07-18", 0.15*1 + 0.6*0.5},
		{"openai", "something-else", 0},
		{"ollama", "gpt-4o", 0},
	} {
		kind := llm.OpenAI
		if test.provider == "anthropic" {
			kind = llm.Anthropic
		}
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Text: "x", Input: 1e6, Output: 5e5}))
		runtime, err := llm.New(map[string]llm.Provider{test.provider: {BaseURL: baseURL(kind, s.api), KeyEnv: "FAKE_KEY"}}, llm.Options{
			Getenv: func(string) string { return canary },
		})
		if err != nil {
			t.Fatal(err)
		}
		s.runtime = runtime
		s.request.Agent = agentWith(fmt.Sprintf(`{"provider":%q,"model":%q}`, test.provider, test.model))
		result, err := s.run(t)
		if err != nil || math.Abs(result.Cost-test.cost) > 1e-9 {
			t.Errorf("%s: cost %v (%v), want %v", test.model, result.Cost, err, test.cost)
		}
	}
}

func TestAProviderThatSaysTheCostIsBelieved(t *testing.T) {
	body := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n" +
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1,\"total_tokens\":6,\"cost\":0.0125}}\n\ndata: [DONE]\n\n"
	s := newFixture(t, llm.OpenAI, modeltest.InOrder(modeltest.Answer{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}, Body: body}))
	result, err := s.run(t)
	if err != nil || result.Cost != 0.0125 || result.InputTokens != 5 {
		t.Errorf("%+v, %v", result, err)
	}
}
