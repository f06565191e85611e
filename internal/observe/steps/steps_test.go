package steps

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

var at = time.Date(2026, 2, 25, 18, 50, 0, 0, time.UTC)

func later(s int) *time.Time {
	t := at.Add(time.Duration(s) * time.Second)
	return &t
}

// fake is a hub that is asked for what is not known any more.
type fake struct {
	shown map[string]parley.Shown
	asked int
}

func (f *fake) Message(_ context.Context, _ hub.Caller, id string) (parley.Shown, error) {
	f.asked++
	shown, found := f.shown[id]
	if !found {
		return shown, parley.Errorf(parley.BadInput, "there is no message").Because(parley.NotFound)
	}
	return shown, nil
}

func (f *fake) Agent(_ context.Context, _ hub.Caller, id string) (parley.Agent, error) {
	if id == "user" {
		return parley.Agent{ID: id, Kind: parley.KindHuman}, nil
	}
	return parley.Agent{ID: id, Kind: parley.KindAgent}, nil
}

func posted(num int64, id string, to ...string) hub.Followed {
	m := parley.Message{ID: id, From: "jon", CreatedAt: at, Content: parley.Content{Text: "secret"}, Payload: []byte("{}"), Metadata: []byte("{}")}
	e := hub.Followed{Event: parley.Event{Num: num, Kind: parley.EventMessagePosted, At: at, Message: id}, Posted: &m}
	for _, recipient := range to {
		e.Deliveries = append(e.Deliveries, parley.Delivery{Recipient: recipient, AcceptedAt: at, Waking: true})
	}
	return e
}

func moves(num int64, id, to string, state parley.DeliveryState, after int) hub.Followed {
	data, _ := json.Marshal(map[string]any{"state": state, "run": "r"})
	return hub.Followed{Event: parley.Event{Num: num, Kind: parley.EventDelivery(state), At: *later(after), Message: id, Agent: to, Data: data}}
}

// inWords returns steps in words.
func inWords(steps []Step) string {
	var words []string
	for _, s := range steps {
		word := fmt.Sprintf("%s %s %s after %.0f of %.0f", s.Message.ID, s.Recipient, s.State, s.At.Sub(s.PreviousAt).Seconds(), s.Latency().Seconds())
		for mark, is := range map[string]bool{" passed": s.Transient, " again": s.Requeued, " person": s.Person} {
			if is {
				word += mark
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, "\n")
}

func TestSteps(t *testing.T) {
	stored := map[string]parley.Shown{"m": {
		Message: parley.Message{ID: "m", CreatedAt: at},
		Deliveries: []parley.Delivery{{
			Recipient: "arya", State: parley.DeliveryAnswered, AcceptedAt: at, DeliveredAt: later(1), SeenAt: later(3), SettledAt: later(6), AnsweredAt: later(6),
		}},
	}}
	for name, test := range map[string]struct {
		batch []hub.Followed
		want  string
	}{
		"each by itself": {
			[]hub.Followed{
				posted(1, "m", "arya", "user"), moves(2, "m", "arya", parley.DeliveryDelivered, 1), moves(3, "m", "arya", parley.DeliverySeen, 3),
				moves(4, "m", "arya", parley.DeliveryAnswered, 6),
			},
			"m arya accepted after 0 of 0\nm user accepted after 0 of 0 person\nm arya delivered after 1 of 1\nm arya seen after 2 of 3\nm arya answered after 3 of 6",
		},
		"several at once": {
			[]hub.Followed{posted(1, "m", "arya"), moves(2, "m", "arya", parley.DeliveryAcked, 2), moves(3, "m", "arya", parley.DeliveryAnswered, 3)},
			"m arya accepted after 0 of 0\nm arya delivered after 2 of 2 passed\nm arya seen after 0 of 2 passed\nm arya acked after 0 of 2\nm arya answered after 1 of 3",
		},
		"another try": {
			[]hub.Followed{
				posted(1, "m", "arya"), moves(2, "m", "arya", parley.DeliveryDelivered, 1), moves(3, "m", "arya", parley.DeliveryAccepted, 2),
				moves(4, "m", "arya", parley.DeliveryDelivered, 3), moves(5, "m", "arya", parley.DeliveryDead, 4),
			},
			"m arya accepted after 0 of 0\nm arya delivered after 1 of 1\nm arya accepted after 1 of 2 again\nm arya delivered after 1 of 3\nm arya dead after 1 of 4",
		},
		"to nobody in particular": {[]hub.Followed{posted(1, "m")}, "m  accepted after 0 of 0"},
		"after a restart": {
			[]hub.Followed{moves(3, "m", "arya", parley.DeliverySeen, 3), moves(4, "m", "arya", parley.DeliveryAnswered, 6)},
			"m arya seen after 2 of 3\nm arya answered after 3 of 6",
		},
		"what is deleted": {[]hub.Followed{moves(3, "gone", "arya", parley.DeliverySeen, 3)}, ""},
		"something else":  {[]hub.Followed{{Event: parley.Event{Num: 1, Kind: parley.EventOverdue}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(&fake{shown: stored})
			for range 2 { // telling it again says the same
				steps, err := r.Steps(t.Context(), test.batch)
				if err != nil || inWords(steps) != test.want {
					t.Errorf("%v, got\n%s\nwant\n%s", err, inWords(steps), test.want)
				}
				for _, s := range steps {
					if s.Message.Content.Text != "" || s.Message.Payload != nil || s.Message.Metadata != nil {
						t.Error("a step has what was said")
					}
				}
			}
		})
	}
}

// TestMemoryIsBounded: what is forgotten is asked for.
func TestMemoryIsBounded(t *testing.T) {
	f := &fake{shown: map[string]parley.Shown{"0": {Message: parley.Message{ID: "0", CreatedAt: at}}}}
	r := NewReader(f)
	for i := range cacheSize + 1 {
		if _, err := r.Steps(t.Context(), []hub.Followed{posted(int64(i+1), fmt.Sprint(i), "arya")}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.cache.entries) != cacheSize {
		t.Errorf("%d messages are known", len(r.cache.entries))
	}
	for asked, id := range []string{"1", "0"} {
		if _, err := r.Message(t.Context(), id); err != nil || f.asked != asked {
			t.Errorf("%s: %v, asked %d times", id, err, f.asked)
		}
	}
}

// recordingConsumer records the numbers of the steps that it gets.
type recordingConsumer struct {
	numbers []int64
	err     error
}

func (l *recordingConsumer) Consume(_ context.Context, n Batch) error {
	for _, s := range n.Steps {
		l.numbers = append(l.numbers, s.Num)
	}
	return l.err
}

func TestConsumersInTurn(t *testing.T) {
	first, second := &recordingConsumer{}, &recordingConsumer{err: context.Canceled}
	third := &recordingConsumer{}
	if err := NewFollower(&fake{}, first, second, third).Take(t.Context(), []hub.Followed{posted(7, "m", "arya")}); err == nil {
		t.Error("a failure is passed over")
	}
	if !slices.Equal(first.numbers, []int64{7}) || !slices.Equal(second.numbers, first.numbers) || third.numbers != nil {
		t.Errorf("told %v, %v, %v", first.numbers, second.numbers, third.numbers)
	}
}
