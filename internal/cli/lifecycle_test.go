//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/screentest"
)

// The test program runs as parley itself where this is set: hubs need processes of their own.
const actAsParley = "ACT_AS_PARLEY"

func init() {
	if os.Getenv(actAsParley) != "" {
		os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}

func program(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), actAsParley+"=1", "GORACE=atexit_sleep_ms=0") // the race detector waits at every exit
	return cmd
}

// run runs the program to its end.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := program(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// wants fails unless a command line ends with a code and says something.
func wants(t *testing.T, code int, says string, args ...string) {
	t.Helper()
	got, out, errs := run(t, args...)
	if got != code || !strings.Contains(out+errs, says) {
		t.Errorf("parley %s: exit %d, want %d; want %q in:\n%s%s", strings.Join(args, " "), got, code, says, out, errs)
	}
}

func newDir(t *testing.T) string { return filepath.Join(t.TempDir(), "home") }

// up starts a hub in the foreground and waits until it says that it runs.
func up(t *testing.T, args ...string) (cmd *exec.Cmd, said string) {
	t.Helper()
	cmd = program(append([]string{"up", "--addr", "127.0.0.1:0"}, args...)...)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(errs)
	for lines.Scan() {
		said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "Stop it") {
			return cmd, said
		}
	}
	t.Fatalf("the hub did not start: %s", said)
	return nil, ""
}

func TestUpSaysWhereItIsAndStopsCleanly(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := newDir(t)
		hub, said := up(t, "--home", dir)
		address, err := os.ReadFile(filepath.Join(dir, "run", "address"))
		if err != nil {
			t.Fatal(err)
		}
		origin := "http://" + strings.TrimSpace(string(address))
		for _, part := range []string{origin, "create a link: parley --home " + dir + " sign-in", filepath.Join(dir, "parley.sock"), dir} {
			if !strings.Contains(said, part) {
				t.Errorf("it does not say %s:\n%s", part, said)
			}
		}
		if strings.Contains(said, "code=") {
			t.Errorf("a link that signs in is where others may read it:\n%s", said)
		}
		wants(t, exitError, "at "+strings.TrimSpace(string(address)), "up", "--home", dir)
		if err := hub.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if err := hub.Wait(); err != nil {
			t.Errorf("after %v: %v", signal, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "run", "*")); len(left) != 2 { // its lock, and the room it keeps for its next start
			t.Errorf("left behind: %q", left)
		}
	}
}

// Row "Sign-in link in a log": it is for a terminal alone.
func TestSignInLinkInALog(t *testing.T) {
	for _, args := range [][]string{{"up"}, {"up", "--detach"}} {
		dir := newDir(t)
		args = append(args, "--addr", "127.0.0.1:0", "--home", dir)
		hub := program(args...)
		person := screentest.Start(t, hub, 200, 24)
		person.Await("/sign-in?code=parley_")
		wants(t, 0, "", "down", "--home", dir)
		_ = hub.Wait()
	}
	dir := newDir(t)
	_, out, errs := run(t, "up", "--detach", "--addr", "127.0.0.1:0", "--home", dir)
	wants(t, 0, "", "down", "--home", dir)
	log, err := os.ReadFile(filepath.Join(dir, "run", "hub.log"))
	if err != nil {
		t.Fatal(err)
	}
	if said := out + errs + string(log); strings.Contains(said, "code=") || !strings.Contains(said, "create a link: parley") {
		t.Errorf("it says %s", said)
	}
}

func TestAKilledHubIsStartedAgain(t *testing.T) {
	dir := newDir(t)
	hub, _ := up(t, "--home", dir)
	if err := hub.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = hub.Wait()
	wants(t, exitError, "no hub is running in "+dir, "down", "--home", dir)
	wants(t, exitDone, "The hub is running", "up", "--home", dir, "--addr", "127.0.0.1:0", "--detach")
	wants(t, exitDone, "stopped", "down", "--home", dir)
	wants(t, exitError, "no hub is running in "+dir+"\n", "down", "--home", dir)
}

func TestADetachedHubSaysWhyItDidNotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	dir := newDir(t)
	wants(t, exitError, "is in use by another program", "up", "--home", dir, "--detach", "--addr", taken.Addr().String())
	wants(t, exitError, "cannot reach the database", "up", "--home", dir, "--detach", "--addr", "127.0.0.1:0", "--store", "postgres://u:canary@127.0.0.1:1/none")
	if log, err := os.ReadFile(home.Dir(dir).Log()); err != nil || bytes.Contains(log, []byte("canary")) {
		t.Errorf("the log has a password, or is not there: %s, %v", log, err)
	}
	wants(t, exitError, "no hub is running", "down", "--home", dir)
}

func TestSecretsAreNotOnTheCommandLineOfADetachedHub(t *testing.T) {
	cmd := exec.Command("parley")
	passSettings(cmd, map[string]string{"store": "postgres://u:canary@h/db", "addr": "127.0.0.1:0", "hosts": ""})
	if args := strings.Join(cmd.Args, " "); args != "parley --addr=127.0.0.1:0 --hosts=" {
		t.Errorf("the command line is %s", args)
	}
	if len(cmd.Env) != 1 || cmd.Env[0] != "PARLEY_STORE=postgres://u:canary@h/db" {
		t.Errorf("the environment is %q", cmd.Env)
	}
}

func TestConfigShowNamesSources(t *testing.T) {
	dir := newDir(t)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte("rate:\n  burst: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PARLEY_AUTO_ARCHIVE", "30d")
	code, out, _ := run(t, "config", "show", "--home", dir, "-o", "json")
	var values []struct{ Key, Value, Source string }
	if err := json.Unmarshal([]byte(out), &values); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	sources := map[string]string{}
	for _, v := range values {
		sources[v.Key] = v.Value + " " + v.Source
	}
	for key, want := range map[string]string{
		"rate.burst": "7 " + path + ":2", "auto_archive": "30d PARLEY_AUTO_ARCHIVE", "addr": "127.0.0.1:7717 default",
	} {
		if sources[key] != want {
			t.Errorf("%s: %q, want %q", key, sources[key], want)
		}
	}
	wants(t, exitDone, path, "config", "path", "--home", dir)
	if err := os.WriteFile(path, []byte("rates: 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"config show", "up", "doctor", "backup"} {
		wants(t, exitError, "unknown setting", append(strings.Fields(command), "--home", dir)...)
	}
}

func TestBackupRestoreAndUninstallWithoutAHub(t *testing.T) {
	dir, backup := newDir(t), filepath.Join(t.TempDir(), "backup")
	wants(t, exitError, "does not exist yet", "backup", "--home", dir)
	wants(t, exitError, "does not exist", "uninstall", "--home", dir, "--yes")
	hub, _ := up(t, "--home", dir)
	_ = hub.Process.Signal(syscall.SIGTERM)
	_ = hub.Wait()
	wants(t, exitDone, backup, "backup", backup, "--home", dir)
	wants(t, exitDone, filepath.Join(dir, "backups"), "backup", "--home", dir)
	wants(t, exitError, "already has a database", "restore", backup, "--home", dir)
	wants(t, exitError, "is not a backup", "restore", t.TempDir(), "--home", newDir(t))
	other := newDir(t)
	wants(t, exitDone, "restored into "+other, "restore", backup, "--home", other)
	wants(t, exitUsage, "add --yes", "uninstall", "--home", other)
	foreign := filepath.Join(other, "thesis.txt")
	if err := os.WriteFile(foreign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wants(t, exitError, "not Parley's: thesis.txt", "uninstall", "--home", other, "--yes")
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	up(t, "--home", other)                       // which is stopped by what follows
	t.Setenv("PARLEY_URL", "http://192.0.2.1:1") // which is not the hub in this home
	wants(t, exitDone, "messages", "backup", filepath.Join(t.TempDir(), "online"), "--home", other)
	wants(t, exitDone, "removed", "uninstall", "--home", other, "--yes")
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	wants(t, exitError, "is not the home of a hub", "uninstall", "--home", t.TempDir(), "--yes")
}
