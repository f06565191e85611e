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

// attackedHub is a hub in a process of its own.
type attackedHub struct {
	t       *testing.T
	process *os.Process
	address string
	owner   *http.Client // connects through the socket
	token   string       // of mallory, the attacker
	trace   string       // the id of a trace of large messages
}

const (
	largeText  = 200 << 10
	largePosts = 60
)

// startAttackedHub starts a hub, adds large messages, and makes a token for an agent. If descriptors is not 0, it limits the
// descriptors of the hub.
func startAttackedHub(t *testing.T, descriptors int) *attackedHub {
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
	a := &attackedHub{t: t, process: up.Process}
	a.awaitAddress(dir, ended, &log)
	a.addMessages()
	return a
}

// awaitAddress waits until the hub has written its address and socket to its home.
func (a *attackedHub) awaitAddress(dir home.Dir, ended <-chan error, log *bytes.Buffer) {
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
		case <-time.After(20 * time.Millisecond): // the hub sends no signal, so the test polls
		}
	}
}

// addMessages adds the agents, the conversation and the large messages that attacks read.
func (a *attackedHub) addMessages() {
	a.t.Helper()
	for _, id := range []string{"mallory", "ned"} {
		a.mustCall("POST", "/v1/agents", map[string]any{"id": id}, nil)
	}
	a.token = a.tokenOf("mallory")
	a.mustCall("POST", "/v1/conversations", map[string]any{"name": "square", "with": []string{"mallory", "ned"}}, nil)
	var first struct {
		Message struct {
			ID    string
			Trace string `json:"trace_id"`
		}
	}
	large := strings.Repeat("many words to look at ", largeText/22)
	a.mustCall("POST", "/v1/messages", map[string]any{"conversation": "square", "content": map[string]string{"text": large}}, &first)
	for range largePosts {
		a.mustCall("POST", "/v1/messages", map[string]any{"in_reply_to": first.Message.ID, "content": map[string]string{"text": large}}, nil)
	}
	a.trace = first.Message.Trace
}

func (a *attackedHub) tokenOf(agent string) string {
	a.t.Helper()
	var made struct{ Secret string }
	a.mustCall("POST", "/v1/tokens", map[string]any{"agent": agent, "scopes": []string{"read", "send"}}, &made)
	return made.Secret
}

// mustCall makes a call as the owner through the socket. It ends the test if the call fails.
func (a *attackedHub) mustCall(method, path string, body, into any) {
	a.t.Helper()
	if err := a.call(method, path, body, into); err != nil {
		a.t.Fatal(err)
	}
}

func (a *attackedHub) call(method, path string, body, into any) error {
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
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %.300s: %w", method, path, response.Status, text, err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// residentMiB returns the resident memory of the hub, in MiB.
func (a *attackedHub) residentMiB() int {
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

// descriptors returns the number of files and connections that the hub has open.
func (a *attackedHub) descriptors() int {
	a.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", a.process.Pid))
	if err != nil {
		a.t.Fatal(err)
	}
	return len(open)
}

// measured holds the measurements of a hub during an attack.
type measured struct {
	before, memory, descriptors int // MiB at the start, the most MiB, the most descriptors
	calls                       []time.Duration
}

// watch measures the hub and makes calls as its owner, until the caller calls stop.
func (a *attackedHub) watch() (stop func() measured) {
	ctx, cancel := context.WithCancel(a.t.Context())
	m, done := measured{before: a.residentMiB()}, make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ctx.Err() == nil; n++ {
			began := time.Now()
			if err := a.callAsOwner(n); err != nil {
				a.t.Errorf("the owner is not served: %v", err)
				return
			}
			m.calls = append(m.calls, time.Since(began))
			m.memory, m.descriptors = max(m.memory, a.residentMiB()), max(m.descriptors, a.descriptors())
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

// callAsOwner makes the nth call of the owner during an attack: a read or a write, in turn.
func (a *attackedHub) callAsOwner(n int) error {
	if n%2 == 0 {
		return a.call("GET", "/v1/status", nil, nil)
	}
	return a.call("POST", "/v1/messages", map[string]any{"conversation": "square", "content": map[string]string{"text": fmt.Sprint("number ", n)}}, nil)
}
