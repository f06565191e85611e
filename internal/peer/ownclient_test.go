//go:build linux

package peer

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestOwnClient: all processes of a client find the same text, and those of another client find another one.
func TestOwnClient(t *testing.T) {
	found := map[string]bool{}
	for _, name := range []string{"codex", "codex", "claude"} {
		client := exec.Command(copied(t, name), "helper", "two children", copied(t, "parley"))
		out, err := client.Output()
		if err != nil {
			t.Fatal(err)
		}
		first, second, _ := strings.Cut(string(out), "\n")
		want := fmt.Sprintf("%s %[1]s-%d-", name, client.Process.Pid)
		if !strings.HasPrefix(first, want) || first+"\n" != second {
			t.Errorf("they found %q, want %s", out, want)
		}
		found[first] = true
	}
	if len(found) != 3 {
		t.Errorf("clients share a text: %v", found)
	}
}
