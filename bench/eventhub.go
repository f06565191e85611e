package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// servesEvents makes this program the hub whose event streams are measured. The hub runs in a process of its own, so that its
// resources are measured separately from those of the readers.
const servesEvents = "PARLEY_BENCH_EVENTS"

const (
	rooms    = 100
	perRoom  = 10
	audience = rooms * perRoom
)

// eventHub is a hub in another process, with private conversations of ten members each.
type eventHub struct {
	Address string
	Tokens  []string // of the members, room by room
	Rooms   []string

	process *exec.Cmd
	stdin   io.Closer
}

func startEventHub(ctx context.Context) (*eventHub, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &eventHub{process: exec.CommandContext(ctx, program)}
	h.process.Env = append(os.Environ(), servesEvents+"=1")
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
	return h, json.NewDecoder(stdout).Decode(h)
}

func (h *eventHub) stop() error { return errors.Join(h.stdin.Close(), h.process.Wait()) }

// used is the processor time the hub has used, and the memory it has in use.
func (h *eventHub) used() (cpu time.Duration, resident int64, err error) {
	dir := "/proc/" + strconv.Itoa(h.process.Process.Pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0, 0, fmt.Errorf("what a process uses can be seen on Linux only: %w", err)
	}
	const ticksPerSecond = 100
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, field := range fields[11:13] { // in user and in system mode
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0, 0, err
		}
		cpu += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	pages, err := strconv.ParseInt(fields[21], 10, 64)
	return cpu, pages * int64(os.Getpagesize()), err
}

// serveEventHub is what the other process does until its standard input ends.
func serveEventHub(ctx context.Context) error {
	db, done, err := onSQLite().open(ctx)
	if err != nil {
		return err
	}
	h, err := hub.New(ctx, db, hub.Config{Rate: hub.Rate{PerSecond: -1}})
	if err != nil {
		return err
	}
	h.Start(ctx)
	told := &eventHub{Tokens: make([]string, audience), Rooms: make([]string, rooms)}
	if err := told.people(ctx, h); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	told.Address = listener.Addr().String()
	closing := make(chan struct{})
	server := &http.Server{Handler: httpapi.New(h, httpapi.Options{Closing: closing}), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, bufio.NewReader(os.Stdin))
	close(closing)
	_ = server.Close()
	h.Stop()
	return done()
}

// people adds the members of all conversations.
func (h *eventHub) people(ctx context.Context, in *hub.Hub) error {
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	errs := make([]error, rooms)
	var group sync.WaitGroup
	for room := range rooms {
		group.Go(func() { errs[room] = h.furnish(ctx, in, owner, room) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (h *eventHub) furnish(ctx context.Context, in *hub.Hub, owner hub.Caller, room int) error {
	var members []string
	for n := room * perRoom; n < (room+1)*perRoom; n++ {
		if _, err := in.AddAgent(ctx, owner, parley.NewAgent{ID: agentName(n)}); err != nil {
			return err
		}
		made, err := in.NewToken(ctx, owner, parley.NewToken{Agent: agentName(n)})
		if err != nil {
			return err
		}
		h.Tokens[n] = made.Secret
		members = append(members, agentName(n))
	}
	view, err := in.CreateConversation(ctx, hub.Caller{Agent: members[0]}, parley.NewConversation{
		Name: "room-" + strconv.Itoa(room), Private: true, With: members[1:],
	})
	h.Rooms[room] = view.ID
	return err
}
