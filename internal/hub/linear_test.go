package hub_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// step is one call on one inbox, or the result of one.
type step struct {
	act     string // post, take, ack, nack, sweep
	message string // position in the order
	lease   string
	refused bool
}

// shelf is the state of one inbox for the checker: each message with its holder, in order.
type shelf string

const waits, pauses, settled = "waits", "pauses", "settled"

func (s shelf) entries() (list [][2]string) {
	for entry := range strings.FieldsSeq(string(s)) {
		message, holder, _ := strings.Cut(entry, "=")
		list = append(list, [2]string{message, holder})
	}
	return list
}

func shelfOf(list [][2]string) shelf {
	var words []string
	for _, e := range list {
		words = append(words, e[0]+"="+e[1])
	}
	return shelf(strings.Join(words, " "))
}

// inOneOrder is a model of the inbox in which calls happen one after the other.
var inOneOrder = porcupine.Model{
	Init: func() any { return shelf("") },
	Step: func(state, in, out any) (bool, any) {
		before, _ := state.(shelf)
		asked, _ := in.(step)
		said, _ := out.(step)
		ok, after := before.after(asked, said)
		return ok, after
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " → ", out) },
}

// after reports whether a call can have this result, and returns the next state of the inbox.
func (s shelf) after(asked, said step) (bool, shelf) {
	list := s.entries()
	switch asked.act {
	case "post":
		list = append(list, [2]string{said.message, waits})
		slices.SortFunc(list, func(a, b [2]string) int { return cmp.Compare(a[0], b[0]) })
	case "take":
		first := slices.IndexFunc(list, func(e [2]string) bool { return e[1] == waits })
		if first < 0 || said.message == "" {
			return first < 0 && said.message == "", s
		}
		if list[first][0] != said.message {
			return false, s
		}
		list[first][1] = said.lease
	case "sweep":
		for i := range list {
			if list[i][1] == pauses {
				list[i][1] = waits
			}
		}
	default:
		return s.settle(asked, said)
	}
	return true, shelfOf(list)
}

// settle handles an ack, which fails only if another lease holds the message, and a nack, which only the holder may make.
func (s shelf) settle(asked, said step) (bool, shelf) {
	list := s.entries()
	i := slices.IndexFunc(list, func(e [2]string) bool { return e[0] == asked.message })
	holder := list[i][1]
	allowed, then := holder == asked.lease, pauses
	if asked.act == "ack" {
		allowed, then = allowed || holder == waits || holder == pauses || holder == settled, settled
	}
	if allowed {
		list[i][1] = then
	}
	return allowed != said.refused, shelfOf(list)
}

// historian calls a hub and records the begin, the end and the result of each call.
type historian struct {
	w       *fixture
	pausing sync.RWMutex // keeps a sweep from running while pauses begin
	mu      sync.Mutex
	history []porcupine.Operation
}

func (h *historian) call(client int, asked step, call func() step) step {
	began := time.Now().UnixNano()
	said := call()
	op := porcupine.Operation{ClientId: client, Input: asked, Call: began, Output: said, Return: time.Now().UnixNano()}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.history = append(h.history, op)
	return said
}

func place(seq int64) string { return fmt.Sprintf("%06d", seq) }

func (h *historian) post(client int) {
	h.call(client, step{act: "post"}, func() step {
		r, err := h.w.Post(ctx, user, parley.Draft{Direct: []string{"ned"}, Content: text("work")})
		h.w.NoError(err)
		return step{message: place(r.Message.Seq)}
	})
}

// takeOne takes one message, and then acknowledges it or gives it back, or both, in any order.
func (h *historian) takeOne(client, n int) {
	var d parley.Delivery
	said := h.call(client, step{act: "take"}, func() step {
		taken := h.w.TakeAs("ned", parley.Take{Limit: 1, Lease: 12 * time.Hour})
		if len(taken.Deliveries) == 0 {
			return step{}
		}
		d = taken.Deliveries[0]
		return step{message: place(d.Seq), lease: taken.Lease}
	})
	if said.message == "" {
		return
	}
	for _, act := range [][]string{{"ack"}, {"nack", "ack"}, {"nack", "nack"}, {"nack"}, {"ack", "ack", "nack"}}[n%5] {
		h.call(client, step{act: act, message: said.message, lease: said.lease}, func() step {
			return step{refused: h.settle(act, d.Message, said.lease)}
		})
	}
}

func (h *historian) settle(act, message, lease string) (refused bool) {
	var err error
	if act == "ack" {
		_, err = h.w.Ack(ctx, as("ned"), lease, message)
	} else {
		h.pausing.RLock()
		defer h.pausing.RUnlock()
		_, err = h.w.Nack(ctx, as("ned"), lease, parley.Trouble{Failure: parley.FailureLost}, message)
	}
	if err != nil && parley.AsError(err).Reason != parley.Conflict {
		h.w.T.Errorf("%s: %v", act, err)
	}
	return err != nil
}

// sweep ends all pauses.
func (h *historian) sweep(client int) {
	h.pausing.Lock()
	defer h.pausing.Unlock()
	h.call(client, step{act: "sweep"}, func() step {
		h.w.AdvanceLeases(time.Minute)
		return step{}
	})
}

// TestOneInboxIsOneQueue checks that whatever several consumers saw of one inbox could have happened
// one call after the other.
func TestOneInboxIsOneQueue(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1} })
	w.AddAgents("ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 100 })
	h := &historian{w: w}
	inParallel(7, func(client int) {
		for n := range 25 {
			switch {
			case client == 0:
				h.sweep(client)
			case client < 3:
				h.post(client)
			default:
				h.takeOne(client, n+client)
			}
		}
	})
	if result := porcupine.CheckOperationsTimeout(inOneOrder, h.history, 30*time.Second); result != porcupine.Ok {
		t.Errorf("the history of %d calls is %s", len(h.history), result)
	}
}
