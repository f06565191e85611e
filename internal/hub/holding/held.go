package holding

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// HoldOr stores a call whose update ended with heldBy, and returns a *parley.Held. Any other error is returned as
// it is. args are the call's arguments, as the table in heldcalls.go reads them again.
func HoldOr(ctx context.Context, core *unit.Core, caller unit.Caller, err error, tool string, args any) error {
	why, held := errors.AsType[unit.HeldBy](err)
	if !held {
		return err
	}
	if why.Draft != nil {
		args = *why.Draft
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return storeHeld(ctx, core, caller, parley.HeldCall{Tool: tool, Args: raw}, why.Target, why.Verdict)
}
