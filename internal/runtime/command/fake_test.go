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

// TestMain lets the test program also act as the fake clients. If there is a file with the name of the program and the suffix
// .play, the program behaves as the file says. syscall.Exit leaves out the second for which the race detector waits at the end of each process.
func TestMain(m *testing.M) {
	if play, err := os.ReadFile(os.Args[0] + ".play"); err == nil {
		syscall.Exit(runFakeClient(play))
	}
	if len(os.Args) > 1 && os.Args[1] == holder {
		time.Sleep(time.Hour)
	}
	if len(os.Args) > 2 && os.Args[1] == fakeHub {
		syscall.Exit(runFakeHub(os.Args[2]))
	}
	goleak.VerifyTestMain(m)
}

// holder is the argument that makes the test program keep its output open. It never ends by itself.
const holder = "hold"

// fakeClient is the behaviour of a fake client.
type fakeClient struct {
	Behaviour string // a key of behaviours
	Stdout    string
	Stderr    string
	Exit      int
}

// clientInput is what a fake client received.
type clientInput struct {
	Args          []string
	Env           []string
	ParentEnviron string // the environment of its parent, if it can read that
	Dir           string
	Stdin         string
}

// behaviours are the functions of fake clients by name. Each returns the exit code of the client.
var behaviours = map[string]func(p fakeClient) int{
	"answer": func(p fakeClient) int { return p.answer() },
	"answer in pieces": func(p fakeClient) int {
		for piece := range slices.Chunk([]byte(p.Stdout), 7) {
			_, _ = os.Stdout.Write(piece)
		}
		return p.Exit
	},
	"ask": func(p fakeClient) int { // then wait for ever for a yes
		p.answer()
		return forever()
	},
	"ignore TERM": func(p fakeClient) int {
		signal.Ignore(syscall.SIGTERM)
		p.answer()
		return forever()
	},
	"flood": func(p fakeClient) int {
		for line := []byte(p.Stdout); ; {
			_, _ = os.Stdout.Write(line)
		}
	},
	"leave a child": func(p fakeClient) int { hold(nil); return p.answer() },
	"leave a daemon": func(p fakeClient) int {
		hold(&syscall.SysProcAttr{Setsid: true})
		return p.answer()
	},
	"die half-way": func(p fakeClient) int {
		_, _ = io.WriteString(os.Stdout, p.Stdout[:len(p.Stdout)/2])
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		return forever()
	},
	"know no session": func(p fakeClient) int {
		if !slices.Contains(os.Args, "gone") {
			return p.answer()
		}
		_, _ = io.WriteString(os.Stderr, p.Stderr)
		return 1
	},
}

func (p fakeClient) answer() int {
	_, _ = io.WriteString(os.Stdout, p.Stdout)
	_, _ = io.WriteString(os.Stderr, p.Stderr)
	return p.Exit
}

func forever() int {
	time.Sleep(time.Hour)
	return 0
}

// hold starts a process that keeps the output of this one open, and writes its number to stderr.
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

// runFakeClient reads the whole prompt as real clients do, writes the input of the client to a file, and runs the behaviour.
func runFakeClient(text []byte) int {
	var p fakeClient
	if err := json.Unmarshal(text, &p); err != nil {
		panic(err)
	}
	dir, _ := os.Getwd()
	prompt, _ := io.ReadAll(os.Stdin)
	parents, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", os.Getppid()))
	note, err := json.Marshal(clientInput{
		Args: os.Args[1:], Env: os.Environ(), Dir: dir, Stdin: string(prompt),
		ParentEnviron: string(bytes.ReplaceAll(parents, []byte{0}, []byte("\n"))),
	})
	if err == nil {
		err = os.WriteFile(os.Args[0]+".seen", note, 0o600)
	}
	if err != nil {
		panic(err)
	}
	return behaviours[p.Behaviour](p)
}

// install puts a fake client into a directory.
func install(t *testing.T, dir, program string, p fakeClient) {
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

func readClientInput(t *testing.T, dir, program string) (s clientInput) {
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

// recording returns the recorded output of a real client.
func recording(t *testing.T, client, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "recordings", client, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(text), "\n") + "\n"
}

// slowReader returns at most a few bytes from each read.
type slowReader struct {
	text  string
	chunk int
}

func (s *slowReader) Read(b []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(b, s.text[:min(s.chunk, len(s.text))])
	s.text = s.text[n:]
	return n, nil
}
