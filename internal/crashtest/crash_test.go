package crashtest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	defaultRounds = 100
	roundsPerHome = 10 // after these the test uses a new home, so that it kills hubs with small and with large databases
	workers       = "50"
	maxPosted     = 40 // lines of a victim that posts, before it is killed
)

// buildDir is the directory of the programs that the tests build.
var buildDir = filepath.Join(os.TempDir(), "crashtest-"+strconv.Itoa(os.Getpid()))

// The tests build each program once, without the race detector, because it would change the timing of crashes.
var (
	buildVictim  = sync.OnceValues(func() (string, error) { return build("victim", "./victim") })
	buildProgram = sync.OnceValues(func() (string, error) {
		if given := os.Getenv("PARLEY_ATTACK_PROGRAM"); given != "" {
			return given, nil // a program to compare with
		}
		return build("parley", "../../cmd/parley")
	})
)

func build(name, source string) (string, error) {
	path := filepath.Join(buildDir, name)
	build := exec.Command("go", "build", "-o", path, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return path, build.Run()
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(buildDir)
	os.Exit(code)
}

func victim(t *testing.T) string { return mustBuild(t, buildVictim) }

// program returns the path of the parley program.
func program(t *testing.T) string { return mustBuild(t, buildProgram) }

func mustBuild(t *testing.T, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// killTime says when to kill a victim: once it has printed the given number of lines, or, if that is 0, after the given time.
// Unlike a time, a number of lines does not depend on the speed of the machine.
type killTime struct {
	lines int
	after time.Duration
}

const (
	startOneIn = 5 // rounds in which the victim is killed while it starts
	maxStart   = 50 * time.Millisecond
)

// randomKillTime draws a killTime with at most maxLines lines.
func randomKillTime(random *rand.Rand, maxLines int) killTime {
	if random.IntN(startOneIn) == 0 {
		return killTime{after: time.Duration(random.Int64N(int64(maxStart)))}
	}
	return killTime{lines: 1 + random.IntN(maxLines)}
}

// TestCrashLosesNothingAcknowledged kills a posting hub at random moments, repeatedly on the same home, and checks the home each
// time.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	rounds, random := seededRounds(t, defaultRounds)
	var (
		home         string
		acknowledged bytes.Buffer
		total        int
	)
	for round := range rounds {
		if round%roundsPerHome == 0 {
			total += strings.Count(acknowledged.String(), "\n")
			home = t.TempDir()
			acknowledged.Reset()
		}
		acknowledged.Write(crash(t, randomKillTime(random, maxPosted), "post", home, workers, "0"))
		examine(t, round, &acknowledged, "verify", home)
	}
	total += strings.Count(acknowledged.String(), "\n")
	t.Logf("%d crashes, %d acknowledged messages, none lost", rounds, total)
	if total < rounds {
		t.Errorf("only %d messages were acknowledged in %d rounds: the test shows little", total, rounds)
	}
}

// seededRounds returns the number of rounds and the random numbers of a test. PARLEY_CRASH_ROUNDS sets the number and makes the
// numbers differ from run to run.
func seededRounds(t *testing.T, rounds int) (int, *rand.Rand) {
	t.Helper()
	seed := uint64(1) // a short run draws the same numbers every time
	if s := os.Getenv("PARLEY_CRASH_ROUNDS"); s != "" {
		var err error
		if rounds, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return rounds, rand.New(rand.NewPCG(seed, 0))
}

// crash kills a victim at a given moment, and returns its output without an incomplete last line.
func crash(t *testing.T, at killTime, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	work := exec.Command(victim(t), args...)
	stdout := &lineCounter{remaining: at.lines, full: func() { _ = work.Process.Kill() }}
	work.Stdout, work.Stderr = stdout, &stderr
	if err := work.Start(); err != nil {
		t.Fatal(err)
	}
	if at.lines == 0 {
		kill := time.AfterFunc(at.after, func() { _ = work.Process.Kill() })
		defer kill.Stop()
	}
	if err := work.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("the victim was not killed but ended by itself: %v: %s", err, &stderr)
	}
	printed := stdout.output
	return printed[:bytes.LastIndexByte(printed, '\n')+1]
}

// lineCounter keeps the output, and calls full once the output has the given number of lines. With 0 it never calls full.
type lineCounter struct {
	output    []byte // not an embedded bytes.Buffer: io.Copy would use its ReadFrom instead of Write
	remaining int
	full      func()
}

func (c *lineCounter) Write(p []byte) (int, error) {
	if c.remaining > 0 {
		if c.remaining -= bytes.Count(p, []byte("\n")); c.remaining <= 0 {
			c.remaining = 0
			c.full()
		}
	}
	c.output = append(c.output, p...)
	return len(p), nil
}

// examine runs a victim that compares the home with the output of earlier victims. It returns the new victim's output.
func examine(t *testing.T, round int, printed *bytes.Buffer, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	check := exec.Command(victim(t), args...)
	check.Stdin, check.Stderr = bytes.NewReader(printed.Bytes()), &stderr
	out, err := check.Output()
	if err != nil {
		t.Fatalf("round %d: %s: %v: %s", round, args[0], err, &stderr)
	}
	return out
}
