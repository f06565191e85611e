package modeltest_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/modeltest"
)

// requests are requests of clients by format: path and body.
var requests = map[modeltest.API][2]string{
	modeltest.Anthropic: {"/v1/messages", `{"model":"m","stream":true,"system":[{"type":"text","text":"be kind"}],"messages":[{"role":"user","content":"hello"}],"tools":[{"name":"reply"}]}`},
	modeltest.Chat:      {"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hello"}],"tools":[{"type":"function","function":{"name":"reply"}}]}`},
	modeltest.Responses: {"/v1/responses", `{"model":"m","stream":true,"instructions":"be kind","input":[{"role":"user","content":[{"type":"input_text","text":"hello"}]}],"tools":[{"type":"function","name":"reply"}]}`},
	modeltest.Gemini:    {"/v1beta/models/m:streamGenerateContent?alt=sse", `{"systemInstruction":{"parts":[{"text":"be kind"}]},"contents":[{"role":"user","parts":[{"text":"hello"}]}],"tools":[{"functionDeclarations":[{"name":"reply"}]}]}`},
}

func TestEveryFormat(t *testing.T) {
	for api, request := range requests {
		t.Run(string(api), func(t *testing.T) {
			s := modeltest.New(modeltest.InOrder(modeltest.Answer{
				Text: "good day", Calls: []modeltest.Call{{ID: "c1", Name: "reply", Args: `{"a":1}`}}, Input: 3, Output: 4,
			}))
			defer s.Close()
			response, err := http.Post(s.URL+request[0], "application/json", strings.NewReader(request[1]))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = response.Body.Close() }()
			wantStream(t, response.Body)
			got := s.Requests()
			if len(got) != 1 || got[0].API != api || got[0].Model != "m" || !got[0].Stream || !slices.Equal(got[0].Tools, []string{"reply"}) {
				t.Fatalf("%+v", got)
			}
			if !got[0].HasText("be kind") || !got[0].HasText("hello") || got[0].HasText("nobody said this") {
				t.Errorf("its texts are %q", got[0].Texts)
			}
		})
	}
}

// wantStream checks that every event is JSON, and that the events together contain the answer.
func wantStream(t *testing.T, body io.Reader) {
	t.Helper()
	all := ""
	for lines := bufio.NewScanner(body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		if !json.Valid([]byte(data)) {
			t.Errorf("%s is not JSON", data)
		}
		all += data
	}
	for _, words := range []string{"good", " day", `"reply"`, "c1"} {
		if !strings.Contains(all, words) {
			t.Errorf("the stream does not have %q: %s", words, all)
		}
	}
}

func TestWithoutAStream(t *testing.T) {
	for api, request := range requests {
		s := modeltest.New(modeltest.InOrder(modeltest.Answer{Text: "good day"}))
		path := strings.Replace(request[0], "streamGenerateContent?alt=sse", "generateContent", 1)
		response, err := http.Post(s.URL+path, "application/json", strings.NewReader(strings.Replace(request[1], `"stream":true,`, "", 1)))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !json.Valid(body) || !strings.Contains(string(body), "good day") {
			t.Errorf("%s: %s, %v", api, body, err)
		}
		s.Close()
	}
}

func TestNothingElseIsServed(t *testing.T) {
	s := modeltest.New(modeltest.InOrder(modeltest.Answer{Text: "good day"}))
	defer s.Close()
	response, err := http.Get(s.URL + "/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusNotFound || len(s.Requests()) != 0 {
		t.Errorf("%s, %v", response.Status, s.Requests())
	}
}
