package crashtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// load holds the number of agents, of messages for them, and of kills of their hub.
type load struct {
	agents, messages, kills int
	maxLife                 time.Duration // longest time between two kills
	lastLife                time.Duration // time limit of the last hub, which the test does not kill
}

var (
	smallLoad = load{20, 1000, 8, 800 * time.Millisecond, 5 * time.Minute}
	fullLoad  = load{200, 10_000, 80, 3 * time.Second, time.Hour}
)

// campaignVariable is the environment variable by which the test finds the processes of its campaign.
const campaignVariable = "PARLEY_CAMPAIGN"

// TestCrashWakesEveryoneOnce kills a hub whose agents run as processes. These processes also die, hang, fail, and leave other
// processes behind. In the end exactly one successful run must have seen each message that woke an agent, or the delivery must have
// a named failure. No process may be left.
func TestCrashWakesEveryoneOnce(t *testing.T) {
	l := smallLoad
	if os.Getenv("PARLEY_CRASH_ROUNDS") != "" {
		l = fullLoad
	}
	_, random := seededRounds(t, l.kills)
	home := t.TempDir()
	posted, killed := 0, 0
	for n := range l.kills {
		to := l.messages * (n + 1) / (l.kills + 1)
		acknowledged, ended := runWorkingVictim(t, time.Duration(random.Int64N(int64(l.maxLife))), home, l.agents, posted, to)
		if posted += acknowledged; !ended {
			killed++
		}
	}
	acknowledged, ended := runWorkingVictim(t, l.lastLife, home, l.agents, posted, l.messages)
	if posted += acknowledged; !ended || posted != l.messages {
		t.Fatalf("the last hub has not ended, or posted %d of %d", posted, l.messages)
	}
	if processes := campaignProcesses(t, home); len(processes) > 0 {
		t.Errorf("processes are left: %v", processes)
	}
	judged, err := exec.Command(victim(t), "judge", home, fmt.Sprint(l.messages)).CombinedOutput()
	t.Logf("%d kills: %s", killed, judged)
	if err != nil || killed < l.kills/2 {
		t.Errorf("%d kills of %d: %v", killed, l.kills, err)
	}
}

// runWorkingVictim runs a victim that runs agents and posts messages for them. It kills the victim at the end of its life. It
// returns how many messages the victim printed, and whether the victim finished.
func runWorkingVictim(t *testing.T, life time.Duration, home string, agents, from, to int) (posted int, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, victim(t), "run", home, fmt.Sprint(agents), fmt.Sprint(from), fmt.Sprint(to))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), campaignVariable+"="+home)
	err := cmd.Run()
	if stderr.Len() > 0 || err != nil && ctx.Err() == nil {
		t.Fatalf("the victim failed: %v: %s", err, &stderr)
	}
	return bytes.Count(stdout.Bytes(), []byte("\n")), err == nil
}

// campaignProcesses returns the command lines of the campaign's processes that still run.
func campaignProcesses(t *testing.T, home string) (commands []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Fatalf("no process can be seen: %v", err)
	}
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environment, []byte(campaignVariable+"="+home+"\x00")) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			commands = append(commands, string(command))
		}
	}
	return commands
}
