package unit

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// Unknown is the error for a name that stands for nothing the caller may see. The error does not tell whether the thing
// exists: that would reveal what the caller may not see. Explain adds a suggestion after the transaction, so that the
// transaction is short.
type Unknown struct{ Noun, Name string }

func (u Unknown) Error() string { return "no " + u.Noun + " " + u.Name }

// Explain turns the error of a use case into the one that the caller sees. It returns HeldBy and ErrOvertaken unchanged,
// because the use case handles them. It hides the cause of an internal error from the caller and logs it.
func (c *Core) Explain(ctx context.Context, caller Caller, err error) error {
	u, ok := errors.AsType[Unknown](err)
	_, held := errors.AsType[HeldBy](err)
	switch {
	case err == nil:
		return nil
	case held:
		return err // the use case handles it
	case ok:
		return c.explainUnknown(ctx, caller, u)
	case errors.Is(err, ErrOvertaken):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return parley.Errorf(parley.TimedOut, "the caller ended the call before it began: %w", err)
	}
	shown := parley.AsError(err)
	if shown.Code == parley.Internal {
		c.Config.Log.Error("a call failed inside the hub; the caller gets E006", "caller", caller.Agent, "error", err) // with the cause, which the caller does not see
	}
	return shown
}

// explainUnknown returns the error for an unknown name, with a suggestion of what may have been meant.
func (c *Core) explainUnknown(ctx context.Context, caller Caller, missing Unknown) error {
	var hint string
	err := c.Store.View(ctx, func(tx storage.Tx) (err error) {
		u := c.NewUnit(tx)
		hint, err = c.Hooks.Hint(u, caller, missing)
		return err
	})
	if err != nil || hint == "" { // the error is useful without a suggestion too
		hint = "check the name"
	}
	return parley.Errorf(parley.BadInput, "there is no %s %q", missing.Noun, Clipped(missing.Name)).Because(parley.NotFound).Suggest("%s", hint)
}

// ErrOvertaken means that another update changed the agent, so that the change does not apply any more.
var ErrOvertaken = errors.New("another call changed the agent")

// ErrMisuse marks the refusal of a valid token that does not allow this use. The hub audits it, because the token may be
// stolen.
var ErrMisuse = errors.New("the token does not allow this use")

// ErrReplyOnly is the refusal of a webhook's reply token in any use but one answer.
func ErrReplyOnly() error {
	return parley.Errorf(parley.NotPermitted, "the token allows only one answer to a message that woke its run").
		Because(parley.Unauthenticated).From(ErrMisuse).
		Suggest(`POST {"in_reply_to": "<id of a trigger>", "content": {"text": "…"}} to /v1/messages`)
}

var (
	// ErrWaited says that the time of a wait is up.
	ErrWaited = errors.New("the time is up")
	// ErrGone says that the awaited thing was removed.
	ErrGone = errors.New("the awaited item was removed")
)

// Damaged returns why a delivery cannot be handed out: its row or its message is damaged. It returns nil if both are intact.
func Damaged(d parley.Delivery, m parley.Message) *parley.Error {
	if d.Damage != nil {
		return d.Damage.Err()
	}
	return m.Damage
}

// IgnoreNotFound returns nil for parley.ErrNotFound, and any other error unchanged.
func IgnoreNotFound(err error) error {
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}
