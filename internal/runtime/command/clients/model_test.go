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

// answer is the default answer of the model, with the usage that it reports.
const (
	answer       = "The answer is pong."
	inputTokens  = 1100
	outputTokens = 7
)

var theAnswer = modeltest.Answer{Text: answer, Input: inputTokens, Output: outputTokens}

// silence begins an answer and never continues it.
var silence = modeltest.Answer{Text: "I wonder", Fault: modeltest.Hang}

// refusal returns an error response with a status.
func refusal(status int) modeltest.Answer {
	return modeltest.Answer{Status: status, Body: fmt.Sprintf(
		`{"type": "error", "error": {"type": "api_error", "message": "refused with status %d", "code": %d}}`, status, status)}
}

// model is the fake API that a client uses.
type model struct {
	*modeltest.Server
	arrived chan struct{} // receives when a request has arrived

	mu     sync.Mutex
	answer func(modeltest.Request) modeltest.Answer
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{arrived: make(chan struct{}, 100)}
	m.answerAlways(theAnswer)
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

// answerAlways makes the model give the same answer to every request.
func (m *model) answerAlways(a modeltest.Answer) {
	m.answerBy(func(modeltest.Request) modeltest.Answer { return a })
}

// answerBy makes the model answer by a function.
func (m *model) answerBy(answer func(modeltest.Request) modeltest.Answer) {
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

// stopAnswering makes the model answer no further request. The next value of arrived is from such a request.
func (m *model) stopAnswering() {
	m.answerAlways(silence)
	for len(m.arrived) > 0 {
		<-m.arrived
	}
}

// findRequest returns the newest request that contains all these words. Clients also send requests for other things than an
// answer, such as a title.
func (m *model) findRequest(t *testing.T, words ...string) modeltest.Request {
	t.Helper()
	requests := m.Requests()
	for _, r := range slices.Backward(requests) {
		if !slices.ContainsFunc(words, func(w string) bool { return !r.HasText(w) }) {
			return r
		}
	}
	t.Fatalf("of %d requests none has all of %q", len(requests), words)
	return modeltest.Request{}
}

// textsWith returns the texts of a request that contain these words.
func textsWith(r modeltest.Request, words string) (found []string) {
	for _, text := range r.Texts {
		if strings.Contains(text, words) {
			found = append(found, text)
		}
	}
	return found
}
