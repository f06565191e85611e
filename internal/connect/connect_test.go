//go:build unix

package connect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect/jsonc"
	"github.com/parley-hub/parley/internal/connect/toml"
)

// writtenByPeople are files as people write them. They are JSON, or TOML for names that end so.
var writtenByPeople = map[string]map[string]string{
	"comments": {
		"json": "{\n  // mine\n  \"theme\": \"dark\", /* x */\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"} // last\n  },\n  \"mcp\": {}, \"hooks\": {\n    \"Stop\": [ {\"hooks\": [ {\"type\": \"command\", \"command\": \"bell\"} ]} ], \"stop\": [{\"command\": \"bell\"}]\n  }\n}",
		"toml": "# mine\nmodel = 'x' # y\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[[z]]\na = [ # list\n  1,\n]",
	},
	"CRLF and a mark": {
		"json": "\xef\xbb\xbf{\r\n\t\"z\": [1,\r\n\t2]\r\n}\r\n",
		"toml": "\xef\xbb\xbf[a]\r\nb = \"\"\"x\r\ny\"\"\"\r\n",
	},
	"CRLF":             {"json": "{\r\n\t\"z\": [1,\r\n\t2]\r\n}\r\n", "toml": "[a]\r\n"},
	"a trailing comma": {"json": "{\n  \"z\": [1,],\n}\n", "toml": "a = [1,]\n"},
	"one line":         {"json": `{"a":1,"hooks":{},"mcpServers":{ }}`, "toml": `a = 1`},
	"empty":            {"json": "{}", "toml": ""},
}

func TestConnectAndDisconnectRestoreEveryByte(t *testing.T) {
	for _, c := range Clients() {
		for name, texts := range writtenByPeople {
			t.Run(c.ID+"/"+name, func(t *testing.T) {
				u := newUser(t)
				s := u.setup(c.ID, "ana")
				for i, f := range s.files() {
					kind := strings.TrimPrefix(filepath.Ext(f.name), ".")
					if s.checkSyntax(f, []byte(texts[kind])) != nil {
						continue // see TestAFileThatTheClientCannotRead
					}
					if texts[kind] != "" || kind == "toml" {
						u.write(f.name, texts[kind], []os.FileMode{0o644, 0o600, 0o664}[i%3])
					}
				}
				u.connectTwiceAndDisconnect(s)
			})
		}
		t.Run(c.ID+"/no files", func(t *testing.T) {
			u := newUser(t)
			u.connectTwiceAndDisconnect(u.setup(c.ID, "ana"))
		})
	}
}

func (u *user) connectTwiceAndDisconnect(s Setup) {
	u.t.Helper()
	before := u.snapshot()
	if n := u.connect(s); n == 0 {
		u.t.Fatal("nothing changed")
	}
	for _, f := range s.files() {
		now, err := f.read()
		u.must(err)
		for _, e := range f.edits {
			if is, err := e.isIn(now.text); !is || err != nil {
				u.t.Errorf("%s lacks %+v (%v):\n%s", f.name, e, err, now.text)
			}
		}
		if old, existed := before[f.path()]; existed && old.Mode != now.info.Mode() || !existed && now.info.Mode().Perm() != 0o600 {
			u.t.Errorf("%s has mode %v", f.name, now.info.Mode())
		}
	}
	after := u.snapshot()
	if n := u.connect(s); n > 0 {
		u.t.Errorf("again: %d files changed", n)
	}
	u.isAsBefore(after)
	u.must(u.disconnect(s))
	u.isAsBefore(before)
	if c, err := Load(u.hub, s); c != nil || err != nil {
		u.t.Errorf("it is still connected: %v", err)
	}
}

// TestDisconnectTakesOutOnlyItsOwn: what others wrote after connect stays.
func TestDisconnectTakesOutOnlyItsOwn(t *testing.T) {
	for name, test := range map[string]struct{ client, file, old, new, want string }{
		"a new member": {
			"claude", ".claude.json", "\n}", ",\n  \"numStartups\": 7\n}", "{\n  \"numStartups\": 7\n}\n",
		},
		"another server": {
			"cursor", ".cursor/mcp.json", "\"mcpServers\": {", "\"mcpServers\": {\n    \"x\": {\"command\": \"y\"},", "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"y\"}\n  }\n}\n",
		},
		"another hook in the group": {
			"codex", ".codex/hooks.json", "\"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"/opt/parley/parley hook codex Stop", "\"hooks\": [\n          {\"type\": \"command\", \"command\": \"bell\"},\n          {\n            \"type\": \"command\",\n            \"command\": \"/opt/parley/parley hook codex Stop",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"bell\"}\n        ]\n      }\n    ]\n  }\n}\n",
		},
		"another table": {"codex", ".codex/config.toml", "[mcp", "model = \"x\"\n\n[mcp", "model = \"x\"\n"},
		"another server under the name": {
			"cursor", ".cursor/mcp.json", "/opt/parley/parley", "mine", "{\n  \"mcpServers\": {\n    \"parley\": {\n      \"command\": \"mine\",\n      \"args\": [\n        \"mcp\",\n        \"--agent\",\n        \"ana\"\n      ]\n    }\n  }\n}\n",
		},
		"a timeout of ours":    {"gemini", ".gemini/settings.json", "\"timeout\": 60000", "\"timeout\": 90000", ""},
		"an environment, ours": {"codex", ".codex/config.toml", "env_vars", "startup_timeout_sec = 20\nenv_vars", ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			s := u.setup(test.client, "ana")
			u.connect(s)
			edited := strings.Replace(u.read(test.file), test.old, test.new, 1)
			if edited == u.read(test.file) {
				t.Fatal("the test edits nothing:", edited)
			}
			u.write(test.file, edited, 0o600)
			if test.want != "" && !strings.Contains(test.new, "mine") {
				if n := u.connect(s); n > 0 {
					t.Errorf("connecting again changes %d files", n)
				}
			}
			u.must(u.disconnect(s))
			if _, err := os.Lstat(u.path(test.file)); test.want == "" && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it is left: %s", u.read(test.file))
			} else if test.want != "" {
				if diff := cmp.Diff(test.want, u.read(test.file)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestAnEntryThatAPersonHasRegistered: connect changes what differs and keeps the rest, and disconnect restores it.
func TestAnEntryThatAPersonHasRegistered(t *testing.T) {
	for name, test := range map[string]struct{ client, file, text, keeps string }{
		"a command":      {"cursor", ".cursor/mcp.json", `{"mcpServers": {"parley": {"command": "parley", "args": ["mcp"], "env": {"A": "b"}}}}`, `"env": {"A": "b"}`},
		"a URL":          {"cursor", ".cursor/mcp.json", `{"mcpServers": {"parley": {"url": "http://x/mcp"}, "z": 1}}`, `"z": 1`},
		"a table":        {"codex", ".codex/config.toml", "[mcp_servers.parley]\ncommand = 'parley'\nargs = ['mcp']\nstartup_timeout_sec = 3\n", "startup_timeout_sec = 3"},
		"a table, a URL": {"codex", ".codex/config.toml", "[mcp_servers.parley]\nurl = 'http://x/mcp'\n\n[z]\n", "[z]"},
		"its own hook":   {"claude", ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "parley hook claude Stop --agent bea"}]}]}}`, `"hooks"`},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.write(test.file, test.text, 0o600)
			s := u.setup(test.client, "ana")
			before := u.snapshot()
			u.connect(s)
			now := u.read(test.file)
			if !strings.Contains(now, test.keeps) || strings.Contains(now, "http://x") || strings.Contains(now, "bea") || !strings.Contains(now, "/opt/parley/parley") {
				t.Errorf("it is now %s", now)
			}
			u.must(u.disconnect(s))
			u.isAsBefore(before)
			u.connect(s)
			u.write(test.file, u.read(test.file)+"\n", 0o600) // an edit
			u.must(u.disconnect(s))
			if got := u.read(test.file); strings.Contains(got, "/opt/parley/parley") || name != "its own hook" && !strings.Contains(got, "parley") {
				t.Errorf("after an edit it is %s", got)
			}
		})
	}
}

func TestAnotherAgentReplacesTheFirst(t *testing.T) {
	for _, c := range Clients() {
		u := newUser(t)
		before := u.snapshot()
		u.connect(u.setup(c.ID, "ana"))
		s := u.setup(c.ID, "bea")
		u.connect(s)
		for path, e := range u.snapshot() {
			if strings.Contains(e.Text, "ana") || e.Text != "" && !strings.Contains(e.Text, "bea") {
				t.Errorf("%s: %s", path, e.Text)
			}
		}
		u.must(u.disconnect(s))
		u.isAsBefore(before)
	}
}

// The hub keeps its list of client processes beside the journals.
func TestListHasJournalsOnly(t *testing.T) {
	u := newUser(t)
	u.connect(u.setup("claude", "ana"))
	u.must(u.hub.SaveClientProcesses([]byte("[]")))
	list, err := List(u.hub)
	u.must(err)
	if len(list) != 1 || list[0].Client != "claude" || list[0].Agent != "ana" {
		t.Errorf("listed: %+v", list)
	}
}

// Row "Client config as a place for secrets": links and files that are not the user's own are refused, and nothing changes.
func TestFilesThatConnectRefuses(t *testing.T) {
	const settings = ".claude/settings.json"
	for name, test := range map[string]struct {
		plant func(u *user) error
		says  string
	}{
		"a link to a file of the user": {func(u *user) error {
			u.write("dotfiles/settings.json", "{}", 0o600)
			return os.Symlink("../dotfiles/settings.json", u.path(settings))
		}, "symbolic link to ../dotfiles/settings.json"},
		"a link out of the home": {func(u *user) error { return os.Symlink("/etc/passwd", u.path(settings)) }, "symbolic link"},
		"a link to nothing":      {func(u *user) error { return os.Symlink("nowhere", u.path(settings)) }, "symbolic link"},
		"a directory that is a link": {func(u *user) error {
			return errors.Join(os.Remove(u.path(".claude")), os.Mkdir(u.path("real"), 0o700), os.Symlink("real", u.path(".claude")))
		}, "symbolic link to real"},
		"a hard link": {func(u *user) error {
			u.write("other", "{}", 0o600)
			return os.Link(u.path("other"), u.path(settings))
		}, "hard link"},
		"a FIFO":      {func(u *user) error { return syscall.Mkfifo(u.path(settings), 0o600) }, "not a regular file"},
		"a directory": {func(u *user) error { return os.Mkdir(u.path(settings), 0o700) }, "not a regular file"},
		"read-only":   {func(u *user) error { u.write(settings, "{}", 0o444); return nil }, "chmod u+w"},
		"of another user": {func(u *user) error {
			u.write(settings, "{}", 0o600)
			return os.Chown(u.path(settings), 12345, -1)
		}, "belongs to another user"},
		"garbage":         {func(u *user) error { u.write(settings, "{\n  \"a\": 1\n  \"b\"\n", 0o600); return nil }, "line 3"},
		"empty":           {func(u *user) error { u.write(settings, "", 0o600); return nil }, "cannot parse"},
		"another type":    {func(u *user) error { u.write(settings, `{"hooks": 1}`, 0o600); return nil }, "hooks is not"},
		"ambiguous":       {func(u *user) error { u.write(settings, `{"hooks": {}, "hooks": {}}`, 0o600); return nil }, "twice"},
		"a planted store": {func(u *user) error { return os.Symlink(u.path("x"), u.path(".claude.json")) }, "symbolic link"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.must(os.Mkdir(u.path(".claude"), 0o700))
			if err := test.plant(u); errors.Is(err, os.ErrPermission) {
				t.Skip("only root can give a file to another user")
			} else if err != nil {
				t.Fatal(err)
			}
			before := u.snapshot()
			_, err := u.plan(u.setup("claude", "ana"))
			if err == nil || !strings.Contains(err.Error(), test.says) || parley.AsError(err).Code != parley.BadInput || parley.AsError(err).Suggestion == "" {
				t.Errorf("the error is %v", err)
			}
			u.isAsBefore(before)
		})
	}
}

// TestAnEditBetweenDiffAndWriteIsKept: what somebody writes after the diff was shown is not overwritten, whatever it is.
func TestAnEditBetweenDiffAndWriteIsKept(t *testing.T) {
	for name, test := range map[string]struct{ before, edit func(u *user) }{
		"another text":  {func(u *user) { u.write(".claude.json", "{}", 0o600) }, func(u *user) { u.write(".claude.json", `{"a": 1}`, 0o600) }},
		"another mode":  {func(u *user) { u.write(".claude.json", "{}", 0o600) }, func(u *user) { u.must(os.Chmod(u.path(".claude.json"), 0o640)) }},
		"a new file":    {func(*user) {}, func(u *user) { u.write(".claude.json", `{"a": 1}`, 0o600) }},
		"a removed one": {func(u *user) { u.write(".claude.json", "{}", 0o600) }, func(u *user) { u.must(os.Remove(u.path(".claude.json"))) }},
		"a link":        {func(*user) {}, func(u *user) { u.must(os.Symlink("/etc/passwd", u.path(".claude.json"))) }},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			test.before(u)
			s := u.setup("claude", "ana")
			p, err := u.plan(s)
			u.must(err)
			var edited map[string]entry
			p.beforeWrite = func(path string) {
				if path == u.path(".claude.json") {
					test.edit(u)
					edited = u.snapshot()
				}
			}
			if err := p.Apply(u.hub, "t"); err == nil || parley.AsError(err).Suggestion == "" {
				t.Fatalf("the error is %v", err)
			}
			u.isAsBefore(edited)
			if name == "a link" {
				u.must(os.Remove(u.path(".claude.json")))
				edited = u.snapshot()
			}
			u.connect(s)
			u.must(u.disconnect(s))
			u.isAsBefore(edited)
		})
	}
}

// TestARunThatIsKilledBetweenFiles: connecting again completes it, and disconnecting takes it back.
func TestARunThatIsKilledBetweenFiles(t *testing.T) {
	for name, again := range map[string]bool{"connect again": true, "disconnect": false} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.write(".claude/settings.json", "{\n}\n", 0o600)
			u.write(".claude/.settings.json.parley-tmp", "half", 0o600) // what a killed run leaves
			before := u.snapshot()
			delete(before, u.path(".claude/.settings.json.parley-tmp"))
			s := u.setup("claude", "ana")
			p, err := u.plan(s)
			u.must(err)
			all := p.Changes
			p.Changes = all[:1]
			u.must(p.Apply(u.hub, "t"))
			if again {
				if n := u.connect(s); n != 1 {
					t.Errorf("the second run changes %d files", n)
				}
			} else {
				u.must(os.Remove(u.path(".claude/.settings.json.parley-tmp")))
			}
			u.must(u.disconnect(s))
			u.isAsBefore(before)
		})
	}
}

// TestDisconnectTellsWhatItCannotRestore, changes nothing then, and completes later.
func TestDisconnectTellsWhatItCannotRestore(t *testing.T) {
	u := newUser(t)
	s := u.setup("claude", "ana")
	before := u.snapshot()
	u.connect(s)
	sound := u.read(".claude/settings.json")
	u.write(".claude/settings.json", "{", 0o600)
	broken := u.snapshot()
	if err := u.disconnect(s); err == nil || !strings.Contains(err.Error(), "settings.json") ||
		parley.AsError(err).Suggestion != "correct the file, and disconnect Claude Code again; nothing was changed" {
		t.Errorf("the error is %v", err)
	}
	u.isAsBefore(broken)
	u.write(".claude/settings.json", sound, 0o400)
	broken = u.snapshot()
	if err := u.disconnect(s); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("the error is %v", err)
	}
	u.isAsBefore(broken)
	u.must(os.Chmod(u.path(".claude/settings.json"), 0o600))
	u.must(u.disconnect(s))
	u.isAsBefore(before)
}

// TestFilesOfAProjectNameNoPerson: others use them too.
func TestFilesOfAProjectNameNoPerson(t *testing.T) {
	for _, c := range Clients() {
		u := newUser(t)
		s := u.setup(c.ID, "ana")
		s.Project, s.Home = u.path("project"), "/home/arya/hub"
		u.must(os.Mkdir(s.Project, 0o755))
		u.connectTwiceAndDisconnect(s)
		u.connect(s)
		for path, e := range u.snapshot() {
			if strings.Contains(e.Text, "/home/arya") || strings.Contains(e.Text, "/opt/parley") || strings.Contains(e.Text, u.m.UserHome) {
				t.Errorf("%s: %s", path, e.Text)
			}
			if !strings.HasPrefix(path, s.Project) && e.Mode.IsRegular() {
				t.Errorf("%s is outside of the project", path)
			}
		}
	}
}

func TestHookCommandsAreSafeForAShell(t *testing.T) {
	u := newUser(t)
	s := u.setup("claude", "ana")
	s.Parley, s.Home = "printf", `%s/it's "$(touch x)" & ;`
	s.Parley = "/usr/bin/printf"
	out, err := exec.Command("sh", "-c", strings.Replace(s.hookLine("Stop"), "hook", `'%s\n'`, 1)).Output()
	if want := "claude\nStop\n--agent\nana\n--home\n" + s.Home + "\n--scope\nuser\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

// FuzzFiles connects and disconnects with any text in the files.
func FuzzFiles(f *testing.F) {
	for _, texts := range writtenByPeople {
		f.Add([]byte(texts["json"]), []byte(texts["toml"]))
	}
	f.Fuzz(func(t *testing.T, json, table []byte) {
		for _, c := range Clients() {
			s := Setup{Client: c, Machine: Machine{UserHome: "/nowhere", Getenv: func(string) string { return "" }}, Agent: "ana", Parley: "/opt/parley/parley"}
			for _, of := range s.files() {
				text := json
				if strings.HasSuffix(of.name, ".toml") {
					text = table
				}
				checkFuzzed(t, of, append([]byte{}, text...))
			}
		}
	})
}

func checkFuzzed(t *testing.T, f file, text []byte) {
	t.Helper()
	after, err := f.apply(text)
	if err != nil {
		return // it is left alone
	}
	check := jsonc.Check
	if strings.HasSuffix(f.name, ".toml") {
		check = toml.Check
	}
	if err := check(after); err != nil && !strings.HasSuffix(f.name, ".js") {
		t.Fatalf("%s: %q -> %q: %v", f.name, text, after, err)
	}
	if again, err := f.apply(after); err != nil || string(again) != string(after) {
		t.Fatalf("%s: %q -> %q -> %q, %v", f.name, text, after, again, err)
	}
	if strings.Contains(string(text), "parley") || strings.Contains(string(text), `\`) {
		return // somebody has registered Parley, in whatever form
	}
	if back, err := f.revert(after, text); err != nil || string(back) != string(text) {
		t.Fatalf("%s: %q -> %q -> %q, %v", f.name, text, after, back, err)
	}
}

// TestANewFileReplacesNothing: somebody creates the file after the last look at it.
func TestANewFileReplacesNothing(t *testing.T) {
	u := newUser(t)
	f := file{root: u.m.UserHome, name: "x.json"}
	root, err := f.open()
	u.must(err)
	defer func() { u.must(root.Close()) }()
	u.must(f.writeTemporary(root, content{}, []byte("ours")))
	u.write("x.json", "theirs", 0o600)
	if err := f.putInPlace(root, content{}); err == nil || parley.AsError(err).Reason != parley.Conflict {
		t.Errorf("the error is %v", err)
	}
	if u.read("x.json") != "theirs" || len(u.snapshot()) != 2 {
		t.Errorf("left: %v", u.snapshot())
	}
}
