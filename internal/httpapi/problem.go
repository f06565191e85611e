package httpapi

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
)

// Problem is the JSON of an error, by RFC 9457.
type Problem struct {
	Type        string        `json:"type" doc:"Always about:blank. The code classifies the error."`
	Title       string        `json:"title" doc:"The name of the HTTP status."`
	Status      int           `json:"status" doc:"The HTTP status."`
	Detail      string        `json:"detail" doc:"What went wrong, in a sentence."`
	Code        parley.Code   `json:"code" enum:"E001,E002,E003,E004,E005,E006" doc:"E001 not permitted, E002 unavailable, E003 bad input, E004 timed out, E005 a dependency failed, E006 internal."`
	Reason      parley.Reason `json:"reason,omitempty" enum:"not_found,conflict,gone,too_large,rate_limited,storage_full,stopping,unauthenticated" doc:"A more exact reason than the code."`
	Recoverable bool          `json:"recoverable" doc:"Whether a retry, or a changed call, can help."`
	Suggestion  string        `json:"suggestion,omitempty" doc:"What to do next."`
	RetryAfter  float64       `json:"retry_after,omitempty" doc:"Seconds to wait before a retry."`

	Validation *parley.Issues    `json:"validation,omitempty" doc:"Every problem of the payload."`
	Contacted  *parley.Contacted `json:"contacted,omitempty" doc:"Of a contact that was made although the call failed: the request, and where its answer will arrive."`
}

// Held is the answer to a call that needs an approval. The hub has not made the call.
type Held struct {
	Text     string          `json:"text" doc:"The state of the call, in words." example:"This action requires approval. Waiting for approval..."`
	Approval parley.Approval `json:"approval" doc:"The approval that the call waits for. The hub tells the caller the outcome in a message."`
}

// statuses has the HTTP statuses of errors by code and reason. The status of "" is for all other reasons.
var statuses = map[parley.Code]map[parley.Reason]int{
	parley.NotPermitted: {"": http.StatusForbidden, parley.Unauthenticated: http.StatusUnauthorized},
	parley.Unavailable: {
		"": http.StatusServiceUnavailable, parley.Gone: http.StatusGone, parley.RateLimited: http.StatusTooManyRequests,
		parley.StorageFull: http.StatusInsufficientStorage,
	},
	parley.BadInput: {
		"": http.StatusBadRequest, parley.NotFound: http.StatusNotFound, parley.Conflict: http.StatusConflict,
		parley.TooLarge: http.StatusRequestEntityTooLarge,
	},
	parley.TimedOut:         {"": http.StatusGatewayTimeout},
	parley.DependencyFailed: {"": http.StatusFailedDependency},
	parley.Internal:         {"": http.StatusInternalServerError},
}

func statusOf(e *parley.Error) int {
	of := statuses[e.Code]
	if status, ok := of[e.Reason]; ok {
		return status
	}
	if status, ok := of[""]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// statusError is an error whose HTTP status does not follow from its code.
type statusError struct {
	status int
	error
}

func withStatus(status int, err *parley.Error) error { return statusError{status, err} }

func (r statusError) Unwrap() error { return r.error }

// problemOf returns the answer to an error.
func problemOf(err error) Problem {
	e := parley.AsError(err)
	status := statusOf(e)
	if r, ok := errors.AsType[statusError](err); ok {
		status = r.status
	}
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		e = parley.Errorf(parley.BadInput, "the request has more than %d bytes, which is the limit here", tooLong.Limit).
			Because(parley.TooLarge).Suggest("make it smaller, or send an artifact")
		status = http.StatusRequestEntityTooLarge
	}
	p := Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: e.Message, Code: e.Code, Reason: e.Reason,
		Recoverable: e.Recoverable, Suggestion: e.Suggestion, RetryAfter: e.RetryAfter.Seconds(),
		Validation: e.Validation,
	}
	if u, ok := errors.AsType[contactError](err); ok {
		p.Contacted = &u.contacted
	}
	return p
}

// fail answers with an error, or with 202 if the call needs an approval. If a part of the answer has been sent, fail cuts the
// connection, so that the caller does not take the part for the whole answer.
func (a *api) fail(w *responseWriter, r *http.Request, err error) {
	if w.started {
		a.options.Log.Warn("cannot finish a response; the hub closes the connection", "operation", r.Pattern, "error", err)
		panic(http.ErrAbortHandler)
	}
	if waits, ok := errors.AsType[*parley.Held](err); ok {
		writeJSON(w, http.StatusAccepted, Held{parley.HeldText, waits.Approval})
		return
	}
	p := problemOf(err)
	if p.Status == http.StatusRequestEntityTooLarge {
		_, _ = io.CopyN(io.Discard, r.Body, drainLimit)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h["Cache-Control"] = noStoreHeader
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="parley"`)
	}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", wholeSeconds(p.RetryAfter))
	}
	writeJSON(w, p.Status, p)
}

// drainLimit is how many bytes of a body that is too large the server still reads: most senders read the answer only after they
// have sent the whole body.
const drainLimit = 4 << 20

// wholeSeconds rounds up, so that callers do not retry too early.
func wholeSeconds(seconds float64) string { return strconv.Itoa(int(math.Ceil(seconds))) }

// seconds returns a number of seconds as a duration. It limits extreme numbers to 100 years, which the hub refuses.
func seconds(n float64) time.Duration {
	const most = 100 * 365 * 24 * 3600
	return time.Duration(max(-most, min(most, n)) * float64(time.Second))
}

// shorten shortens a text of the caller for an answer.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}
