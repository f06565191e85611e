package hook

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// How long a hook waits for the decision of a person, unless the call says otherwise.
const (
	besideDialog = 9*time.Minute + 30*time.Second // the client shows its dialog meanwhile, and ends hooks after ten minutes
	beforeDialog = time.Minute                    // the client shows its dialog only after the hook
)

// askPermission asks a person whether the client may use a tool. Without a decision it prints nothing, and the client shows its own
// dialog.
func (h hook) askPermission(ctx context.Context) int {
	if h.decide == nil {
		return 0
	}
	wait := h.decisionWait
	if h.Wait >= 0 {
		wait = h.Wait
	}
	use := h.input.toolUse(h.Call.Client, h.session)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	release, err := h.Waits.BeginRequest(ctx, use, cancel)
	if err != nil {
		return 0
	}
	defer release()
	a, err := h.Hub.RequestToolUse(ctx, use, wait)
	if err != nil {
		return 0
	}
	switch a.State {
	case parley.ApprovalExecuted:
		_ = h.print(h.decide(true, ""))
	case parley.ApprovalDenied:
		_ = h.print(h.decide(false, denial(a)))
	}
	return 0
}

// denial says to the model who has denied the use of a tool.
func denial(a parley.Approval) string {
	text := "Denied in Parley by " + a.DecidedBy + "."
	if a.Note != "" {
		text += " Note: " + a.Note
	}
	return text
}
