package top

import (
	"errors"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/screentest"
)

func durationOf(seconds int) time.Duration { return time.Duration(seconds) * time.Second }

// runTop shows a hub on a terminal. What it returns tells how that ended.
func runTop(t *testing.T, h *fakeHub, columns, rows int) (*screentest.Terminal, <-chan error) {
	t.Helper()
	term, tty := screentest.Open(t, columns, rows)
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), h, tty, tty, []string{"TERM=xterm-256color"})
		_ = tty.Close()
	}()
	return term, done
}

func TestOnATerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/parley-hub/parley/internal/screentest.(*Terminal).show"))
	h := newFakeHub()
	term, done := runTop(t, h, 100, 24)
	term.Await("parley top", "AGENT", "arya", "#project-alpha", "q quits")
	h.events <- happened(parley.EventRunProgress, "arya", map[string]string{"run": "r1", "text": "Comparing the numbers"})
	term.Await("Comparing the numbers")
	h.with(func() { h.snapshot.Agents[3].Status = parley.StatusWorking })
	h.events <- happened(parley.EventAgentPresence, "hodor", nil)
	term.Await("hodor   working")
	term.Type("jp")
	term.Await("hodor is paused")
	term.Type("p")
	term.Await("hodor is resumed")
	term.Type("\r")
	term.Await("AryaBot", "Esc goes back")
	term.Type("\x1b")
	term.Await("live runs")
	term.Type("q")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestTheHubRefuses(t *testing.T) {
	h := newFakeHub()
	refused := parley.Errorf(parley.NotPermitted, "the token was revoked").Because(parley.Unauthenticated)
	term, done := runTop(t, h, 80, 24)
	term.Await("arya")
	h.refusal <- refused
	if err := <-done; !errors.Is(err, refused) {
		t.Errorf("ends with %v, want %v", err, refused)
	}
}

func TestNoHubNoScreen(t *testing.T) {
	h := newFakeHub()
	h.away = errors.New("away")
	if err := Run(t.Context(), h, os.Stdin, os.Stdout, nil); !errors.Is(err, h.away) {
		t.Errorf("ends with %v, want %v", err, h.away)
	}
}
