//go:build unix

package home

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
)

func TestAgentTokenComesBack(t *testing.T) {
	d := newHome(t)
	if _, err := d.AgentToken("ana"); parley.AsError(err) == nil || parley.AsError(err).Reason != parley.NotFound {
		t.Fatalf("before: %v", err)
	}
	want := AgentToken{Agent: "ana", Token: "1", Secret: "parley_x", Hub: "https://hub.example.org"}
	if err := d.SaveAgentToken(want); err != nil {
		t.Fatal(err)
	}
	if got, err := d.AgentToken("ana"); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	for path, mode := range map[string]os.FileMode{d.Clients(): 0o700, filepath.Join(d.Clients(), "tokens"): 0o700, filepath.Join(d.Clients(), "tokens", "ana.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	for range 2 {
		if err := d.RemoveAgentToken("ana"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.AgentToken("ana"); err == nil {
		t.Error("it is still there")
	}
}

// A token comes only from a regular file of this user that nobody else can read.
func TestAgentTokenIsReadFromAPrivateFileOnly(t *testing.T) {
	const sound = `{"agent":"ana","token":"1","secret":"parley_x"}`
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
	for name, test := range map[string]struct {
		plant func(path, other string) error
		says  string
	}{
		"a symlink in the home": {func(path, _ string) error { return os.Symlink("bea.json", path) }, "not a regular file"},
		"a symlink out of it":   {func(path, other string) error { return os.Symlink(other, path) }, "not a regular file"},
		"a FIFO":                {func(path, _ string) error { return syscall.Mkfifo(path, 0o600) }, "not a regular file"},
		"a directory":           {func(path, _ string) error { return os.Mkdir(path, 0o700) }, "not a regular file"},
		"readable by others":    {func(path, _ string) error { return os.WriteFile(path, []byte(sound), 0o644) }, "other users can read"},
		"a hard link":           {func(path, other string) error { return os.Link(other, path) }, "another name"},
		"no JSON":               {func(path, _ string) error { return write(path, "{") }, "has no token of ana"},
		"without a secret":      {func(path, _ string) error { return write(path, `{"agent":"ana","token":"1"}`) }, "has no token of ana"},
		"that of another agent": {func(path, _ string) error { return write(path, strings.ReplaceAll(sound, "ana", "bea")) }, "has no token of ana"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newHome(t)
			if err := d.SaveAgentToken(AgentToken{Agent: "bea", Token: "2", Secret: "parley_y"}); err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(string(d), "other")
			if err := write(other, sound); err != nil {
				t.Fatal(err)
			}
			if err := test.plant(filepath.Join(d.Clients(), "tokens", "ana.json"), other); err != nil {
				t.Fatal(err)
			}
			if got, err := d.AgentToken("ana"); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestAgentTokensStayInTheirDirectory(t *testing.T) {
	d := newHome(t)
	for _, id := range []string{"", "..", "../x", "a/b", "A"} {
		if _, err := d.AgentToken(id); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%q: %v", id, err)
		}
		if err := d.RemoveAgentToken(id); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("removing %q: %v", id, err)
		}
		if err := d.SaveAgentToken(AgentToken{Agent: id, Token: "1", Secret: "x"}); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("saving %q: %v", id, err)
		}
	}
}

// TestAgentTokensAreNotWrittenThroughLinks: somebody has planted a link in place of each directory and of the temporary file.
func TestAgentTokensAreNotWrittenThroughLinks(t *testing.T) {
	token := AgentToken{Agent: "ana", Token: "1", Secret: "parley_x"}
	tokens := filepath.Join(clientsDir, "tokens")
	for _, planted := range []string{clientsDir, tokens, filepath.Join(tokens, "ana.json.tmp"), filepath.Join(tokens, "ana.json")} {
		d, outside := newHome(t), t.TempDir()
		target := filepath.Join(outside, "file")
		if err := os.WriteFile(target, []byte("before"), 0o644); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(planted, "ana") {
			target = outside
		}
		link := filepath.Join(string(d), planted)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		err := d.SaveAgentToken(token)
		text, readErr := os.ReadFile(filepath.Join(outside, "file"))
		entries, listErr := os.ReadDir(outside)
		if readErr != nil || listErr != nil || string(text) != "before" || len(entries) != 1 {
			t.Errorf("%s: the hub has written %q and %v outside of the home (%v %v)", planted, text, entries, readErr, listErr)
		}
		if target == outside {
			if parley.CodeOf(err) != parley.BadInput {
				t.Errorf("%s: %v", planted, err)
			}
		} else if got, failed := d.AgentToken("ana"); err != nil || failed != nil || got != token {
			t.Errorf("%s: %v, then %+v, %v", planted, err, got, failed)
		}
	}
}
