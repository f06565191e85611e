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

// problem is an error as the hub writes it.
type problem struct {
	Detail      string        `json:"detail"`
	Code        parley.Code   `json:"code"`
	Reason      parley.Reason `json:"reason"`
	Recoverable bool          `json:"recoverable"`
	Suggestion  string        `json:"suggestion"`
	RetryAfter  float64       `json:"retry_after"` // seconds

	Validation *parley.Issues    `json:"validation"`
	Contacted  *parley.Contacted `json:"contacted"` // of a contact that was made
}

var knownCodes = []parley.Code{
	parley.NotPermitted, parley.Unavailable, parley.BadInput, parley.TimedOut, parley.DependencyFailed, parley.Internal,
}

// refusal is the error an answer stands for.
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

// about adds to an error the contact that it is about, if it is about one.
func (p problem) withContact(e *parley.Error) error {
	if p.Contacted != nil {
		return &contactError{e, *p.Contacted}
	}
	return e
}

// held is the answer to a call that was not made: it waits for an approval.
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
	const longest = 24 * 3600 // seconds; a number beyond it is no time to wait
	if p.RetryAfter > 0 && p.RetryAfter <= longest {
		e.RetryAfter = time.Duration(p.RetryAfter * float64(time.Second))
	}
	return e
}

// strange is an answer no hub gives.
func (c *Client) notAHub(format string, args ...any) *parley.Error {
	e := parley.Errorf(parley.DependencyFailed, format, args...)
	e.Message = "what answers at " + c.Address() + " is not a hub this program knows: " + e.Message
	return e.Suggest("check the address, and that hub and program have the same version: parley version")
}

// lost is the cause of an error that came from the connection and not from the hub.
type connectionCause struct{ error }

func (l connectionCause) Unwrap() error { return l.error }

// Away reports whether an error says that the hub is away: it cannot be reached, the connection broke off, or the hub is
// stopping. A call with an idempotency key can be made again then.
func Unreachable(err error) bool {
	_, broke := errors.AsType[connectionCause](err)
	e, known := errors.AsType[*parley.Error](err)
	return broke || known && e.Reason == parley.Stopping
}

// unheard reports whether nobody can have received a call that failed.
func neverSent(err error) bool { return notListening(err) || notReached(err) }

// unreachable says why there is no answer.
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

// notListening holds where nobody can have received the call. EINVAL is what a path too long for a
// socket gives: a hub there would have said where it listens instead.
func notListening(err error) bool {
	for _, absent := range []error{syscall.ENOENT, syscall.ECONNREFUSED, syscall.ENOTSOCK, syscall.EINVAL} {
		if errors.Is(err, absent) {
			return true
		}
	}
	return false
}

// notReached holds where no connection was made.
func notReached(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial"
}

// starts is the command that starts the hub.
func (o Options) startCommand() string {
	if o.Home == "" {
		return "parley up"
	}
	return "parley up --home " + o.Home
}

// plain is an error without the address net/http puts before it.
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
