package parley

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// refused fails the test unless err is bad input as a user may be shown it: E003, a sentence with all of
// the parts, and a hint.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("got %v, want an *Error", err)
	}
	if e.Code != BadInput || !e.Recoverable {
		t.Errorf("not an E003 that can be put right: %+v", e)
	}
	if e.Message == "" || e.Suggestion == "" {
		t.Errorf("the error lacks a sentence or a hint: %+v", e)
	}
	for _, part := range parts {
		if !strings.Contains(e.Message, part) {
			t.Errorf("the sentence %q does not name %q", e.Message, part)
		}
	}
}

func TestCodesSayWhetherARetryHelps(t *testing.T) {
	for code, recoverable := range map[Code]bool{
		"E001": false, "E002": true, "E003": true, "E004": true, "E005": true, "E006": false,
	} {
		if e := Errorf(code, "x"); e.Recoverable != recoverable || e.Code != code {
			t.Errorf("%s: recoverable is %t, want %t", code, e.Recoverable, recoverable)
		}
	}
	if e := Errorf(Internal, "disk busy").Retryable(time.Second); !e.Recoverable || e.RetryAfter != time.Second {
		t.Errorf("E006 depends, but Retryable had no effect: %+v", e)
	}
}

func TestCodesHaveTheirMeaning(t *testing.T) {
	want := []Code{"E001", "E002", "E003", "E004", "E005", "E006"}
	for i, code := range []Code{NotPermitted, Unavailable, BadInput, TimedOut, DependencyFailed, Internal} {
		if code != want[i] {
			t.Errorf("code %d is %s, want %s", i, code, want[i])
		}
	}
}

func TestErrorTextHasCodeSentenceAndHint(t *testing.T) {
	e := Errorf(BadInput, "ttl is %d seconds", -1).Suggest("use 1 to %d", 9)
	if got, want := e.Error(), "E003: ttl is -1 seconds (use 1 to 9)"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	if got, want := Errorf(TimedOut, "100%% late").Error(), "E004: 100% late"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
}

func TestErrorKeepsItsCause(t *testing.T) {
	e := Errorf(Unavailable, "cannot read: %w", io.ErrUnexpectedEOF)
	if !errors.Is(e, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
	if errors.Unwrap(Errorf(Unavailable, "cannot read")) != nil {
		t.Error("there is a cause where none was given")
	}
}

func TestAsErrorFindsOneInsideOrSaysInternal(t *testing.T) {
	inner := Errorf(NotPermitted, "no").Because(Conflict)
	if got := AsError(fmt.Errorf("posting: %w", inner)); got != inner {
		t.Errorf("got %v, want the error inside", got)
	}
	plain := errors.New("boom")
	if got := AsError(plain); got.Code != Internal || got.Recoverable || !errors.Is(got, plain) || got.Message != "boom" {
		t.Errorf("got %+v, want an internal error around the plain one", got)
	}
	if AsError(nil) != nil || CodeOf(nil) != "" {
		t.Error("nil became an error")
	}
	if CodeOf(plain) != Internal || CodeOf(fmt.Errorf("x: %w", inner)) != NotPermitted {
		t.Error("CodeOf disagrees with AsError")
	}
}

func TestErrorAsJSON(t *testing.T) {
	raw, err := json.Marshal(Errorf(Unavailable, "full").Suggest("wait").Because(RateLimited).Retryable(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"code":"E002","message":"full","recoverable":true,"suggestion":"wait","reason":"rate_limited"}`
	if string(raw) != want {
		t.Errorf("got %s, want %s", raw, want)
	}
}
