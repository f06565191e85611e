package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

var printUTC = PrintLine(time.RFC3339, time.UTC)

func TestLinesInAndOut(t *testing.T) {
	conversation := newConversation()
	conversation.put("arya", "said long ago")
	var out strings.Builder
	if err := Lines(t.Context(), conversation, strings.NewReader("hello\n\nbye\x1b[2J\n"), &out, printUTC); err != nil {
		t.Fatal(err)
	}
	want := "2026-03-14T09:28:00Z user: hello\n2026-03-14T09:29:00Z user: bye␛[2J\n"
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
	if conversation.read != 30 {
		t.Errorf("read up to %d, want 30", conversation.read)
	}
}

func TestLinesAsJSON(t *testing.T) {
	var out bytes.Buffer
	if err := Lines(t.Context(), newConversation(), strings.NewReader("a < b\n"), &out, PrintJSON); err != nil {
		t.Fatal(err)
	}
	var m parley.Message
	if err := json.Unmarshal(out.Bytes(), &m); err != nil || m.Content.Text != "a < b" || strings.Contains(out.String(), `\u003c`) {
		t.Errorf("printed %s (%v)", &out, err)
	}
}

func TestLinesOfOthersComeAsTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conversation := newConversation()
		in, typing := io.Pipe()
		reading, out := io.Pipe()
		done := make(chan error)
		go func() { done <- Lines(t.Context(), conversation, in, out, printUTC) }()
		synctest.Wait()
		conversation.put("arya", "one\ntwo")
		conversation.signals <- happened(parley.EventMessagePosted)
		got := make([]byte, 100)
		n, err := reading.Read(got)
		if want := "2026-03-14T09:27:00Z arya: one\n    two\n"; err != nil || string(got[:n]) != want {
			t.Errorf("printed %q (%v), want %q", got[:n], err, want)
		}
		_ = typing.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestLinesOutliveTheHub types while the hub is unreachable: the line is sent once, when the hub is back.
func TestLinesOutliveTheHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conversation := newConversation()
		in, typing := io.Pipe()
		var out strings.Builder
		done := make(chan error)
		go func() { done <- Lines(t.Context(), conversation, in, &out, printUTC) }()
		synctest.Wait()
		conversation.setUnreachable(true)
		_, _ = io.WriteString(typing, "patience\n")
		time.Sleep(time.Minute)
		conversation.setUnreachable(false)
		_ = typing.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if len(conversation.messages) != 1 || !strings.Contains(out.String(), "patience") {
			t.Errorf("%d messages are stored, printed %q", len(conversation.messages), &out)
		}
	})
}

func TestLinesThatCannotGoOn(t *testing.T) {
	refused := parley.Errorf(parley.NotPermitted, "no").Because(parley.Unauthenticated)
	t.Run("the hub refuses the message", func(t *testing.T) {
		conversation := newConversation()
		conversation.refusal = refused
		if err := Lines(t.Context(), conversation, strings.NewReader("hello\n"), io.Discard, printUTC); !errors.Is(err, refused) {
			t.Errorf("ends with %v, want %v", err, refused)
		}
	})
	t.Run("the hub refuses to be followed", func(t *testing.T) {
		conversation := newConversation()
		conversation.refused <- refused
		in, _ := io.Pipe()
		if err := Lines(t.Context(), conversation, in, io.Discard, printUTC); !errors.Is(err, refused) {
			t.Errorf("ends with %v, want %v", err, refused)
		}
	})
	t.Run("the hub is away from the start", func(t *testing.T) {
		conversation := newConversation()
		conversation.unreachable = true
		if err := Lines(t.Context(), conversation, strings.NewReader(""), io.Discard, printUTC); !errors.Is(err, ErrUnreachable) {
			t.Errorf("ends with %v, want %v", err, ErrUnreachable)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		in, _ := io.Pipe()
		if err := Lines(ctx, newConversation(), in, io.Discard, printUTC); !errors.Is(err, context.Canceled) {
			t.Errorf("ends with %v, want %v", err, context.Canceled)
		}
	})
}
