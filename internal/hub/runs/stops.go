package runs

import (
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
)

// StopOf is what the reason begins with for which a stop cancels runs. That of a person begins with "by".
func StopOf(agent string) string { return agent + " was stopped" }

// StoppedWith reports whether a run was cancelled because its agent was stopped. The asks of such a run go on, because the
// agent continues with its queue when it is started again.
func StoppedWith(r parley.Run) bool { return strings.HasPrefix(r.Cancel, StopOf(r.Agent)) }

func WasCancelled(r parley.Run) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s%sthe run was cancelled: %s", r.Agent, deliveries.DidNot, r.Cancel).
		Suggest("send it again if it is still wanted")
}

// WhyStopped is the reason for which an ask ends when its recipient is stopped.
const WhyStopped = "stopped"
