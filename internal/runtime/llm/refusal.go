package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/parley-hub/parley"
)

var errCutOff = errors.New("the answer breaks off")

const maxReason = 500 // characters of what an API says

// refusal is the error response of an API.
type refusal struct {
	status  int    // 200: within the stream
	word    string // the API's own for it
	message string
	after   time.Duration
}

// refusalOf returns the error response in an error, if it has one.
func refusalOf(err error) (r refusal, ok bool) {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		r = parsed(e.RawJSON())
		r.status, r.after = e.StatusCode, retryAfter(e.Response)
		return r, true
	}
	if e, ok := errors.AsType[*openai.Error](err); ok {
		r = refusal{status: e.StatusCode, word: e.Code + " " + e.Type, message: e.Message, after: retryAfter(e.Response)}
		return r, true
	}
	if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
		r = parsed(string(e.Event.Data))
		r.status = http.StatusOK
		return r, true
	}
	return refusal{}, false
}

// parsed reads {"error": {…}}, in which all agree more or less.
func parsed(raw string) refusal {
	var body struct {
		Error struct {
			Type    string
			Code    any
			Message string
		}
	}
	if json.Unmarshal([]byte(raw), &body) != nil {
		return refusal{}
	}
	return refusal{word: fmt.Sprint(body.Error.Code, " ", body.Error.Type), message: body.Error.Message}
}

// retryAfter returns how long an API asks to wait, or 0.
func retryAfter(response *http.Response) time.Duration {
	if response == nil {
		return 0
	}
	if ms, err := strconv.ParseFloat(response.Header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 24*3600) * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// failure is what kind of failure a refusal is.
func (r refusal) failure() parley.Failure {
	says := func(words ...string) bool {
		for _, word := range words {
			if strings.Contains(r.word, word) {
				return true
			}
		}
		return false
	}
	switch {
	case says("insufficient_quota", "billing_error"):
		return parley.FailureFinal
	case r.status == http.StatusTooManyRequests, r.status == 529, says("overloaded", "rate_limit"):
		return parley.FailureBusy
	case r.status >= 500, r.status == http.StatusRequestTimeout, r.status == http.StatusConflict:
		return parley.FailureServer
	case r.status == http.StatusOK && !says("invalid_request", "authentication", "permission", "not_found"):
		return parley.FailureServer
	default:
		return parley.FailureFinal
	}
}

// hint is what to do about a refusal that stands.
func (x *exchange) hint(r refusal) string {
	switch {
	case r.failure() != parley.FailureFinal:
		return ""
	case strings.Contains(r.word, "insufficient_quota"), strings.Contains(r.word, "billing_error"), r.status == http.StatusPaymentRequired:
		return "see to the account at provider " + x.settings.Provider
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		return "check the key in " + x.provider.where()
	case r.status == http.StatusNotFound:
		return fmt.Sprintf("check whether provider %s has the model %q, and its base_url", x.settings.Provider, x.settings.Model)
	case r.status == http.StatusRequestEntityTooLarge:
		return "lower the agent's context_messages, or set context_tokens"
	default:
		return "check the agent's runtime_config"
	}
}

func (p Provider) where() string {
	switch {
	case p.KeyEnv != "":
		return "the variable " + p.KeyEnv
	case p.KeyFile != "":
		return "the file " + p.KeyFile
	default:
		return "config.yaml: this provider has none (key_env or key_file)"
	}
}

// runError turns an error into the failure of the run. The failure names the provider and never contains the key.
func (x *exchange) runError(err error) *parley.RunError {
	if e, ok := errors.AsType[*parley.RunError](err); ok {
		return e
	}
	name := "provider " + x.settings.Provider
	if r, ok := refusalOf(err); ok {
		reason := name + " answers " + r.title()
		if r.message != "" {
			reason += ": " + x.cleanText(r.message)
		}
		return &parley.RunError{Trouble: parley.Trouble{Failure: r.failure(), Reason: reason, After: r.after}, Hint: x.hint(r)}
	}
	e := &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureServer, Reason: name + ": " + x.cleanText(err.Error())}}
	if errors.Is(err, errRedirect) || errors.Is(err, errTooLarge) {
		e.Failure, e.Hint = parley.FailureFinal, "check the base_url of the provider"
	}
	return e
}

func (r refusal) title() string {
	if r.status == http.StatusOK {
		return "with an error"
	}
	if text := http.StatusText(r.status); text != "" {
		return fmt.Sprintf("%d %s", r.status, text)
	}
	return strconv.Itoa(r.status)
}

// cleanText returns a text of an API on one line, shortened, and without the key.
func (x *exchange) cleanText(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(redact(text, x.key), "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return text
}
