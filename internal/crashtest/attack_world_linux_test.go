package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/home"
)

// attacked is a hub that runs as a program of its own, and is attacked.
type attacked struct {
	t       *testing.T
	process *os.Process
	address string
	owner   *http.Client // by the socket
	token   string       // of mallory, who attacks
	trace   string       // of large messages
}

const (
	manyText  = 200 << 10
	manyPosts = 60
)

// attack starts a hub, under a limit of descriptors if one is given, with something to read and an agent's token.
func attack(t *testing.T, descriptors int) *attacked {
	t.Helper()
	program, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	dir := home.Dir(filepath.Join(t.TempDir(), "home"))
	script := `exec "$0" up --home "$1" --addr 127.0.0.1:0 --log-level warn`
	if descriptors > 0 {
		script = fmt.Sprintf("ulimit -n %d; ", descriptors) + script
	}
	var log bytes.Buffer
	up := exec.Command("sh", "-c", script, program, string(dir))
	up.Stdout, up.Stderr = &log, &log
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- up.Wait() }()
	t.Cleanup(func() {
		_ = up.Process.Signal(os.Interrupt)
		if err := <-ended; err != nil || bytes.Contains(log.Bytes(), []byte("panic")) {
			t.Errorf("the hub ended: %v: %s", err, &log)
		}
	})
	a := &attacked{t: t, process: up.Process}
	a.find(dir, ended, &log)
	a.fill()
	return a
}

// find waits for the hub to say where it is.
func (a *attacked) find(dir home.Dir, ended <-chan error, log *bytes.Buffer) {
	a.t.Helper()
	for {
		found, running, err := dir.Running()
		if err == nil && running && found.Address != "" {
			a.address = found.Address
			a.owner = &http.Client{Timeout: time.Minute, Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, "unix", found.Socket)
				},
			}}
			a.t.Cleanup(a.owner.CloseIdleConnections)
			return
		}
		select {
		case err := <-ended:
			a.t.Fatalf("the hub has not started: %v: %s", err, log)
		case <-time.After(20 * time.Millisecond): // another process has no signal to wait for
		}
	}
}

// fill gives the hub something to read.
func (a *attacked) fill() {
	a.t.Helper()
	for _, id := range []string{"mallory", "ned"} {
		a.must("POST", "/v1/agents", map[string]any{"id": id}, nil)
	}
	a.token = a.tokenOf("mallory")
	a.must("POST", "/v1/conversations", map[string]any{"name": "square", "with": []string{"mallory", "ned"}}, nil)
	var first struct {
		Message struct {
			ID    string
			Trace string `json:"trace_id"`
		}
	}
	large := strings.Repeat("many words to look at ", manyText/22)
	a.must("POST", "/v1/messages", map[string]any{"conversation": "square", "content": map[string]string{"text": large}}, &first)
	for range manyPosts {
		a.must("POST", "/v1/messages", map[string]any{"in_reply_to": first.Message.ID, "content": map[string]string{"text": large}}, nil)
	}
	a.trace = first.Message.Trace
}

func (a *attacked) tokenOf(agent string) string {
	a.t.Helper()
	var made struct{ Secret string }
	a.must("POST", "/v1/tokens", map[string]any{"agent": agent, "scopes": []string{"read", "send"}}, &made)
	return made.Secret
}

// must is a call of the owner by the socket, which must succeed.
func (a *attacked) must(method, path string, body, into any) {
	a.t.Helper()
	if err := a.call(method, path, body, into); err != nil {
		a.t.Fatal(err)
	}
}

func (a *attacked) call(method, path string, body, into any) error {
	var raw io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		raw = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, "http://hub"+path, raw)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.owner.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %.300s: %w", method, path, response.Status, answer, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// resident is the hub's memory, in MiB.
func (a *attacked) resident() int {
	a.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.process.Pid))
	if err != nil {
		a.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		a.t.Fatal(err)
	}
	return kib >> 10
}

// descriptors is how many files and connections the hub has open.
func (a *attacked) descriptors() int {
	a.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", a.process.Pid))
	if err != nil {
		a.t.Fatal(err)
	}
	return len(open)
}

// measured holds the measurements of a hub during an attack.
type measured struct {
	before, memory, descriptors int // MiB, the most MiB, the most descriptors
	calls                       []time.Duration
}

// watch measures a hub, and has its owner call it, until stop is called.
func (a *attacked) watch() (stop func() measured) {
	ctx, cancel := context.WithCancel(a.t.Context())
	m, done := measured{before: a.resident()}, make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ctx.Err() == nil; n++ {
			began := time.Now()
			if err := a.ownerCalls(n); err != nil {
				a.t.Errorf("the owner is not served: %v", err)
				return
			}
			m.calls = append(m.calls, time.Since(began))
			m.memory, m.descriptors = max(m.memory, a.resident()), max(m.descriptors, a.descriptors())
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() measured {
		cancel()
		<-done
		return m
	}
}

// ownerCalls is what the owner does while others attack: it reads, and it writes.
func (a *attacked) ownerCalls(n int) error {
	if n%2 == 0 {
		return a.call("GET", "/v1/status", nil, nil)
	}
	return a.call("POST", "/v1/messages", map[string]any{"conversation": "square", "content": map[string]string{"text": fmt.Sprint("number ", n)}}, nil)
}
