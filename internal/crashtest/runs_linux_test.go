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

// load is how much the agents of a campaign have to do, and how often their hub is killed meanwhile.
type load struct {
	agents, messages, kills int
	longest                 time.Duration // life between two kills
	last                    time.Duration // what the last hub gets to be done
}

var (
	tenth = load{20, 1000, 8, 800 * time.Millisecond, 5 * time.Minute}
	whole = load{200, 10_000, 80, 3 * time.Second, time.Hour}
)

// marks all processes of one campaign.
const mark = "PARLEY_CAMPAIGN"

// TestCrashWakesEveryoneOnce kills a hub whose agents run as processes, which die as well, hang, fail and leave
// others behind. In the end everything that woke an agent was seen by exactly one run that ended well, or ended
// in a failure that has a name, and no process is left.
func TestCrashWakesEveryoneOnce(t *testing.T) {
	l := tenth
	if os.Getenv("PARLEY_CRASH_ROUNDS") != "" {
		l = whole
	}
	_, random := campaign(t, l.kills)
	home := t.TempDir()
	posted, killed := 0, 0
	for n := range l.kills {
		to := l.messages * (n + 1) / (l.kills + 1)
		more, ended := work(t, time.Duration(random.Int64N(int64(l.longest))), home, l.agents, posted, to)
		if posted += more; !ended {
			killed++
		}
	}
	more, ended := work(t, l.last, home, l.agents, posted, l.messages)
	if posted += more; !ended || posted != l.messages {
		t.Fatalf("the last hub has not ended, or posted %d of %d", posted, l.messages)
	}
	if left := marked(t, home); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	judged, err := exec.Command(victim(t), "judge", home, fmt.Sprint(l.messages)).CombinedOutput()
	t.Logf("%d kills: %s", killed, judged)
	if err != nil || killed < l.kills/2 {
		t.Errorf("%d kills of %d: %v", killed, l.kills, err)
	}
}

// work has a victim run agents and post messages for them. It says how many were acknowledged, and whether all
// was done before the victim was killed.
func work(t *testing.T, life time.Duration, home string, agents, from, to int) (posted int, ended bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), life)
	defer cancel()
	var stdout, stderr bytes.Buffer
	work := exec.CommandContext(ctx, victim(t), "run", home, fmt.Sprint(agents), fmt.Sprint(from), fmt.Sprint(to))
	work.Stdout, work.Stderr = &stdout, &stderr
	work.Env = append(os.Environ(), mark+"="+home)
	err := work.Run()
	if stderr.Len() > 0 || err != nil && ctx.Err() == nil {
		t.Fatalf("the victim failed: %v: %s", err, &stderr)
	}
	return bytes.Count(stdout.Bytes(), []byte("\n")), err == nil
}

// marked are the processes of a campaign that go on.
func marked(t *testing.T, home string) (commands []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Fatalf("no process can be seen: %v", err)
	}
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err == nil && bytes.Contains(environment, []byte(mark+"="+home+"\x00")) {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			commands = append(commands, string(command))
		}
	}
	return commands
}
