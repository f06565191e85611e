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

// TestOwnClientWithSeveralWindows: a daemon, such as that of Codex, is one client for all its windows.
func TestOwnClientWithSeveralWindows(t *testing.T) {
	client := exec.Command(copied(t, "codex"), "helper", "two children", copied(t, "parley"))
	asDaemon.start(t, client)
	if out, err := client.Output(); err != nil || string(out) != "codex \ncodex \n" {
		t.Errorf("they found %q, %v", out, err)
	}
}
