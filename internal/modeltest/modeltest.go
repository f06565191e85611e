// Package modeltest fakes the APIs of models for tests. It speaks the wire formats of Anthropic Messages, OpenAI Chat
// Completions and Responses, and Gemini generateContent, including streams and errors. The test chooses the answers.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// API is one of the wire formats.
type API string

// The wire formats.
const (
	Anthropic API = "anthropic" // POST …/messages
	Chat      API = "chat"      // POST …/chat/completions
	Responses API = "responses" // POST …/responses
	Gemini    API = "gemini"    // POST …/models/<model>:generateContent and :streamGenerateContent
)

// Request is a request of a client, in any format.
type Request struct {
	API    API
	Path   string
	Header http.Header
	Body   []byte
	Model  string
	Stream bool
	Tools  []string // names
	Texts  []string // every text of the request, in order: the system prompt, messages, results of tools
}

// HasText reports whether the texts contain a string.
func (r Request) HasText(s string) bool { return strings.Contains(strings.Join(r.Texts, "\n"), s) }

// Call is a tool that the model wants to use.
type Call struct {
	ID, Name, Args string
	Namespace      string // Responses only: the tools that the name is one of, if they are a namespace
}

// Fault is a failure in the middle of a stream.
type Fault int

// The faults.
const (
	None  Fault = iota
	Cut         // the stream ends early, as if it had been complete
	Reset       // the connection breaks
	Error       // an error event instead of the rest
	Hang        // nothing more comes until the client goes away
)

// Answer is an answer of the model.
type Answer struct {
	Text          string
	Calls         []Call
	Stop          string // the API's own word for the reason of the end; "": end of the answer, or tool calls if there are any
	Refusal       string // Chat only
	Input, Output int64  // tokens
	Fault         Fault

	// If Status is set, the server responds with Status, Header and Body, and ignores the fields above.
	Status int
	Header map[string]string
	Body   string
}

// Server is a fake API.
type Server struct {
	*httptest.Server
	answer func(Request) Answer

	mu       sync.Mutex
	requests []Request
}

// New starts a server that answers by a function. The server may call the function concurrently.
func New(answer func(Request) Answer) *Server {
	s := &Server{answer: answer}
	s.Server = httptest.NewServer(s)
	return s
}

// InOrder returns a function that returns the answers in order, and then always the last one.
func InOrder(answers ...Answer) func(Request) Answer {
	var mu sync.Mutex
	next := 0
	return func(Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		a := answers[min(next, len(answers)-1)]
		next++
		return a
	}
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api, write := formatOf(r.URL.Path)
	body, err := io.ReadAll(r.Body)
	if api == "" || r.Method != http.MethodPost || err != nil {
		http.Error(w, "not served here", http.StatusNotFound)
		return
	}
	request := parseRequest(api, r, body)
	s.mu.Lock()
	s.requests = append(s.requests, request)
	s.mu.Unlock()
	a := s.answer(request)
	if a.Status != 0 {
		writeStatus(w, a)
		return
	}
	write(&wire{w: w, r: r, request: request}, a)
}

// formatOf returns the wire format of a path, and the function that writes answers in it. It returns "" for other paths.
func formatOf(path string) (API, func(*wire, Answer)) {
	_, method, _ := strings.Cut(path[strings.LastIndex(path, "/")+1:], ":")
	switch {
	case strings.HasSuffix(path, "/messages"):
		return Anthropic, writeAnthropic
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat, writeChat
	case strings.HasSuffix(path, "/responses"):
		return Responses, writeResponses
	case method == "generateContent", method == "streamGenerateContent":
		return Gemini, writeGemini
	default:
		return "", nil
	}
}

func writeStatus(w http.ResponseWriter, a Answer) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body)
}

// parseRequest parses a request of any format, by the field names that the formats share.
func parseRequest(api API, r *http.Request, body []byte) Request {
	var parsed struct {
		Model  string
		Stream bool
		Tools  []struct {
			Name                 string
			Function             struct{ Name string }
			FunctionDeclarations []struct{ Name string }
		}
	}
	_ = json.Unmarshal(body, &parsed)
	request := Request{
		API: api, Path: r.URL.Path, Header: r.Header.Clone(), Body: body,
		Model: parsed.Model, Stream: parsed.Stream || strings.HasSuffix(r.URL.Path, ":streamGenerateContent"),
	}
	if model, _, ok := strings.Cut(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], ":"); ok {
		request.Model = model
	}
	for _, t := range parsed.Tools {
		if name := t.Name + t.Function.Name; name != "" {
			request.Tools = append(request.Tools, name)
		}
		for _, f := range t.FunctionDeclarations {
			request.Tools = append(request.Tools, f.Name)
		}
	}
	request.Texts = texts(body)
	return request
}

// texts returns the strings under the keys of texts, in the order of the body.
func texts(body []byte) (found []string) {
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	var keys []string // the open objects and arrays: "{" or "[", and the key before it
	key := ""
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
		}
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				keys, key = append(keys, string(token)+key), ""
			} else {
				keys, key = keys[:len(keys)-1], ""
			}
		case string:
			object := len(keys) > 0 && strings.HasPrefix(keys[len(keys)-1], "{")
			if object && key == "" {
				key = token
				continue
			}
			if isText(key) {
				found = append(found, token)
			}
			key = ""
		default:
			key = ""
		}
	}
}

// isText reports whether a format keeps texts under a key.
func isText(key string) bool {
	switch key {
	case "text", "content", "system", "instructions", "input", "output":
		return true
	default:
		return false
	}
}
