package runs

import (
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
)

// StopOf returns the beginning of the cancel reason when a stop of the agent cancels a run. The reason of a person begins
// with "by".
func StopOf(agent string) string { return agent + " was stopped" }

// StoppedWith reports whether a run was cancelled because its agent was stopped. The asks of such a run go on, because the
// agent continues with its queue when it is started again.
func StoppedWith(r parley.Run) bool { return strings.HasPrefix(r.Cancel, StopOf(r.Agent)) }

// WasCancelled returns the error of a delivery whose run was cancelled.
func WasCancelled(r parley.Run) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s%sthe run was cancelled: %s", r.Agent, deliveries.DidNot, r.Cancel).
		Suggest("send it again if it is still wanted")
}

// WhyStopped is the reason of an ask that ends because its recipient was stopped.
const WhyStopped = "stopped"
