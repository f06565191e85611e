package hub_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func TestAtMostOnceIsAckedByFetching(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "once").Message
	taken := w.TakeAs("ned", parley.Take{AtMostOnce: true, Run: "run-1"})
	d := w.DeliveryOf(m.ID, "ned")
	same(t, "acked", []any{taken.Lease, taken.For, d.State, d.Run}, []any{"", time.Duration(0), parley.DeliveryAcked, "run-1"})
	w.AdvanceLeases(24 * time.Hour)
	w.Restart()
	w.SweepDueDeliveries()
	same(t, "never again", w.TakeTexts("ned", parley.Take{}), []string{})
}

func TestTwoConsumersShareAnInbox(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for i := range 4 {
		w.SendDM("arya", "ned", fmt.Sprint(i))
	}
	one, two := w.TakeAs("ned", parley.Take{Limit: 3}), w.TakeAs("ned", parley.Take{Limit: 3})
	same(t, "one", textsOf(one.Messages), []string{"0", "1", "2"})
	same(t, "two", textsOf(two.Messages), []string{"3"})
	same(t, "leases differ", one.Lease != two.Lease, true)
	same(t, "nothing is left", w.TakeTexts("ned", parley.Take{}), []string{})
}

func TestTakeOnlyNamedMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	var ids []string
	for i := range 4 {
		ids = append(ids, w.SendDM("arya", "ned", fmt.Sprint(i)).Message.ID)
	}
	same(t, "in order, each once", w.TakeTexts("ned", parley.Take{Only: []string{ids[2], ids[0], ids[2]}}), []string{"0", "2"})
	same(t, "those that are held are left out", w.TakeTexts("ned", parley.Take{Only: ids[:2]}), []string{"1"})
	foreign := w.SendDM("ned", "arya", "yours").Message.ID
	others := []string{foreign, noRoom, "x"} // sent by the caller, nowhere, no id
	same(t, "what was not delivered to the caller is left out", w.TakeTexts("ned", parley.Take{Only: append(others, ids[3])}), []string{"3"})
	same(t, "nothing of the caller's", w.TakeTexts("ned", parley.Take{Only: others}), []string{})
}

// hasty is a store that cancels the caller's context as soon as an update is stored.
type hasty struct {
	storage.Store
	giveUp context.CancelFunc
}

func (s hasty) Update(ctx context.Context, fn func(storage.Tx) error) error {
	defer s.giveUp()
	return s.Store.Update(ctx, fn)
}

func TestCompletedCallsSucceedThoughTheCallerGaveUp(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	m := w.SendDM("arya", "ned", "hello").Message
	given := func(call func(context.Context, *hub.Hub) error) {
		t.Helper()
		stoppable, giveUp := context.WithCancel(ctx)
		h, err := hub.New(ctx, hasty{w.Store, giveUp}, w.Config)
		w.NoError(err)
		w.NoError(call(stoppable, h))
	}
	given(func(ctx context.Context, h *hub.Hub) error {
		taken, err := h.Take(ctx, as("ned"), parley.Take{})
		same(t, "taken", textsOf(taken.Messages), []string{"hello"})
		return err
	})
	given(func(ctx context.Context, h *hub.Hub) error { return h.RemoveAgent(ctx, user, "ned") })
	same(t, "what was on its way to who was removed", w.DeliveryState(m.ID, "ned"), parley.DeliveryFailed)
}

func TestPeekingConsumesNothing(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SendDM("arya", "ned", "held")
	w.TakeAs("ned", parley.Take{})
	w.SendDM("arya", "ned", "pausing")
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	w.SendDM("arya", "ned", "waits")
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeStatus, Content: text("status")})
	before := w.storeSnapshot()
	for range 2 {
		same(t, "open", w.PendingTexts("ned"), []string{"held", "pausing", "waits", "status"})
	}
	all := resultOf[parley.Peeked](w)(w.Peek(ctx, as("ned"), 0)).Messages
	for i, m := range all {
		rest := resultOf[parley.Peeked](w)(w.PeekAfter(ctx, as("ned"), m.Seq, 0)).Messages
		same(t, "after "+m.Content.Text, textsOf(rest), textsOf(all[i+1:]))
	}
	same(t, "the first two", len(resultOf[parley.Peeked](w)(w.Peek(ctx, as("ned"), 2)).Deliveries), 2)
	same(t, "state", w.storeSnapshot(), before)
}

func TestEveryEighthTakeIsOfTheOldestMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ned")
	urgent := priority(w, "urgent")
	for i := range 3 {
		w.SendDM("user", "ned", fmt.Sprint("patient ", i))
	}
	var turns []int
	for i := range 24 {
		for range 2 {
			w.PostAs("user", parley.Draft{Direct: []string{"ned"}, Priority: urgent, Content: text("urgent")})
		}
		if got := w.TakeTexts("ned", parley.Take{Urgent: true, Limit: 1}); got[0] != "urgent" {
			turns = append(turns, i+1)
			same(t, "the oldest", got[0], fmt.Sprint("patient ", len(turns)-1))
		}
		if i == 3 {
			same(t, "a fetch by seq is no turn", len(w.TakeTexts("ned", parley.Take{Only: []string{w.SendDM("user", "ned", "x").Message.ID}})), 1)
		}
	}
	same(t, "turns", turns, []int{8, 16, 24})
}

func TestTheOldestOfALargeTakeAreAllInIt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ned")
	post := func(level int, words string) {
		w.PostAs("user", parley.Draft{Direct: []string{"ned"}, Priority: mustPriority(level), Content: text(words)})
	}
	post(6, "oldest, and just urgent enough")
	post(0, "patient")
	for range 15 {
		post(9, "urgent")
	}
	for range 9 {
		post(5, "neither")
	}
	got := w.TakeTexts("ned", parley.Take{Urgent: true, Limit: 16})
	want := append(slices.Repeat([]string{"urgent"}, 14), "patient", "oldest, and just urgent enough")
	same(t, "taken", got, want)
}

func TestOnlyAsksReachASleepingAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	until := began.Add(time.Hour)
	a := resultOf[parley.Agent](w)(w.Sleep(ctx, as("ned"), "ned", until))
	same(t, "until", a.SleepingUntil, &until)
	plain := w.SendDM("arya", "ned", "plain").Message
	w.postForPurpose(parley.PurposeTask, "arya", "ned", "task")
	w.postForPurpose(parley.PurposeAsk, "arya", "ned", "ask")
	same(t, "what was named", w.TakeTexts("ned", parley.Take{Only: []string{plain.ID}}), []string{})
	for _, take := range []parley.Take{{}, {Urgent: true}} {
		w.postForPurpose(parley.PurposeAsk, "arya", "ned", "another")
		taken := w.TakeTexts("ned", take)
		same(t, "asleep", taken[len(taken)-1], "another")
		same(t, "but for asks", slices.Contains(taken, "plain") || slices.Contains(taken, "task"), false)
	}
	w.Clock.Advance(time.Hour)
	same(t, "awake", w.TakeTexts("ned", parley.Take{}), []string{"plain", "task"})
}

func TestSleepIsForTheAgentItsManagerAndOwners(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "cersei", "ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Manager = "arya" })
	until := began.Add(time.Hour)
	for _, who := range []string{"ned", "arya", "user"} {
		before := w.LastEventNumber()
		_, err := w.Sleep(ctx, as(who), "ned", until)
		w.NoError(err)
		_, err = w.Wake(ctx, as(who), "ned")
		w.NoError(err)
		same(t, who, kindsAfter(w, before), []parley.EventKind{
			parley.EventAgentChanged, parley.EventAgentPresence, parley.EventAgentChanged, parley.EventAgentPresence,
		})
	}
	sleep := func(by, who string, until time.Time) func() error {
		return func() error { _, err := w.Sleep(ctx, as(by), who, until); return err }
	}
	noTime := func(at string) *parley.Error {
		return refusalError(parley.BadInput, "", at+" is not a valid time to sleep until", "give a time in the future, within a year")
	}
	w.assertRefusals(t, []refusal{
		{"another agent", sleep("cersei", "ned", until), refusalError(parley.NotPermitted, "", "cersei cannot put ned to sleep or wake it", "ask its manager, or an owner of this hub")},
		{"waking as another", func() error { _, err := w.Wake(ctx, as("cersei"), "ned"); return err }, refusalError(parley.NotPermitted, "", "cersei cannot put ned to sleep or wake it", "ask its manager, or an owner of this hub")},
		{"a person", sleep("user", "user", until), refusalError(parley.BadInput, "", "user is not an agent", "only agents can sleep")},
		{"now", sleep("ned", "ned", began), noTime("2026-03-01T09:00:00Z")},
		{"for ever", sleep("ned", "ned", began.AddDate(2, 0, 0)), noTime("2028-03-01T09:00:00Z")},
		{"nobody", sleep("ned", "nobody", until), notFoundError("agent", "nobody", listAgents)},
	})
}

// waiting is the result of a take that waits in a synctest bubble.
type waiting struct {
	taken parley.Taken
	err   error
	after time.Duration // how long it waited
}

// inBubble has ned wait for deliveries, calls meanwhile, and returns the result of the take.
func inBubble(t *testing.T, prepare, meanwhile func(*fixture)) (got waiting) {
	t.Helper()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.AddAgents("arya", "ned")
		prepare(w)
		began := time.Now()
		done := make(chan struct{})
		go func() {
			defer close(done)
			got.taken, got.err = w.Take(ctx, as("ned"), parley.Take{Wait: time.Minute})
			got.after = time.Since(began)
		}()
		synctest.Wait()
		meanwhile(w)
		<-done
	})
	return got
}

func nothing(*fixture) {}

func TestWaitingTakeIsWokenAtOnce(t *testing.T) {
	t.Parallel()
	pausing := func(w *fixture) {
		w.SendDM("arya", "ned", "hello")
		w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	}
	for name, c := range map[string]struct{ prepare, meanwhile func(*fixture) }{
		"by a post":        {nothing, func(w *fixture) { w.SendDM("arya", "ned", "hello") }},
		"by a pause's end": {pausing, func(w *fixture) { w.AdvanceLeases(5 * time.Second) }},
		"by what was dead": {dying, retryAll},
		"by what waited":   {func(w *fixture) { w.SendDM("arya", "ned", "hello") }, nothing},
		"by being woken":   {asleep, func(w *fixture) { resultOf[parley.Agent](w)(w.Wake(ctx, user, "ned")) }},
		"by an ask, sleeping": {sleeping, func(w *fixture) {
			w.postForPurpose(parley.PurposeAsk, "arya", "ned", "hello")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inBubble(t, c.prepare, c.meanwhile)
			same(t, "error", got.err, nil)
			same(t, "taken", textsOf(got.taken.Messages), []string{"hello"})
			same(t, "waited", got.after, time.Duration(0))
		})
	}
}

func sleeping(w *fixture) {
	resultOf[parley.Agent](w)(w.Sleep(ctx, user, "ned", began.Add(time.Hour)))
}

func asleep(w *fixture) {
	sleeping(w)
	w.SendDM("arya", "ned", "hello")
}

func dying(w *fixture) {
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 1 })
	w.SendDM("arya", "ned", "hello")
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
}

func retryAll(w *fixture) {
	for _, d := range resultOf[[]parley.Delivery](w)(w.DeadLetters(ctx, user, 0, 0)) {
		resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, d.Message, d.Recipient))
	}
}

func TestWaitingTakeLooksAgainFromTimeToTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, meanwhile func(*fixture) }{
		"the sleep is over": {asleep, func(w *fixture) { w.Clock.Advance(time.Hour) }},
		"another process has written": {nothing, func(w *fixture) {
			other, err := hub.New(ctx, w.Store, w.Config)
			w.NoError(err)
			_, err = other.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Content: text("hello")})
			w.NoError(err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inBubble(t, c.prepare, c.meanwhile)
			same(t, "error", got.err, nil)
			same(t, "taken", textsOf(got.taken.Messages), []string{"hello"})
			same(t, "waited", got.after, 2*time.Second)
		})
	}
}

func TestWaitingTakeEndsWithNothing(t *testing.T) {
	t.Parallel()
	got := inBubble(t, nothing, nothing)
	same(t, "at its end", []any{got.taken, got.err, got.after}, []any{parley.Taken{}, nil, time.Minute})
	got = inBubble(t, nothing, func(w *fixture) { w.NoError(w.RemoveAgent(ctx, user, "ned")) })
	same(t, "removed meanwhile", []any{parley.CodeOf(got.err), got.after}, []any{parley.NotPermitted, time.Duration(0)})
}

func TestWaitingTakeIsGivenUpWithItsContext(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ned")
	stoppable, cancel := context.WithCancel(ctx)
	failed := make(chan error)
	go func() {
		_, err := w.Take(stoppable, as("ned"), parley.Take{Wait: time.Hour})
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) || parley.CodeOf(err) != parley.TimedOut {
		t.Errorf("take: %v", err)
	}
}

func TestDeliveriesAreSweptByThemselves(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place, func(w *fixture) { w.Config.DueEvery = time.Second })
		w.AddAgents("arya", "ned")
		m := w.SendDM("arya", "ned", "hello").Message
		w.TakeAs("ned", parley.Take{})
		w.Leases.Advance(time.Minute)
		w.Start(ctx)
		defer w.Stop()
		time.Sleep(time.Second + time.Millisecond) // in the time of the synctest bubble
		synctest.Wait()
		same(t, "state", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
	})
}

// followed is a store that calls a function right after the next update.
type followed struct {
	storage.Store
	next *func()
}

func (s followed) Update(ctx context.Context, fn func(storage.Tx) error) error {
	err := s.Store.Update(ctx, fn)
	if next := *s.next; next != nil {
		*s.next = nil
		next()
	}
	return err
}

func TestMessagesDeletedDuringATakeAreLeftOut(t *testing.T) {
	t.Parallel()
	var next func()
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { return followed{s, &next} }
	})
	w.AddAgents("arya", "ned")
	doomed := w.SendEphemeralDM("arya", "ned", "doomed").Message
	w.SendDM("arya", "ned", "stays")
	next = func() { w.NoError(w.DeleteConversation(ctx, user, doomed.Conversation)) }
	taken := w.TakeAs("ned", parley.Take{})
	same(t, "taken", []any{len(taken.Deliveries), textsOf(taken.Messages)}, []any{1, []string{"stays"}})

	only := w.SendEphemeralDM("arya", "ned", "doomed too").Message
	next = func() { w.NoError(w.DeleteConversation(ctx, user, only.Conversation)) }
	same(t, "nothing is left", w.TakeAs("ned", parley.Take{}), parley.Taken{})
}
