package unit

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// Unknown is a name that stands for nothing the caller may see. What does not exist and what is
// not the caller's to see are the same. The names that may have been meant are looked up after
// the transaction, which is not held up for it.
type Unknown struct{ Noun, Name string }

func (u Unknown) Error() string { return "no " + u.Noun + " " + u.Name }

// Explain gives an error the form its receiver sees.
func (c *Core) Explain(ctx context.Context, caller Caller, err error) error {
	u, ok := errors.AsType[Unknown](err)
	_, held := errors.AsType[HeldBy](err)
	switch {
	case err == nil:
		return nil
	case held:
		return err // the use case goes on with it
	case ok:
		return c.explainUnknown(ctx, caller, u)
	case errors.Is(err, ErrOvertaken):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return parley.Errorf(parley.TimedOut, "the call was given up before it began: %w", err)
	}
	shown := parley.AsError(err)
	if shown.Code == parley.Internal {
		c.Config.Log.Error("internal failure", "caller", caller.Agent, "error", err) // with what the caller is spared
	}
	return shown
}

func (c *Core) explainUnknown(ctx context.Context, caller Caller, missing Unknown) error {
	var hint string
	err := c.Store.View(ctx, func(tx storage.Tx) (err error) {
		u := c.NewUnit(tx)
		hint, err = c.Hooks.Hint(u, caller, missing)
		return err
	})
	if err != nil || hint == "" { // the suggestion is a courtesy, the error stands without it
		hint = "list what there is, and check the name"
	}
	return parley.Errorf(parley.BadInput, "there is no %s %q", missing.Noun, Clipped(missing.Name)).Because(parley.NotFound).Suggest("%s", hint)
}

// ErrOvertaken says that the agent is not any more what the change was made for.
var ErrOvertaken = errors.New("the agent was changed by somebody else")

// ErrMisuse marks the refusal of a token that is good, but not for this. It is audited: somebody may have stolen it.
var ErrMisuse = errors.New("the token is good for something else")

func ErrReplyOnly() error {
	return parley.Errorf(parley.NotPermitted, "the token is good only for one answer to a message that woke its run").
		Because(parley.Unauthenticated).From(ErrMisuse).
		Suggest(`POST {"in_reply_to": "<id of a trigger>", "content": {"text": "…"}} to /v1/messages`)
}

var (
	ErrWaited = errors.New("the time is up")
	ErrGone   = errors.New("what was waited for is gone")
)

// Damaged says why a delivery must not be handed out: its row or its message is damaged. Nil if both are intact.
func Damaged(d parley.Delivery, m parley.Message) *parley.Error {
	if d.Damage != nil {
		return d.Damage.Err()
	}
	return m.Damage
}

func IgnoreNotFound(err error) error {
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}
