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
	longestRound  = 150 * time.Millisecond
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

// TestCrashLosesNothingAcknowledged kills a posting hub at random moments, again and again on the
// same home, and looks at what is left each time.
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
		acknowledged.Write(crash(t, time.Duration(random.Int64N(int64(longestRound))), "post", home, workers, "0"))
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

// crash lets a victim work for a time, kills it, and returns what it has printed. A line that was cut off
// counts as not printed.
func crash(t *testing.T, after time.Duration, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	work := exec.Command(victim(t), args...)
	work.Stdout, work.Stderr = &stdout, &stderr
	if err := work.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(after, func() { _ = work.Process.Kill() })
	defer kill.Stop()
	if err := work.Wait(); err == nil || stderr.Len() > 0 {
		t.Fatalf("the victim was not killed but ended by itself: %v: %s", err, &stderr)
	}
	printed := stdout.Bytes()
	return printed[:bytes.LastIndexByte(printed, '\n')+1]
}

// examine has a victim compare what is there with what was printed, and returns what it prints itself.
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
