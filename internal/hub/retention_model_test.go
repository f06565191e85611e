package hub_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// retentionMachine makes random calls on a hub with limits of retention, and keeps a record of the messages that must be left.
type retentionMachine struct {
	*machine // for its words
	said     []*saying
	keep     hub.RetentionLimit
}

type saying struct {
	id, word string
	seq      int64
	at       time.Time
	bytes    int64
	owed     bool
	redacted bool
	gone     bool
}

func newRetentionMachine(t *rapid.T, place string) *retentionMachine {
	k := &retentionMachine{machine: &machine{}}
	k.keep.Age = rapid.SampledFrom([]time.Duration{0, 2 * day}).Draw(t, "age")
	k.keep.Bytes = rapid.SampledFrom([]int64{0, 300}).Draw(t, "bytes")
	k.w = openFixture(t, place, func(w *fixture) {
		w.Config.Retention.Messages = k.keep
		w.Config.Log = quiet()
	})
	k.w.AddAgents("ned")
	k.w.CreateChannel("user", "open", "ned")
	k.w.Start(ctx)
	return k
}

func (k *retentionMachine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"": k.check, "post": k.posts, "post again": k.posts, "redact": k.redacts, "ack": k.acks,
		"time": k.timePasses, "sweep": k.sweeps, "restart": k.restarts,
	}
}

func (k *retentionMachine) posts(t *rapid.T) {
	s := &saying{word: k.secret(), at: k.w.Clock.Now(), owed: rapid.Bool().Draw(t, "to somebody")}
	words := s.word + strings.Repeat(" filler", rapid.IntRange(0, 10).Draw(t, "filler"))
	draft := parley.Draft{Conversation: "open", Content: text(words)}
	if s.owed {
		draft.To = "ned"
	}
	m := k.w.PostAs("user", draft).Message
	s.id, s.seq, s.bytes = m.ID, m.Seq, int64(len(words))
	k.said = append(k.said, s)
}

// some draws a message that still exists, or returns nil.
func (k *retentionMachine) some(t *rapid.T) *saying {
	left := slices.DeleteFunc(slices.Clone(k.said), func(s *saying) bool { return s.gone })
	if len(left) == 0 {
		return nil
	}
	return rapid.SampledFrom(left).Draw(t, "message")
}

func (k *retentionMachine) redacts(t *rapid.T) {
	if s := k.some(t); s != nil {
		k.w.redactAsOwner(s.id)
		s.redacted, s.bytes = true, 0
	}
}

func (k *retentionMachine) acks(t *rapid.T) {
	if s := k.some(t); s != nil && s.owed {
		k.w.AckAs("ned", s.id)
		s.owed = false
	}
}

func (k *retentionMachine) timePasses(t *rapid.T) {
	k.w.Clock.Advance(rapid.SampledFrom([]time.Duration{time.Hour, day}).Draw(t, "how long"))
}

func (k *retentionMachine) restarts(*rapid.T) {
	k.w.Restart()
	k.w.Start(ctx)
}

func (k *retentionMachine) sweeps(*rapid.T) {
	k.w.sweepEverything()
	total := int64(0)
	for _, s := range k.said {
		old := k.keep.Age > 0 && s.at.Before(k.w.Clock.Now().Add(-k.keep.Age))
		s.gone = s.gone || old && !s.owed
		if !s.gone {
			total += s.bytes
		}
	}
	for _, s := range k.said {
		if k.keep.Bytes == 0 || total <= k.keep.Bytes {
			return
		}
		if !s.gone && !s.owed {
			s.gone = true
			total -= s.bytes
		}
	}
}

// check compares the hub with the record.
func (k *retentionMachine) check(t *rapid.T) {
	var seqs, want []int64
	var shown strings.Builder
	list, err := k.w.History(ctx, as("ned"), "open", parley.Page{Limit: 1000})
	k.w.NoError(err)
	for _, m := range list {
		seqs = append(seqs, m.Seq)
		shown.WriteString(m.Content.Text + "\n")
	}
	for _, s := range k.said {
		if !s.gone {
			want = append(want, s.seq)
		}
		if visible := !s.gone && !s.redacted; strings.Contains(shown.String(), s.word) != visible {
			t.Fatalf("message %d is shown: %v", s.seq, !visible)
		}
	}
	same(t, "messages in order", seqs, want)
	view := k.w.ConversationAs("ned", "open")
	same(t, "counted", int(view.Messages), len(want))
}

// end checks everything once more: searches, events, the deep check, and the files on the disk.
func (k *retentionMachine) end(t *rapid.T) {
	k.posts(t)
	if k.w.searchAs(parley.Owner, k.said[len(k.said)-1].word).Behind {
		t.Fatalf("the index does not follow")
	}
	k.sweeps(t)
	for _, s := range k.said {
		if found := len(k.w.searchAs("ned", s.word).Hits) == 1; found != (!s.gone && !s.redacted) {
			t.Fatalf("message %d is found: %v", s.seq, found)
		}
	}
	k.w.NoError(k.w.SetTopic(ctx, user, "open", "the end")) // the newest event may have been a message that is gone
	events := eventNumbers(follow(t, k.w.Hub, user, k.w.oldestEventNumber()-1, k.w.LastEventNumber()))
	same(t, "events in order", slices.IsSorted(events), true)
	k.w.AssertConsistent()
	k.w.Stop()
	k.w.NoError(k.w.Store.Close())
	for _, s := range k.said {
		if s.redacted {
			found, err := stores.Containing(k.w.Place, s.word)
			k.w.NoError(err)
			same(t, "files and tables with a redacted word", found, []string(nil))
		}
	}
	k.w.Open()
}

func (w *fixture) oldestEventNumber() (oldest int64) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		oldest, _, err = tx.Log().Bounds()
		return err
	}))
	return oldest
}

// TestErasedMessagesAreNeverSeenAgain runs histories of posts, redactions, acknowledgements, sweeps and
// restarts, while time passes.
func TestErasedMessagesAreNeverSeenAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k := newRetentionMachine(rt, stores.NewPlace(t))
		rt.Repeat(k.actions())
		k.end(rt)
	})
}
