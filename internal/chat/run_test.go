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
func runChat(t *testing.T, conversation Conversation, environ ...string) (*screentest.Terminal, <-chan error) {
	t.Helper()
	term, tty := screentest.Open(t, 80, 24)
	done := make(chan error, 1)
	go func() {
		done <- Run(t.Context(), conversation, tty, tty, append(environ, "TERM=xterm-256color"))
		_ = tty.Close()
	}()
	return term, done
}

func TestOnATerminal(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/parley-hub/parley/internal/screentest.(*Terminal).show"))
	conversation := newConversation()
	conversation.put("arya", "anybody here?")
	term, done := runChat(t, conversation)
	term.Await("#forge · swords", "arya idle", "anybody here?")
	term.Type("me, @ar\t")
	term.Await("› me, @arya")
	term.Type("\r")
	term.Await("  me, @arya", "accepted")
	conversation.put("arya", "good")
	conversation.signals <- happened(parley.EventMessagePosted)
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
		conversation := newConversation()
		conversation.put("arya", "anybody here?")
		term, done := runChat(t, conversation, test.environ...)
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
	conversation := newConversation()
	term, done := runChat(t, conversation)
	term.Await("#forge")
	conversation.setUnreachable(true)
	term.Type("do not lose me\r")
	term.Await("sending")
	term.Type("\x04")
	if err := <-done; err == nil || !strings.Contains(err.Error(), "do not lose me") {
		t.Errorf("ends with %v", err)
	}
}

func TestARevokedTokenEndsTheChat(t *testing.T) {
	conversation := newConversation()
	refused := parley.Errorf(parley.NotPermitted, "the token was revoked").Because(parley.Unauthenticated)
	term, done := runChat(t, conversation)
	term.Await("#forge")
	conversation.refused <- refused
	if err := <-done; !errors.Is(err, refused) {
		t.Errorf("ends with %v, want %v", err, refused)
	}
}

func TestNoConversationNoScreen(t *testing.T) {
	conversation := newConversation()
	conversation.unreachable = true
	if err := Run(t.Context(), conversation, os.Stdin, os.Stdout, nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("ends with %v, want %v", err, ErrUnreachable)
	}
}
