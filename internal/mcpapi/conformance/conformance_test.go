//go:build conformance

package conformance

import (
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley/internal/mcpapi"
)

// extended is an MCP server with the tools, resources and prompts that the suite demands.
func extended() mcpapi.Options {
	return mcpapi.Options{
		Configure: configure, Jobs: []mcpapi.Job{&jobs{}},
		Extend: func(s *mcp.Server) { addTools(s); addJobTools(s); addMore(s) },
	}
}

// withoutChecks is a scenario of the extension of tasks in which this version of the suite checks nothing.
const withoutChecks = "tasks-status-notifications"

// TestConformance runs all scenarios that the two revisions require, and those of the extension of tasks, on one address.
func TestConformance(t *testing.T) {
	h := startHub(t, extended())
	for revision, want := range map[string]struct{ required, tasks int }{"2025-11-25": {30, 0}, "2026-07-28": {37, 10}} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			cmd := node(t, programs(t, "@modelcontextprotocol", "conformance", "dist", "index.js"),
				"server", "--url", "http://"+h.name+"/mcp", "--requirements", revision)
			cmd.Dir = t.TempDir()
			printed, err := cmd.CombinedOutput()
			required, tasks := results(t, string(printed))
			if err != nil || required != want.required || tasks != want.tasks {
				t.Errorf("%d required scenarios and %d of tasks passed, want %d and %d (%v)\n%s", required, tasks, want.required, want.tasks, err, printed)
			}
		})
	}
}

var (
	scenarioResult = regexp.MustCompile(`(?m)^\s*(\S) (\S+): (\d+) passed, (\d+) failed$`)
	notScored      = regexp.MustCompile(`(?m)^\s*\S (\S+) \((extension|pending|added-after-release)\)$`)
)

// results returns how many of the required scenarios and of those of tasks passed. A scenario that failed, scored or not, fails the
// test.
func results(t *testing.T, printed string) (required, tasks int) {
	t.Helper()
	extra := map[string]bool{}
	for _, found := range notScored.FindAllStringSubmatch(printed, -1) {
		extra[found[1]] = true
	}
	for _, found := range scenarioResult.FindAllStringSubmatch(printed, -1) {
		name, passed, failed := found[2], found[3], found[4]
		switch {
		case failed != "0", passed == "0" && name != withoutChecks:
			t.Errorf("%s: %s checks passed, and %s failed", name, passed, failed)
		case strings.HasPrefix(name, "tasks-"):
			tasks++
		case !extra[name]:
			required++
		}
	}
	return required, tasks
}
