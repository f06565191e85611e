package chat

import (
	"errors"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/screentest"
)

// runChat chats on a terminal of 80 by 24. What it returns tells how the chat ended.
func runChat(t *testing.T, room Room, environ ...string) (*screentest.Terminal, <-chan error) {
	t.Helper()
	term, tty := screentest.Open(t, 80, 24)
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), room, tty, tty, append(environ, "TERM=xterm-256color"))
		_ = tty.Close()
	}()
	return term, done
}

func TestOnATerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/parley-hub/parley/internal/screentest.(*Terminal).show"))
	room := newRoom()
	room.put("arya", "anybody here?")
	term, done := runChat(t, room)
	term.Await("#forge · swords", "arya idle", "anybody here?")
	term.Type("me, @ar\t")
	term.Await("› me, @arya")
	term.Type("\r")
	term.Await("  me, @arya", "accepted")
	room.put("arya", "good")
	room.signals <- happened(parley.EventMessagePosted)
	term.Await("  good")
	term.Type("\x03")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestColours(t *testing.T) {
	for _, test := range []struct {
		environ []string
		want    bool
	}{{nil, true}, {[]string{"NO_COLOR=1"}, false}} {
		room := newRoom()
		room.put("arya", "anybody here?")
		term, done := runChat(t, room, test.environ...)
		term.Await("anybody here?")
		if got := term.Coloured(); got != test.want {
			t.Errorf("with %q there are colours: %v", test.environ, got)
		}
		term.Type("/quit\r")
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestLeavingWithSomethingUnsent(t *testing.T) {
	room := newRoom()
	term, done := runChat(t, room)
	term.Await("#forge")
	room.setAway(true)
	term.Type("do not lose me\r")
	term.Await("sending")
	term.Type("\x04")
	if err := <-done; err == nil || !strings.Contains(err.Error(), "do not lose me") {
		t.Errorf("ends with %v", err)
	}
}

func TestTheHubShowsOneTheDoor(t *testing.T) {
	room := newRoom()
	refused := parley.Errorf(parley.NotPermitted, "the token was revoked").Because(parley.Unauthenticated)
	term, done := runChat(t, room)
	term.Await("#forge")
	room.refused <- refused
	if err := <-done; !errors.Is(err, refused) {
		t.Errorf("ends with %v, want %v", err, refused)
	}
}

func TestNoRoomNoScreen(t *testing.T) {
	room := newRoom()
	room.away = true
	if err := Run(t.Context(), room, os.Stdin, os.Stdout, nil); !errors.Is(err, ErrAway) {
		t.Errorf("ends with %v, want %v", err, ErrAway)
	}
}
