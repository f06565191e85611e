package tools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// lossyHub loses the answers to some takes.
type lossyHub struct {
	fakeHub
	lose   []error // the errors of the next takes; nil: the answer comes
	cancel context.CancelFunc
}

func (h *lossyHub) Take(ctx context.Context, take parley.Take) (parley.Taken, error) {
	_, _ = h.fakeHub.Take(ctx, take)
	h.asked = append(h.asked, fmt.Sprintf("again %t", take.Again))
	if h.cancel != nil {
		h.cancel() // the client gives up while the answer is on its way
		h.cancel = nil
	}
	err := h.lose[0]
	h.lose = h.lose[1:]
	return parley.Taken{Lease: "lease", Messages: h.messages}, err
}

// TestATakeAfterALostAnswerAsksForWhatWasTaken loses the answer to a take in each way in which that happens.
func TestATakeAfterALostAnswerAsksForWhatWasTaken(t *testing.T) {
	h := &lossyHub{lose: []error{nil, errors.New("the connection broke"), nil, nil, nil}}
	p := tools.Participant{ID: "gendry", Workspace: h, Session: "k", Takes: &tools.Takes{}}
	take := func(ctx context.Context, wanted ...string) {
		t.Helper()
		h.asked = nil
		_, _, _ = tools.TakeInbox(ctx, p, 0)
		wanted = append([]string{`take 20 for "k", wait 0s, seen false`}, wanted...)
		if !slices.Equal(h.asked, wanted) {
			t.Errorf("the calls are %q, want %q", h.asked, wanted)
		}
	}
	take(t.Context(), "again true", `see "lease" ""`) // an earlier process of the session may have lost one
	take(t.Context(), "again false")
	take(t.Context(), "again true", `see "lease" ""`)
	ctx, cancel := context.WithCancel(t.Context())
	h.cancel = cancel
	take(ctx, "again false")
	take(t.Context(), "again true", `see "lease" ""`)
}

// TestATakeOutlivesItsSession: the hub has ended the session, such as after its database was away, and the stream of the client stays open.
func TestATakeOutlivesItsSession(t *testing.T) {
	h := &lossyHub{lose: []error{parley.UnknownSession("k"), nil}}
	p := tools.Participant{ID: "gendry", Workspace: h, Session: "k", Takes: &tools.Takes{}}
	_, _, err := tools.TakeInbox(t.Context(), p, 0)
	want := []string{`take 20 for "k", wait 0s, seen false`, "again true", `take 20 for "", wait 0s, seen true`, "again false"}
	if err != nil || !slices.Equal(h.asked, want) {
		t.Errorf("%v; the calls are %q, want %q", err, h.asked, want)
	}
}
