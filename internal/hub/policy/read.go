package policy

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MustReadMessage is mustRead for one message. What the caller wrote, or was delivered, is its own to read.
func MustReadMessage(u *unit.Unit, caller unit.Caller, m parley.Message) error {
	if u.Me.Mode != parley.ModeStrict || m.From == u.Me.ID {
		return nil
	}
	d, err := u.Deliveries().Get(m.ID, u.Me.ID)
	if err == nil && d.Damage != nil {
		return d.Damage.Err() // it may be another's
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return MustRead(u, unit.Origin{Caller: caller}, m.Conversation)
}
