package cli

import (
	"testing"

	"github.com/parley-hub/parley"
)

func TestWhatToDoAboutTheTroubleOfABridge(t *testing.T) {
	for trouble, want := range map[string]string{
		"":                                       "",
		"mkdirat .parley: read-only file system": "mount it so that it can be written to",
		"openat channels: permission denied":     "let the user of the hub read and write there",
		"another bridge is at this tree: process 7 on here":  "stop the other one",
		"writing msg_00000001.json: no space left on device": "make room on the disk",
		"something that nobody has thought of":               "look at the tree, and into the log of the hub",
	} {
		if got := remedyFor(trouble); got != want {
			t.Errorf("%q: %q, want %q", trouble, got, want)
		}
	}
}

func TestStateOfABridge(t *testing.T) {
	for want, v := range map[string]parley.BridgeView{
		"paused":      {Bridge: parley.Bridge{Paused: true}, Status: parley.BridgeStatus{Running: true}},
		"running":     {Status: parley.BridgeStatus{Running: true, Trouble: "x"}},
		"not running": {Bridge: parley.Bridge{Outside: true}},
		"failing":     {Status: parley.BridgeStatus{Trouble: "x"}},
		"starting":    {},
	} {
		if got := bridgeState(v); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
