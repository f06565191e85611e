package waits

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Shift takes a wait to another state. No other function changes the state of a wait. edit sets other fields with the state.
// Shift wakes the callers that wait for the wait.
func Shift(u *unit.Unit, w *parley.Wait, to parley.WaitState, edit func(*parley.Wait)) error {
	if !w.State.May(to) {
		return parley.Errorf(parley.BadInput, "the wait for message %s is %s and cannot become %s", w.Message, w.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	after := *w
	if after.State = to; to != parley.WaitWaiting {
		after.Node = ""
	}
	if to.Ended() {
		after.EndedAt = &u.Now
	}
	if edit != nil {
		edit(&after)
	}
	return KeepWait(u, w, after)
}

// KeepWait stores a changed wait.
func KeepWait(u *unit.Unit, w *parley.Wait, after parley.Wait) error {
	err := u.Waits().Put(after)
	if err == nil {
		*w = after
		u.Touch(w.ID)
	}
	return err
}
