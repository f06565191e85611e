package hub_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// newKeepingHub returns a hub with limits of retention, with arya, ned and a public channel. The builder gets its log.
func newKeepingHub(t *testing.T, keep hub.Retention, change ...func(*fixture)) (*fixture, *strings.Builder) {
	t.Helper()
	lines := &strings.Builder{}
	w := newHub(t, append(change, func(w *fixture) {
		w.Config.Retention = keep
		w.Config.Log = slog.New(slog.NewTextHandler(lines, nil))
	})...)
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open", "ned")
	return w, lines
}

func (w *fixture) sweepEverything() {
	w.T.Helper()
	w.NoError(w.Sweep(ctx))
}

func (w *fixture) lastAuditEntry() []string {
	w.T.Helper()
	list := w.AuditEntries()
	last := list[len(list)-1]
	return []string{last.Actor, last.Act, last.Subject, string(last.Detail)}
}

func TestEverythingIsKeptUnlessConfigured(t *testing.T) {
	t.Parallel()
	w, lines := newKeepingHub(t, hub.Retention{Events: -1})
	w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: withArtifacts(w.putArtifactAs("arya", "body"))})
	w.Clock.Advance(20 * 365 * day)
	before := w.storeSnapshot()
	w.sweepEverything()
	same(t, "state", w.storeSnapshot(), before)
	same(t, "log", lines.String(), "")
	same(t, "events", len(follow(t, w.Hub, user, 0, w.LastEventNumber())) > 0, true)
}

func TestOldMessagesAreErasedUnlessOwed(t *testing.T) {
	t.Parallel()
	w, lines := newKeepingHub(t, hub.Retention{Messages: hub.RetentionLimit{Age: 30 * day}, Events: -1}, runTwice)
	w.SayIn("arya", "open", "plain")
	open := w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: text("open")})
	done := w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: text("done")})
	w.AckAs("ned", done.Message.ID)
	answer := w.ReplyAs("ned", open.Message.ID, "wait")
	w.AckAs("arya", answer.Message.ID)
	w.Clock.Advance(29 * day)
	young := w.PostAs("ned", parley.Draft{Conversation: "open", InReplyTo: done.Message.ID, Content: text("young")})
	w.sweepEverything()
	same(t, "before the time", len(w.TextsIn("ned", "open")), 5)
	w.Clock.Advance(day)
	w.sweepEverything()
	same(t, "just before the time", len(w.TextsIn("ned", "open")), 5)
	w.Clock.Advance(time.Millisecond)
	last := w.LastEventNumber()
	w.sweepEverything()
	same(t, "after it", w.TextsIn("ned", "open"), []string{"young"})
	same(t, "it answers what is gone", young.Message.InReplyTo, done.Message.ID)
	view := w.ConversationAs("ned", "open")
	same(t, "numbers", []int64{view.Messages, view.LastSeq}, []int64{1, young.Message.Seq})
	same(t, "events", w.LastEventNumber(), last)
	same(t, "audited", w.lastAuditEntry(), []string{
		"parley", "retention.erase", "hub",
		`{"messages":4,"message_bytes":17,"artifacts":0,"artifact_bytes":0,"events":0}`,
	})
	same(t, "log lines", strings.Count(lines.String(), "retention has erased content beyond the limits"), 1)
	if !strings.Contains(lines.String(), "messages=4 message_bytes=17") {
		t.Errorf("the log says %s", lines)
	}
	entries := len(w.AuditEntries())
	w.sweepEverything()
	same(t, "audited without erasing", len(w.AuditEntries()), entries)
	w.AssertConsistent()
}

// What somebody still owes an answer to, or can retry, stays however old it is.
func TestOpenAndDeadDeliveriesKeepTheirMessages(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{Messages: hub.RetentionLimit{Age: day, Bytes: 1}, Events: -1})
	w.NoError(errorOf(w.ChangeAgent(ctx, user, "ned", func(a *parley.Agent) error { a.Attempts = 1; return nil })))
	dead := w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: text("dead")}).Message
	taken, err := w.Take(ctx, as("ned"), parley.Take{})
	w.NoError(err)
	w.NoError(errorOf(w.Nack(ctx, as("ned"), taken.Lease, parley.Trouble{Failure: parley.FailureLost}, dead.ID)))
	w.PostAs("arya", parley.Draft{Conversation: "open", To: "ned", Content: text("open")})
	w.SayIn("arya", "open", "neither")
	w.Clock.Advance(100 * day)
	w.sweepEverything()
	texts := w.TextsIn("user", "open")
	same(t, "kept", []string{texts[0], texts[len(texts)-1]}, []string{"dead", "open"})
	same(t, "gone", strings.Contains(fmt.Sprint(texts), "neither"), false)
	waiting, err := w.Take(ctx, as("ned"), parley.Take{})
	w.NoError(err)
	same(t, "what waits", len(waiting.Deliveries), 1)
	w.AssertConsistent()
}

// Nothing is erased before what was said earlier, whatever the clock did.
func TestRetentionFollowsTheOrderNotTheClock(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{Messages: hub.RetentionLimit{Age: day}})
	w.SayIn("arya", "open", "first")
	w.Clock.Advance(-50 * 365 * day)
	w.SayIn("arya", "open", "said with the clock at its beginning")
	w.Clock.Advance(50 * 365 * day)
	w.sweepEverything()
	same(t, "kept", len(w.TextsIn("ned", "open")), 2)
	w.Clock.Advance(2 * day)
	w.sweepEverything()
	same(t, "kept later", len(w.TextsIn("ned", "open")), 0)
}

func TestMessagesAreErasedWhenTheyAreTooMuch(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{Messages: hub.RetentionLimit{Bytes: 1000}})
	kept := func() int { return len(w.TextsIn("ned", "open")) }
	for range 20 {
		w.SayIn("arya", "open", strings.Repeat("x", 50))
	}
	w.sweepEverything()
	same(t, "at the limit", kept(), 20)
	w.SayIn("arya", "open", "y")
	w.sweepEverything()
	same(t, "one over", kept(), 20)
	for range 30 {
		w.SayIn("arya", "open", strings.Repeat("z", 100))
	}
	w.sweepEverything()
	same(t, "much over", w.TextsIn("ned", "open"), strings.Fields(strings.Repeat(strings.Repeat("z", 100)+" ", 10)))
	w.redactAsOwner(w.SayIn("arya", "open", strings.Repeat("r", 500)).Message.ID)
	w.sweepEverything()
	same(t, "what is redacted weighs nothing", kept(), 11)
	w.AssertConsistent()
}

// More than one update erases, and the others are not held up: each is a small one.
func TestManyMessagesAreErasedInPortions(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{Messages: hub.RetentionLimit{Age: day}})
	for i := range 450 {
		w.SayIn("user", "open", fmt.Sprint(i))
	}
	w.Clock.Advance(2 * day)
	w.SayIn("user", "open", "last")
	w.sweepEverything()
	same(t, "kept", w.TextsIn("ned", "open"), []string{"last"})
	same(t, "audited once", strings.Contains(w.lastAuditEntry()[3], `"messages":450`), true)
}

func TestOldArtifactsAreRemovedAndReportedAsRemoved(t *testing.T) {
	t.Parallel()
	w, lines := newKeepingHub(t, hub.Retention{Artifacts: hub.RetentionLimit{Age: 30 * day}})
	old, renewed := w.putArtifactAs("arya", "old"), w.putArtifactAs("arya", "renewed")
	m := w.PostAs("arya", parley.Draft{Conversation: "open", Content: withArtifacts(old, renewed)}).Message
	w.Clock.Advance(20 * day)
	w.putArtifactAs("ned", "renewed")
	w.Clock.Advance(11 * day)
	w.sweepEverything()
	same(t, "bodies", w.storedBodies(), []string{renewed.SHA256})
	same(t, "audited", strings.Contains(w.lastAuditEntry()[3], `"artifacts":1,"artifact_bytes":3,`), true)
	shown, err := w.Message(ctx, as("ned"), m.ID)
	w.NoError(err)
	same(t, "message", shown.Message, m)
	gone := refusalError(parley.BadInput, parley.NotFound,
		"the retention of this hub removed artifact "+old.SHA256+" on 2026-04-01", "store the file again, if you have it")
	w.AddAgents("jon")
	w.assertRefusals(t, []refusal{
		{"opening it", func() error { return errorOf(w.readArtifactAs("ned", old.SHA256)) }, gone},
		{"referring to it", func() error {
			return errorOf(w.Post(ctx, as("arya"), parley.Draft{Conversation: "open", Content: withArtifacts(old)}))
		}, gone},
		{
			"asking for another's", func() error { return errorOf(w.readArtifactAs("jon", strings.Repeat("0", 64))) },
			notFoundError("artifact", strings.Repeat("0", 64), storeFirst),
		},
	})
	same(t, "log lines", strings.Count(lines.String(), "artifacts=1"), 1)
	w.AssertConsistent()
	w.putArtifactAs("jon", "old")
	got, err := w.readArtifactAs("ned", old.SHA256)
	w.NoError(err)
	same(t, "stored again", got, "old")
	w.AssertConsistent()
}

// Of a body that was removed, who could not read it before learns nothing.
func TestRemovedArtifactOfAnotherLooksAbsent(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{Artifacts: hub.RetentionLimit{Age: day}})
	w.AddAgents("jon")
	a := w.putArtifactAs("arya", "private")
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(a)})
	w.Clock.Advance(2 * day)
	w.sweepEverything()
	_, err := w.readArtifactAs("jon", a.SHA256)
	wantError(t, err, notFoundError("artifact", a.SHA256, storeFirst))
}

func TestOldestArtifactsGoWhenTheyAreTooMuch(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{Artifacts: hub.RetentionLimit{Bytes: 100}})
	var all []string
	for i := range 6 {
		a := w.putArtifactAs("arya", strings.Repeat(fmt.Sprint(i), 30))
		w.PostAs("arya", parley.Draft{Conversation: "open", Content: withArtifacts(a)})
		all = append(all, a.SHA256)
		w.Clock.Advance(time.Second)
	}
	w.sweepEverything()
	for i, sha256 := range all {
		_, err := w.readArtifactAs("ned", sha256)
		same(t, fmt.Sprint("body ", i, " is there"), err == nil, i >= 3)
	}
	totals, err := w.ArtifactTotals(ctx, user)
	w.NoError(err)
	same(t, "bytes", totals.Bytes, int64(90))
	w.AssertConsistent()
}

func TestRemovalOfAnOldArtifactCutShortIsFinishedLater(t *testing.T) {
	t.Parallel()
	on := &atomic.Bool{}
	w, _ := newKeepingHub(t, hub.Retention{Artifacts: hub.RetentionLimit{Age: day}}, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { return failing{s, on} }
	})
	w.PostAs("arya", parley.Draft{Conversation: "open", Content: withArtifacts(w.putArtifactAs("arya", "body"))})
	w.sweepEverything()
	w.Clock.Advance(2 * day)
	on.Store(true)
	if err := w.Sweep(ctx); !errors.Is(err, errAgain) {
		t.Fatalf("sweep: %v", err)
	}
	same(t, "left over", len(w.storedBodies()), 1)
	w.AssertConsistent()
	on.Store(false)
	w.sweepEverything()
	same(t, "bodies", len(w.storedBodies()), 0)
}

func TestEventsAreKeptForSevenDays(t *testing.T) {
	t.Parallel()
	w, _ := newKeepingHub(t, hub.Retention{})
	w.Start(ctx)
	first := w.LastEventNumber()
	w.Clock.Advance(6 * day)
	w.SayIn("arya", "open", "a message is its own event")
	w.NoError(w.SetTopic(ctx, as("arya"), "open", "news"))
	w.Clock.Advance(day)
	w.sweepEverything()
	same(t, "after seven days", len(follow(t, w.Hub, user, 0, w.LastEventNumber())) > 2, true)
	w.Clock.Advance(time.Millisecond)
	w.sweepEverything()
	last := w.LastEventNumber()
	_, err := w.Subscribe(ctx, user, first-1, parley.EventFilter{})
	wantError(t, err, refusalError(parley.BadInput, parley.NotFound,
		fmt.Sprintf("the event log has the events %d to %d, so the stream cannot continue from %d", first+1, last, first-1),
		fmt.Sprintf("read the current state, then follow from %d", last)))
	same(t, "what is left", eventNumbers(follow(t, w.Hub, user, first, last)), numbersBetween(first+1, last))
	w.Clock.Advance(30 * day)
	w.sweepEverything()
	_, err = w.Subscribe(ctx, user, first, parley.EventFilter{})
	wantError(t, err, refusalError(parley.BadInput, parley.NotFound,
		fmt.Sprintf("the event log no longer has the events up to %d, so the stream cannot continue from %d", last, first),
		fmt.Sprintf("read the current state, then follow from %d", last)))
	same(t, "the newest", w.LastEventNumber(), last)
	w.Restart()
	w.Start(ctx)
	w.NoError(w.SetTopic(ctx, as("arya"), "open", "more"))
	same(t, "it goes on", eventNumbers(follow(t, w.Hub, user, last, last+1)), []int64{last + 1})
}
