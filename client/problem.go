package client

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
)

const maxProblem = 1 << 20 // bytes of an error

// problem is the JSON of an error.
type problem struct {
	Detail      string        `json:"detail"`
	Code        parley.Code   `json:"code"`
	Reason      parley.Reason `json:"reason"`
	Recoverable bool          `json:"recoverable"`
	Suggestion  string        `json:"suggestion"`
	RetryAfter  float64       `json:"retry_after"` // seconds

	Validation *parley.Issues    `json:"validation"`
	Contacted  *parley.Contacted `json:"contacted"` // if the hub made a contact although the call failed
}

var knownCodes = []parley.Code{
	parley.NotPermitted, parley.Unavailable, parley.BadInput, parley.TimedOut, parley.DependencyFailed, parley.Internal,
}

// refusal returns the error that a response reports.
func (c *Client) refusal(response *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	if err != nil {
		return c.connectionError(err)
	}
	var p problem
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "application/problem+json" || json.Unmarshal(raw, &p) != nil || !slices.Contains(knownCodes, p.Code) {
		return c.notAHub("HTTP status %s", response.Status)
	}
	e := p.asError()
	if e.Reason == parley.Unauthenticated && c.options.Token == "" {
		e.Suggestion = "set PARLEY_TOKEN; parley token new makes one"
	}
	return p.withContact(e)
}

// withContact adds the contact of a problem to its error, if the problem has one.
func (p problem) withContact(e *parley.Error) error {
	if p.Contacted != nil {
		return &contactError{e, *p.Contacted}
	}
	return e
}

// heldError returns the *parley.Held in the answer to a call that needs an approval.
func (c *Client) heldError(response *http.Response) error {
	var answer struct {
		Approval parley.Approval `json:"approval"`
	}
	if err := c.decode(response.Body, &answer); err != nil {
		return err
	}
	if answer.Approval.ID == "" {
		return c.notAHub("HTTP status %s without an approval", response.Status)
	}
	return &parley.Held{Approval: answer.Approval}
}

func (p problem) asError() *parley.Error {
	e := &parley.Error{
		Code: p.Code, Message: p.Detail, Reason: p.Reason, Recoverable: p.Recoverable, Suggestion: p.Suggestion,
		Validation: p.Validation,
	}
	const longest = 24 * 3600 // seconds; the client ignores longer times
	if p.RetryAfter > 0 && p.RetryAfter <= longest {
		e.RetryAfter = time.Duration(p.RetryAfter * float64(time.Second))
	}
	return e
}

// notAHub returns E005: the server gave an answer that a hub does not give.
func (c *Client) notAHub(format string, args ...any) *parley.Error {
	e := parley.Errorf(parley.DependencyFailed, format, args...)
	e.Message = "what answers at " + c.Address() + " is not a hub this program knows: " + e.Message
	return e.Suggest("check the address, and that hub and program have the same version: parley version")
}

// connectionCause is the cause of an error of the connection, as opposed to an error that the hub reports.
type connectionCause struct{ error }

func (l connectionCause) Unwrap() error { return l.error }

// Unreachable reports whether an error means that the hub cannot be reached, that the connection broke, or that the hub is
// stopping. The caller can then repeat a call that has an idempotency key.
func Unreachable(err error) bool {
	_, broke := errors.AsType[connectionCause](err)
	e, known := errors.AsType[*parley.Error](err)
	return broke || known && e.Reason == parley.Stopping
}

// neverSent reports whether a failed call cannot have reached any server.
func neverSent(err error) bool { return notListening(err) || notReached(err) }

// connectionError returns the error of a call without a complete answer. err is the cause.
func (c *Client) connectionError(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	err = connectionCause{err}
	switch {
	case errors.Is(err, syscall.EACCES) && c.options.Socket != "":
		return parley.Errorf(parley.NotPermitted, "the hub at %s belongs to another user", c.Address()).
			Suggest("set PARLEY_URL and PARLEY_TOKEN").From(err)
	case c.options.Socket != "" && notListening(err):
		return parley.Errorf(parley.Unavailable, "the hub is not running").Suggest("start it with: %s", c.options.startCommand()).From(err)
	case notListening(err):
		return parley.Errorf(parley.Unavailable, "no hub answers at %s", c.Address()).
			Suggest("start it with: parley up, or check PARLEY_URL").From(err)
	case notReached(err):
		return parley.Errorf(parley.Unavailable, "no hub answers at %s: %s", c.Address(), shortError(err)).Suggest("check PARLEY_URL").From(err)
	default:
		return parley.Errorf(parley.Unavailable, "the connection to the hub at %s failed: %s", c.Address(), shortError(err)).
			Suggest("look whether the call was carried out before you repeat it").From(err)
	}
}

// notListening reports whether no server listens at the address, so that no server has received the call. EINVAL means that
// the path is too long for a socket. A hub with such a path listens elsewhere, and Find would have found its address.
func notListening(err error) bool {
	for _, absent := range []error{syscall.ENOENT, syscall.ECONNREFUSED, syscall.ENOTSOCK, syscall.EINVAL} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

// notReached reports whether no connection was made.
func notReached(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}

// startCommand returns the command that starts the hub.
func (o Options) startCommand() string {
	if o.Home == "" {
		return "parley up"
	}
	return "parley up --home " + o.Home
}

// shortError returns the text of an error without the URL that net/http puts before it.
func shortError(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it was closed"
	}
	text := err.Error()
	if _, after, found := strings.Cut(text, `": `); found {
		return after
	}
	return text
}
