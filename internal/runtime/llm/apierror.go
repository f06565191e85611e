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

var errCutOff = errors.New("the answer ended before it was complete")

const maxReason = 500 // characters of a text of an API

// apiError is the error response of an API.
type apiError struct {
	status  int    // 200 if the error is an event of a stream
	codes   string // the code and the type of the error, in the words of the API
	message string
	after   time.Duration
}

// apiErrorOf returns the error response in an error, if it has one.
func apiErrorOf(err error) (r apiError, ok bool) {
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		r = parseAPIError(e.RawJSON())
		r.status, r.after = e.StatusCode, retryAfter(e.Response)
		return r, true
	}
	if e, ok := errors.AsType[*openai.Error](err); ok {
		r = apiError{status: e.StatusCode, codes: e.Code + " " + e.Type, message: e.Message, after: retryAfter(e.Response)}
		return r, true
	}
	if e, ok := errors.AsType[*ssestream.StreamError](err); ok {
		r = parseAPIError(string(e.Event.Data))
		r.status = http.StatusOK
		return r, true
	}
	return apiError{}, false
}

// parseAPIError parses {"error": {…}}, which the APIs write in similar ways.
func parseAPIError(raw string) apiError {
	var body struct {
		Error struct {
			Type    string
			Code    any
			Message string
		}
	}
	if json.Unmarshal([]byte(raw), &body) != nil {
		return apiError{}
	}
	return apiError{codes: fmt.Sprint(body.Error.Code, " ", body.Error.Type), message: body.Error.Message}
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

// failure returns the kind of failure that an error response means.
func (r apiError) failure() parley.Failure {
	has := func(codes ...string) bool {
		for _, code := range codes {
			if strings.Contains(r.codes, code) {
				return true
			}
		}
		return false
	}
	switch {
	case has("insufficient_quota", "billing_error"):
		return parley.FailureFinal
	case r.status == http.StatusTooManyRequests, r.status == 529, has("overloaded", "rate_limit"):
		return parley.FailureBusy
	case r.status >= 500, r.status == http.StatusRequestTimeout, r.status == http.StatusConflict:
		return parley.FailureServer
	case r.status == http.StatusOK && !has("invalid_request", "authentication", "permission", "not_found"):
		return parley.FailureServer
	default:
		return parley.FailureFinal
	}
}

// hint says what a person can do about a final failure. It returns "" for other failures.
func (x *modelRun) hint(r apiError) string {
	switch {
	case r.failure() != parley.FailureFinal:
		return ""
	case strings.Contains(r.codes, "insufficient_quota"), strings.Contains(r.codes, "billing_error"), r.status == http.StatusPaymentRequired:
		return "check the account at provider " + x.settings.Provider
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		return "check the key in " + x.provider.keySource()
	case r.status == http.StatusNotFound:
		return fmt.Sprintf("check whether provider %s has the model %q, and its base_url", x.settings.Provider, x.settings.Model)
	case r.status == http.StatusRequestEntityTooLarge:
		return "lower the agent's context_messages, or set context_tokens"
	default:
		return "check the agent's runtime_config"
	}
}

// keySource says where the configuration takes the key from.
func (p Provider) keySource() string {
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
func (x *modelRun) runError(err error) *parley.RunError {
	if e, ok := errors.AsType[*parley.RunError](err); ok {
		return e
	}
	name := "provider " + x.settings.Provider
	if r, ok := apiErrorOf(err); ok {
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

func (r apiError) title() string {
	if r.status == http.StatusOK {
		return "with an error"
	}
	if text := http.StatusText(r.status); text != "" {
		return fmt.Sprintf("%d %s", r.status, text)
	}
	return strconv.Itoa(r.status)
}

// cleanText returns a text of an API on one line, shortened, and without the key.
func (x *modelRun) cleanText(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(redact(text, x.key), "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "…"
	}
	return text
}
