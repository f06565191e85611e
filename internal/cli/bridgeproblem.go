package cli

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// bridgeRemedies say what to do about the problem of a bridge, by words of the problem. The bridge then continues by
// itself.
var bridgeRemedies = []struct{ words, remedy string }{
	{"read-only file system", "mount the tree with write permission"},
	{"permission denied", "give the hub's user permission to read and write the tree"},
	{"no space left", "free space on the disk"},
	{"quota exceeded", "free space on the disk"},
	{"no bridge has used", "mount the tree; to connect the present directory instead, pause the bridge and resume it"},
	{"cannot take work", "start the agent; its files wait until then"},
	{"is full", "wait until the agent has caught up, or raise its --inbox-depth"},
}

var otherBridgePattern = regexp.MustCompile(`another bridge uses this tree: (?:the bridge ([^\s,]+),)?`)

// bridgeRemedy returns what to do about the problem of a bridge. It returns nothing if the bridge has no problem.
func (a *app) bridgeRemedy(v parley.BridgeView) string {
	trouble := v.Status.Trouble
	if trouble == "" {
		return ""
	}
	if v.Status.Stopped {
		return "make sure that no other hub uses the tree, then resume this bridge: " + a.commandLine("bridge", "pause", v.ID) + " && " + a.commandLine("bridge", "resume", v.ID)
	}
	if other := otherBridgePattern.FindStringSubmatch(trouble); other != nil && other[1] != "" && other[1] != v.ID {
		return "pause the other bridge, at its hub: " + a.commandLine("bridge", "pause", other[1])
	} else if other != nil {
		return "stop the process that the message names, or remove this bridge: " + a.commandLine("bridge", "remove", v.ID)
	}
	for _, r := range bridgeRemedies {
		if strings.Contains(trouble, r.words) {
			return r.remedy
		}
	}
	if strings.Contains(trouble, "no such file or directory") {
		return "restore the directory, or remove the bridge: " + a.commandLine("bridge", "remove", v.ID)
	}
	return "check the tree and the log of the hub"
}

// bridgeProblem returns what keeps a bridge from working and what to do about it. It returns nothing if the bridge
// works.
func (a *app) bridgeProblem(v parley.BridgeView) (problem, remedy string) {
	switch state := bridgeState(v); {
	case state == notRunning:
		return v.ID + " is not running", "run it on the machine that has " + v.Root + ": " + a.commandLine("bridge", "run", v.ID)
	case v.Status.Trouble != "" && !v.Paused:
		return v.ID + " is " + state + ": " + v.Status.Trouble, a.bridgeRemedy(v)
	default:
		return "", ""
	}
}

// countStates returns how many bridges are in which state, in words.
func countStates(bridges []parley.BridgeView) string {
	counts := map[string]int{}
	var states []string
	for _, v := range bridges {
		state := bridgeState(v)
		if counts[state]++; !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	slices.SortStableFunc(states, func(x, y string) int { return counts[y] - counts[x] })
	for i, state := range states {
		states[i] = strconv.Itoa(counts[state]) + " " + state
	}
	return strings.Join(states, ", ")
}
