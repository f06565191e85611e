package cli

import (
	"errors"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/chat"
)

func TestWhoIsAway(t *testing.T) {
	cause := errors.New("connection refused")
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{parley.Errorf(parley.Unavailable, "the hub is not running").From(cause), true},
		{parley.Errorf(parley.TimedOut, "the hub did not answer in time").From(cause), true},
		{parley.Errorf(parley.Unavailable, "the inbox is full"), false}, // the hub says so
		{parley.Errorf(parley.NotPermitted, "the hub belongs to another user").From(cause), false},
	} {
		got := away(test.err)
		if errors.Is(got, chat.ErrAway) != test.want || parley.CodeOf(got) != parley.CodeOf(test.err) {
			t.Errorf("away(%v) = %v", test.err, got)
		}
	}
}
