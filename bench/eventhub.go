package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/httpstream"
	"github.com/parley-hub/parley/internal/hub"
)

// eventHubVariable is an environment variable. It makes this program the hub whose event streams are measured. The hub runs in a
// process of its own, so that its resources are measured separately from those of the readers.
const eventHubVariable = "PARLEY_BENCH_EVENTS"

const (
	conversationCount = 100
	membersEach       = 10
	subscriberCount   = conversationCount * membersEach
)

// eventHub is a hub in another process, with private conversations of ten members each.
type eventHub struct {
	Address       string
	Tokens        []string // of the members, conversation by conversation
	Conversations []string

	process *exec.Cmd
	stdin   io.WriteCloser
	answers *json.Decoder
}

func startEventHub(ctx context.Context) (*eventHub, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &eventHub{process: exec.CommandContext(ctx, program)}
	h.process.Env = append(os.Environ(), eventHubVariable+"=1")
	h.process.Stderr = os.Stderr
	stdout, err := h.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if h.stdin, err = h.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := h.process.Start(); err != nil {
		return nil, err
	}
	h.answers = json.NewDecoder(stdout)
	return h, h.answers.Decode(h)
}

func (h *eventHub) stop() error { return errors.Join(h.stdin.Close(), h.process.Wait()) }

// collect makes the hub free its garbage, so that only what it keeps counts.
func (h *eventHub) collect() error {
	_, err := fmt.Fprintln(h.stdin)
	return errors.Join(err, h.answers.Decode(&struct{}{}))
}

// used returns the processor time that the hub has used, and the memory that it has in use.
func (h *eventHub) used() (cpu time.Duration, resident int64, err error) {
	dir := "/proc/" + strconv.Itoa(h.process.Process.Pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, 0, fmt.Errorf("what a process uses can be seen on Linux only: %w", err)
	}
	const ticksPerSecond = 100
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] { // time in user mode and in system mode
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0, 0, err
		}
		cpu += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	pages, err := strconv.ParseInt(fields[21], 10, 64)
	return cpu, pages * int64(os.Getpagesize()), err
}

// serveEventHub runs the hub in the other process until the standard input ends. It prints the hub's address and tokens first.
func serveEventHub(ctx context.Context) error {
	db, done, err := onSQLite().open(ctx)
	if err != nil {
		return err
	}
	h, err := hub.New(ctx, db, hub.Config{Rate: hub.Rate{PerSecond: -1}, Load: hub.Load{Reads: hub.Rate{PerSecond: -1, Burst: 1}}})
	if err != nil {
		return err
	}
	h.Start(ctx)
	self := &eventHub{Tokens: make([]string, subscriberCount), Conversations: make([]string, conversationCount)}
	if err := self.addMembers(ctx, h); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	self.Address = listener.Addr().String()
	closing, endStreams := context.WithCancel(ctx)
	defer endStreams()
	api := httpapi.New(h, httpapi.Options{Closing: closing, MCP: serveMCP})
	server := &http.Server{Handler: httpstream.New(slog.Default()).Handler(api, httpapi.IsStream), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	if err := json.NewEncoder(os.Stdout).Encode(self); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); { // each line asks for the memory without garbage
		debug.FreeOSMemory()
		fmt.Println("{}")
	}
	endStreams()
	_ = server.Close()
	h.Stop()
	return done()
}

// addMembers adds all conversations with their members.
func (h *eventHub) addMembers(ctx context.Context, inner *hub.Hub) error {
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	errs := make([]error, conversationCount)
	var group sync.WaitGroup
	for conv := range conversationCount {
		group.Go(func() { errs[conv] = h.createConversation(ctx, inner, owner, conv) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (h *eventHub) createConversation(ctx context.Context, inner *hub.Hub, owner hub.Caller, conv int) error {
	var members []string
	for n := conv * membersEach; n < (conv+1)*membersEach; n++ {
		if _, err := inner.AddAgent(ctx, owner, parley.NewAgent{ID: agentName(n)}); err != nil {
			return err
		}
		made, err := inner.NewToken(ctx, owner, parley.NewToken{Agent: agentName(n)})
		if err != nil {
			return err
		}
		h.Tokens[n] = made.Secret
		members = append(members, agentName(n))
	}
	view, err := inner.CreateConversation(ctx, hub.Caller{Agent: members[0]}, parley.NewConversation{
		Name: "room-" + strconv.Itoa(conv), Private: true, With: members[1:],
	})
	h.Conversations[conv] = view.ID
	return err
}
