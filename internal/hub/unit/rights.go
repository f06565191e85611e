package unit

import (
	"context"
	"errors"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func (u *Unit) Owner() bool {
	return u.Me.Kind == parley.KindHuman && u.Me.Access == parley.AccessOwner
}

// SeesAll holds for owners and the hub itself: they read everything, and may do what owners may.
func (u *Unit) SeesAll() bool { return u.Owner() || u.Me.Kind == parley.KindSystem }

// MustOwn refuses everybody but owners and the hub itself.
func (u *Unit) MustOwn(act string) error {
	if u.SeesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only an owner may %s", act).Suggest("ask an owner of this hub")
}

// Unknown is a name that stands for nothing the caller may see. What does not exist and what is
// not the caller's to see are the same. The names that may have been meant are looked up after
// the transaction, which is not held up for it.
type Unknown struct{ Noun, Name string }

func (u Unknown) Error() string { return "no " + u.Noun + " " + u.Name }

// ConversationKey is the name in a #name.
func ConversationKey(ref string) string { return strings.ToLower(strings.TrimPrefix(ref, "#")) }

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

const MaxSuggested = 1000 // names looked at for a suggestion

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

func BridgeNames(tx storage.Tx) (names []string, err error) {
	all, err := tx.Bridges().List()
	for _, b := range all {
		names = append(names, b.ID)
	}
	return names, err
}
