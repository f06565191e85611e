package parley

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code classifies a failure. All interfaces of the hub use the same six codes.
type Code string

// The codes. For each, the comment says whether a retry, or a changed call, can help.
const (
	NotPermitted     Code = "E001" // no
	Unavailable      Code = "E002" // yes
	BadInput         Code = "E003" // yes
	TimedOut         Code = "E004" // yes
	DependencyFailed Code = "E005" // yes
	Internal         Code = "E006" // depends
)

// Reason is a more exact reason than the code. The HTTP API maps reasons to statuses (404, 409, 413, 429 …).
type Reason string

// The reasons. For an error without a reason, the code alone determines the HTTP status.
const (
	NotFound    Reason = "not_found"
	Conflict    Reason = "conflict"
	Gone        Reason = "gone" // removed for good
	TooLarge    Reason = "too_large"
	RateLimited Reason = "rate_limited"
	StorageFull Reason = "storage_full"
	// NeedsApproval means that the call needs an approval first. See Held.
	NeedsApproval Reason = "needs_approval"
	// Stopping means that the hub is stopping. A waiting caller can repeat the call when the hub is back.
	Stopping Reason = "stopping"
	// Unauthenticated means that the call has no valid credential.
	Unauthenticated Reason = "unauthenticated"
)

// Error is a failure as the caller sees it: a code, a sentence, and a suggestion what to do next.
type Error struct {
	Code        Code          `json:"code" doc:"E001 not permitted, E002 unavailable, E003 bad input, E004 timed out, E005 a dependency failed, E006 internal."`
	Message     string        `json:"message" doc:"What went wrong, in a sentence."`
	Recoverable bool          `json:"recoverable" doc:"Whether a retry, or a changed call, can help."`
	Suggestion  string        `json:"suggestion,omitempty" doc:"What to do next."`
	Reason      Reason        `json:"reason,omitempty" doc:"A more exact reason than the code."`
	RetryAfter  time.Duration `json:"-"`
	Validation  *Issues       `json:"validation,omitempty" doc:"Every problem of a document or payload."`

	cause error
}

// Errorf makes an Error. The error is recoverable unless its code is NotPermitted or Internal; Retryable can change that. An
// error that is formatted with %w becomes the cause, for errors.Is and errors.As.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	e := &Error{Code: code, Message: err.Error(), Recoverable: code != NotPermitted && code != Internal}
	if _, several := any(err).(interface{ Unwrap() []error }); several || errors.Unwrap(err) != nil {
		e.cause = err
	}
	return e
}

// Suggest sets the suggestion what to do next.
func (e *Error) Suggest(format string, args ...any) *Error {
	e.Suggestion = fmt.Sprintf(format, args...)
	return e
}

// From sets the cause, for errors.Is and errors.As. The sentence does not quote the cause.
func (e *Error) From(cause error) *Error {
	e.cause = cause
	return e
}

// Because sets the reason.
func (e *Error) Because(r Reason) *Error {
	e.Reason = r
	return e
}

// WithIssues sets the list of all problems of a document or payload.
func (e *Error) WithIssues(i Issues) *Error {
	e.Validation = &i
	return e
}

// Invalid returns the error for an invalid document or payload. The sentence quotes the first issue; Validation has all issues.
// what names the document in the sentence. id is the document's own id, or empty.
func Invalid(what, id string, issues []string) *Error {
	first := issues[0]
	if more := len(issues) - 1; more > 0 {
		first = fmt.Sprintf("%s, and %d more", first, more)
	}
	return Errorf(BadInput, "%s: %s", what, first).Suggest("see docs/formats.md for the correct form").
		WithIssues(Issues{Error: "VALIDATION_FAILED", MsgID: id, Issues: issues, Action: "Message refused, nothing stored"})
}

// Retryable marks the error as recoverable: the same call may succeed after a time. Zero means that the time is unknown.
func (e *Error) Retryable(after time.Duration) *Error {
	e.Recoverable, e.RetryAfter = true, after
	return e
}

func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Suggestion != "" {
		s += " (" + e.Suggestion + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.cause }

// errorPrefix begins each sentence by which the hub tells an agent about a failure.
const errorPrefix = "Error: "

// Sentence returns the message for an agent. It begins with "Error: ", once.
func (e *Error) Sentence() string { return errorPrefix + e.Plain() }

// Plain returns the message without "Error: " before it, for use within another sentence.
func (e *Error) Plain() string { return strings.TrimPrefix(e.Message, errorPrefix) }

// AsError returns the *Error in the chain of an error. If there is none, it returns an internal error. nil stays nil.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return Errorf(Internal, "%w", err)
}

// CodeOf returns the code of an error, or "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}
