package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain makes the test program also the clients of the tests: called by the name of one, it plays what the
// file beside that name says.
func TestMain(m *testing.M) {
	if play, err := os.ReadFile(os.Args[0] + ".play"); err == nil {
		os.Exit(perform(play))
	}
	if len(os.Args) > 1 && os.Args[1] == holder {
		time.Sleep(time.Hour)
	}
	if len(os.Args) > 2 && os.Args[1] == standIn {
		os.Exit(standInForTheHub(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// holder is a process that holds open what it was given. It never ends by itself.
const holder = "hold"

// play is what a fake client does.
type play struct {
	Act    string // one of acts
	Stdout string
	Stderr string
	Exit   int
}

// seen is what a fake client was given.
type seen struct {
	Args    []string
	Env     []string
	Parents string // the environment of its parent, as far as it can be read
	Dir     string
	Stdin   string
}

// acts are the ways in which clients misbehave. What they return, they exit with.
var acts = map[string]func(p play) int{
	"answer": func(p play) int { return p.say() },
	"answer in pieces": func(p play) int {
		for piece := range slices.Chunk([]byte(p.Stdout), 7) {
			_, _ = os.Stdout.Write(piece)
		}
		return p.Exit
	},
	"ask": func(p play) int { // and wait for ever for a yes
		p.say()
		return forever()
	},
	"ignore TERM": func(p play) int {
		signal.Ignore(syscall.SIGTERM)
		p.say()
		return forever()
	},
	"flood": func(p play) int {
		for line := []byte(p.Stdout); ; {
			_, _ = os.Stdout.Write(line)
		}
	},
	"leave a child": func(p play) int { hold(nil); return p.say() },
	"leave a daemon": func(p play) int {
		hold(&syscall.SysProcAttr{Setsid: true})
		return p.say()
	},
	"die half-way": func(p play) int {
		_, _ = io.WriteString(os.Stdout, p.Stdout[:len(p.Stdout)/2])
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return forever()
	},
	"know no session": func(p play) int {
		if !slices.Contains(os.Args, "gone") {
			return p.say()
		}
		_, _ = io.WriteString(os.Stderr, p.Stderr)
		return 1
	},
}

func (p play) say() int {
	_, _ = io.WriteString(os.Stdout, p.Stdout)
	_, _ = io.WriteString(os.Stderr, p.Stderr)
	return p.Exit
}

func forever() int {
	time.Sleep(time.Hour)
	return 0
}

// hold starts a process that has this one's output, and says its number on stderr.
func hold(attr *syscall.SysProcAttr) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	child := exec.Command(self, holder)
	child.Stdout, child.Stderr, child.SysProcAttr = os.Stdout, os.Stderr, attr
	if err := child.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, "holder %d\n", child.Process.Pid)
}

// perform waits for the end of the prompt as real clients do, notes what it was given, and plays.
func perform(text []byte) int {
	var p play
	if err := json.Unmarshal(text, &p); err != nil {
		panic(err)
	}
	dir, _ := os.Getwd()
	prompt, _ := io.ReadAll(os.Stdin)
	parents, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	note, err := json.Marshal(seen{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir, Stdin: string(prompt),
		Parents: string(bytes.ReplaceAll(parents, []byte{0}, []byte("\n"))),
	})
	if err == nil {
		err = os.WriteFile(os.Args[0]+".seen", note, 0o600)
	}
	if err != nil {
		panic(err)
	}
	return acts[p.Act](p)
}

// install puts a fake client into a directory, and returns it.
func install(t *testing.T, dir, program string, p play) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, program))
	}
	text, jsonErr := json.Marshal(p)
	if err != nil || jsonErr != nil {
		t.Fatal(err, jsonErr)
	}
	if err := os.WriteFile(filepath.Join(dir, program+".play"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func wasGiven(t *testing.T, dir, program string) (s seen) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, program+".seen"))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recording is what a real client has written.
func recording(t *testing.T, client, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recordings", client, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n") + "\n"
}

// slowReader gives a few bytes at a time.
type slowReader struct {
	text string
	most int
}

func (s *slowReader) Read(b []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(b, s.text[:min(s.most, len(s.text))])
	s.text = s.text[n:]
	return n, nil
}
