//go:build unix

package connect

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestAnEarlierConnectionGetsNewHooks: a client was connected before Parley knew one of its hooks. Connecting again adds the hook, and
// disconnecting still restores the file.
func TestAnEarlierConnectionGetsNewHooks(t *testing.T) {
	u := newUser(t)
	u.write(".claude/settings.json", "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]}}", 0o600)
	before := u.snapshot()
	s := u.setup("claude", "ana")
	all := hooksOf["claude"]
	hooksOf["claude"] = slices.DeleteFunc(slices.Clone(all), func(h hook) bool { return h.at != "" })
	u.connect(s)
	hooksOf["claude"] = all
	c, err := Load(u.hub, s)
	u.must(err)
	if missing, err := c.Missing(u.m); err != nil || !slices.Equal(missing, []string{u.path(".claude/settings.json")}) {
		t.Errorf("missing in %q, %v", missing, err)
	}
	if n := u.connect(s); n != 1 {
		t.Errorf("%d files changed", n)
	}
	var settings struct{ Hooks map[string][]json.RawMessage }
	u.must(json.Unmarshal([]byte(u.read(".claude/settings.json")), &settings))
	start := settings.Hooks["SessionStart"]
	if len(start) != 3 || !strings.Contains(string(start[2]), "parley hook claude Stop --agent ana") {
		t.Errorf("at the start of a session: %s", start)
	}
	if n := u.connect(s); n > 0 {
		t.Errorf("again: %d files changed", n)
	}
	u.must(u.disconnect(s))
	u.isAsBefore(before)
}
