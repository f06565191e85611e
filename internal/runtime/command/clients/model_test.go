//go:build clients

package clients

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley/internal/modeltest"
)

// answer is what the model says, unless a test has it say something else, and what it says it used.
const (
	answer       = "The answer is pong."
	inputTokens  = 1100
	outputTokens = 7
)

var theAnswer = modeltest.Answer{Text: answer, Input: inputTokens, Output: outputTokens}

// silence begins, and never goes on.
var silence = modeltest.Answer{Text: "I wonder", Fault: modeltest.Hang}

// refusal is a status instead of an answer.
func refusal(status int) modeltest.Answer {
	return modeltest.Answer{Status: status, Body: fmt.Sprintf(
		`{"type": "error", "error": {"type": "api_error", "message": "refused with status %d", "code": %d}}`, status, status)}
}

// model is the API that a client is pointed at.
type model struct {
	*modeltest.Server
	arrived chan struct{} // a request has come

	mu     sync.Mutex
	answer func(modeltest.Request) modeltest.Answer
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{arrived: make(chan struct{}, 100)}
	m.says(theAnswer)
	m.Server = modeltest.New(m.turn)
	closeAtEnd(t, m.Server.Server)
	return m
}

func closeAtEnd(t *testing.T, s *httptest.Server) {
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
}

// says has it answer everything in the same way.
func (m *model) says(a modeltest.Answer) {
	m.does(func(modeltest.Request) modeltest.Answer { return a })
}

func (m *model) does(answer func(modeltest.Request) modeltest.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = answer
}

func (m *model) turn(r modeltest.Request) modeltest.Answer {
	m.mu.Lock()
	answer := m.answer
	m.mu.Unlock()
	select {
	case m.arrived <- struct{}{}:
	default:
	}
	return answer(r)
}

// fallsSilent has it say nothing from now on: what arrives next is not answered.
func (m *model) fallsSilent() {
	m.says(silence)
	for len(m.arrived) > 0 {
		<-m.arrived
	}
}

// asked is the newest request with these words. Clients also ask for other things than an answer, like a title.
func (m *model) asked(t *testing.T, words ...string) modeltest.Request {
	t.Helper()
	requests := m.Requests()
	for _, r := range slices.Backward(requests) {
		if !slices.ContainsFunc(words, func(w string) bool { return !r.Says(w) }) {
			return r
		}
	}
	t.Fatalf("of %d requests none has all of %q", len(requests), words)
	return modeltest.Request{}
}

// having are the texts of a request in which there are these words.
func having(r modeltest.Request, words string) (found []string) {
	for _, text := range r.Texts {
		if strings.Contains(text, words) {
			found = append(found, text)
		}
	}
	return found
}
