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
	roundsPerHome = 10 // then a new home, so that every stage of a database's growth is hit
	workers       = "50"
	mostPosted    = 40 // lines of a victim that posts, before it is killed
)

// built is where the programs are that tests have built.
var built = filepath.Join(os.TempDir(), "crashtest-"+strconv.Itoa(os.Getpid()))

// Each program is built once, without the race detector: a crash is timed against the real thing.
var (
	buildVictim  = sync.OnceValues(func() (string, error) { return build("victim", "./victim") })
	buildProgram = sync.OnceValues(func() (string, error) {
		if given := os.Getenv("PARLEY_ATTACK_PROGRAM"); given != "" {
			return given, nil // to compare with
		}
		return build("parley", "../../cmd/parley")
	})
)

func build(name, source string) (string, error) {
	path := filepath.Join(built, name)
	build := exec.Command("go", "build", "-o", path, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return path, build.Run()
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(built)
	os.Exit(code)
}

func victim(t *testing.T) string { return found(t, buildVictim) }

// program is parley itself.
func program(t *testing.T) string { return found(t, buildProgram) }

func found(t *testing.T, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// moment is when a victim is killed: once it has printed so many lines, or, if it is to print none, so long after it was started.
// Lines do not depend on how fast the machine is.
type moment struct {
	lines int
	after time.Duration
}

const (
	startOneIn   = 5 // rounds in which the victim is killed while it starts
	longestStart = 50 * time.Millisecond
)

// someMoment draws a moment with at most so many lines.
func someMoment(random *rand.Rand, most int) moment {
	if random.IntN(startOneIn) == 0 {
		return moment{after: time.Duration(random.Int64N(int64(longestStart)))}
	}
	return moment{lines: 1 + random.IntN(most)}
}

// TestCrashLosesNothingAcknowledged kills a posting hub at random moments, repeatedly on the same home, and checks the home each
// time.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	rounds, random := campaign(t, defaultRounds)
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
		acknowledged.Write(crash(t, someMoment(random, mostPosted), "post", home, workers, "0"))
		examine(t, round, &acknowledged, "verify", home)
	}
	total += strings.Count(acknowledged.String(), "\n")
	t.Logf("%d crashes, %d acknowledged messages, none lost", rounds, total)
	if total < rounds {
		t.Errorf("only %d messages were acknowledged in %d rounds: the test shows little", total, rounds)
	}
}

// campaign is how many rounds to play, and by what chance.
func campaign(t *testing.T, rounds int) (int, *rand.Rand) {
	t.Helper()
	seed := uint64(1) // a part of it is the same every time
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
func crash(t *testing.T, at moment, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	work := exec.Command(victim(t), args...)
	stdout := &counted{left: at.lines, full: func() { _ = work.Process.Kill() }}
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
	printed := stdout.kept
	return printed[:bytes.LastIndexByte(printed, '\n')+1]
}

// counted keeps the output, and calls full once the output has the given number of lines. With 0 it never calls full.
type counted struct {
	kept []byte // no bytes.Buffer, which would be copied to without Write
	left int
	full func()
}

func (c *counted) Write(p []byte) (int, error) {
	if c.left > 0 {
		if c.left -= bytes.Count(p, []byte("\n")); c.left <= 0 {
			c.left = 0
			c.full()
		}
	}
	c.kept = append(c.kept, p...)
	return len(p), nil
}

// examine runs a victim that compares the home with earlier output, and returns the output of that victim.
func examine(t *testing.T, round int, printed *bytes.Buffer, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	look := exec.Command(victim(t), args...)
	look.Stdin, look.Stderr = bytes.NewReader(printed.Bytes()), &stderr
	out, err := look.Output()
	if err != nil {
		t.Fatalf("round %d: %s: %v: %s", round, args[0], err, &stderr)
	}
	return out
}
