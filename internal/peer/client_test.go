//go:build linux

package peer

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestAClientIsRecognisedByItsName(t *testing.T) {
	for name, test := range map[string]struct {
		program
		client bool
	}{
		"a client":                  {program{"claude", "/home/u/.local/share/claude/versions/2.1", []string{"claude"}}, true},
		"by its file":               {program{"MainThread", "/opt/codex", nil}, true},
		"a script of node":          {program{"node", "/usr/bin/node", []string{"node", "--no-warnings", "/usr/local/bin/gemini"}}, true},
		"a package":                 {program{"node", "/usr/bin/node", []string{"node", "/x/node_modules/@google/gemini-cli/dist/index.js"}}, true},
		"a title":                   {program{"node", "/usr/bin/node", []string{"gemini chat"}}, true},
		"a script of the shell":     {program{"claude", "/usr/bin/dash", []string{"/bin/sh", "/usr/local/bin/claude"}}, true},
		"one that was configured":   {program{"my-agent", "/usr/bin/python3", []string{"python3", "/home/u/my-agent.py"}}, true},
		"a shell":                   {program{"bash", "/usr/bin/bash", []string{"-bash"}}, false},
		"a shell with a command":    {program{"sh", "/usr/bin/dash", []string{"sh", "-c", "claude"}}, false},
		"a project with the name":   {program{"node", "/usr/bin/node", []string{"node", "/home/u/claude/server.js"}}, false},
		"another program":           {program{"vim", "/usr/bin/vim", []string{"vim", "claude"}}, false},
		"a multiplexer":             {program{"tmux: server", "/usr/bin/tmux", []string{"claude"}}, false},
		"nothing that can be seen":  {program{}, false},
		"an argument of a terminal": {program{"xterm", "/usr/bin/xterm", []string{"xterm", "-e", "claude"}}, false},
	} {
		clients := append(slices.Clone(knownClients), "my-agent")
		got := !test.hasName(multiplexers) && slices.ContainsFunc(test.names(), func(name string) bool { return slices.Contains(clients, name) })
		if got != test.client {
			t.Errorf("%s: %v, known by %q", name, got, test.names())
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
		leader, want bool
	}{
		{"a client", "claude", false, true},
		{"a program that nobody knows", "wrapper", false, false},
		{"one that was configured", "my-agent", false, true},
		{"a client that leads its session", "claude", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener, path := listen(t)
			// The client starts a messenger through a shell, and then something else through another.
			client := exec.Command(copied(t, test.client), "helper", "session", copied(t, "parley"), path)
			client.SysProcAttr = &syscall.SysProcAttr{Setsid: test.leader}
			stdin, err := client.StdinPipe()
			if err == nil {
				err = client.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			r := NewRegistry("test")
			messenger := accept(t, listener)
			pid, found := r.clientOf(processAt(t, messenger), append(slices.Clone(knownClients), "my-agent"))
			want := processAt(t, messenger)
			if test.want {
				want = client.Process.Pid
			}
			if pid != want || found != test.want {
				t.Errorf("the client is %d, %v, want %d", pid, found, want)
			}
			defer r.Add(pid, "arya", "")()
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
	if pid, found := NewRegistry("test").clientOf(processAt(t, messenger), slices.Clone(knownClients)); pid != client.Process.Pid || !found {
		t.Errorf("the client is %d, %v, want %d", pid, found, client.Process.Pid)
	}
	_ = stdin.Close()
	other := accept(t, listener)
	_, _ = messenger.Close(), other.Close()
	if err := client.Wait(); err != nil {
		t.Error(err)
	}
}
