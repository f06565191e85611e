package hub_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/storage"
)

func stdioSession(key string) parley.NewSession {
	return parley.NewSession{Key: key, Client: "claude-code 2.1", Kind: parley.SessionStdio}
}

// openSession opens a connection of a client session.
func (w *fixture) openSession(agent string, n parley.NewSession) parley.SessionStream {
	w.T.Helper()
	c, err := w.OpenSession(ctx, as(agent), n)
	w.NoError(err)
	return c
}

// loseSession closes a connection, and lets the grace of its session pass.
func (w *fixture) loseSession(c parley.SessionStream) {
	w.T.Helper()
	w.NoError(c.Close())
	w.endSessionsAfter(parley.SessionGrace)
}

func (w *fixture) endSessionsAfter(d time.Duration) {
	w.T.Helper()
	w.Clock.Advance(d)
	w.NoError(w.EndSessions(ctx))
}

// sessionsSeenBy returns the sessions that a participant sees.
func (w *fixture) sessionsSeenBy(reader string) []parley.Session {
	w.T.Helper()
	return resultOf[[]parley.Session](w)(w.Sessions(ctx, as(reader)))
}

func TestASessionIsListedWhileItLives(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddPollingAgents("arya", "ned")
	w.SendDM("arya", "ned", "hello")
	event := w.LastEventNumber()
	c := w.openSession("ned", parley.NewSession{Key: "k:1", Client: "codex 0.166", Kind: parley.SessionHook, Wake: parley.WakeHook})
	w.TakeAs("ned", parley.Take{Session: "k:1", Seen: true})
	want := parley.Session{
		Key: "k:1", Agent: "ned", Client: "codex 0.166", Kind: parley.SessionHook, Wake: parley.WakeHook, Since: began, LastSign: began,
	}
	same(t, "another participant sees it", w.sessionsSeenBy("arya"), []parley.Session{want})
	want.Held = 1
	same(t, "its own participant", w.sessionsSeenBy("ned"), []parley.Session{want})
	same(t, "an owner", w.sessionsSeenBy("user"), []parley.Session{want})
	for _, p := range resultOf[[]parley.Presence](w)(w.Who(ctx, user)) {
		if p.ID == "ned" {
			same(t, "who", []any{p.Sessions, p.Status}, []any{[]parley.OpenSession{{Key: "k:1", Client: "codex 0.166", Wake: parley.WakeHook, LastSign: began}}, "idle"})
		}
	}
	w.loseSession(c)
	same(t, "after its end", w.sessionsSeenBy("ned"), []parley.Session(nil))
	kinds := kindsAfter(w, event)
	same(t, "events", []parley.EventKind{kinds[0], kinds[len(kinds)-1]}, []parley.EventKind{parley.EventSessionOpened, parley.EventSessionEnded})
	w.AssertConsistent()
}

func TestWhatASessionTookIsBackAfterItsEnd(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddPollingAgents("arya", "ned")
	c := w.openSession("ned", stdioSession("k"))
	first, second := w.SendDM("arya", "ned", "one").Message, w.SendDM("arya", "ned", "two").Message
	taken := w.TakeAs("ned", parley.Take{Session: "k", Seen: true})
	same(t, "taken", textsOf(taken.Messages), []string{"one", "two"})
	for range 10 { // ten minutes: longer than any lease
		w.Leases.Advance(20 * time.Second)
		w.NoError(w.RenewSessions(ctx))
		w.AdvanceLeases(40 * time.Second)
		w.NoError(w.RenewSessions(ctx))
	}
	same(t, "still held", []any{w.DeliveryState(first.ID, "ned"), w.TakeTexts("ned", parley.Take{})}, []any{parley.DeliverySeen, []string{}})
	_, err := w.AckSession(ctx, as("ned"), "k", first.ID)
	w.NoError(err)
	w.NoError(c.Close())
	w.endSessionsAfter(parley.SessionGrace - time.Millisecond)
	same(t, "in the grace", w.DeliveryState(second.ID, "ned"), parley.DeliverySeen)
	w.endSessionsAfter(time.Millisecond)
	same(t, "after the end", w.retryState(second.ID, "ned"), retryState{parley.DeliveryAccepted, 1, "", 0})
	same(t, "the acknowledged one stays so", w.DeliveryState(first.ID, "ned"), parley.DeliveryAcked)
	same(t, "ready at once", w.TakeTexts("ned", parley.Take{}), []string{"two"})
	w.AssertConsistent()
}

func TestAClientThatConnectsAgainKeepsItsSession(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned")
	c := w.openSession("ned", stdioSession("k"))
	m := w.SendDM("arya", "ned", "one").Message
	w.TakeAs("ned", parley.Take{Session: "k"})
	for name, again := range map[string]func() parley.SessionStream{
		"a connection beside it": func() parley.SessionStream {
			other := w.openSession("ned", parley.NewSession{Key: "k", Kind: parley.SessionHook, Wake: parley.WakeHook})
			w.NoError(c.Close())
			return other
		},
		"a connection in the grace": func() parley.SessionStream {
			w.NoError(c.Close())
			w.endSessionsAfter(parley.SessionGrace / 2)
			return w.openSession("ned", stdioSession("k"))
		},
		"a connection after a restart of the hub": func() parley.SessionStream {
			w.RestartAndRecover()
			w.endSessionsAfter(parley.SessionGrace / 2)
			return w.openSession("ned", stdioSession("k"))
		},
	} {
		c = again()
		w.endSessionsAfter(parley.SessionGrace)
		same(t, name, w.DeliveryState(m.ID, "ned"), parley.DeliveryDelivered)
	}
	got := w.sessionsSeenBy("ned")
	same(t, "one session with the first kind and client", []any{len(got), got[0].Kind, got[0].Client, got[0].Held, got[0].Wake},
		[]any{1, parley.SessionStdio, "claude-code 2.1", 1, parley.WakeHook})
	w.loseSession(c)
	same(t, "at last", w.DeliveryState(m.ID, "ned"), parley.DeliveryAccepted)
	w.AssertConsistent()
}

func TestSessionsThatDoNotComeBackAfterARestartEnd(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned")
	w.openSession("ned", stdioSession("k"))
	m := w.SendDM("arya", "ned", "one").Message
	w.TakeAs("ned", parley.Take{Session: "k", Seen: true})
	w.RestartAndRecover()
	same(t, "at first", []any{w.DeliveryState(m.ID, "ned"), len(w.sessionsSeenBy("ned"))}, []any{parley.DeliverySeen, 1})
	w.endSessionsAfter(parley.SessionGrace)
	same(t, "after the grace", []any{w.DeliveryState(m.ID, "ned"), len(w.sessionsSeenBy("ned"))}, []any{parley.DeliveryAccepted, 0})
	w.AssertConsistent()
}

func TestASessionIsSettledAtTheEndOfATurn(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddPollingAgents("arya", "ned")
	w.openSession("ned", stdioSession("k"))
	nothing, err := w.SettleSession(ctx, as("ned"), "k", parley.Outcome{})
	w.NoError(err)
	same(t, "nothing held", len(nothing), 0)
	m := w.SendDM("arya", "ned", "one").Message
	w.TakeAs("ned", parley.Take{Session: "k", Seen: true})
	settled := resultOf[[]parley.Delivery](w)(w.SettleSession(ctx, as("ned"), "k", parley.Outcome{}))
	same(t, "settled", []any{len(settled), w.DeliveryState(m.ID, "ned")}, []any{1, parley.DeliveryAcked})
	unseen := w.SendDM("arya", "ned", "unseen").Message
	w.TakeAs("ned", parley.Take{Session: "k"})
	_, err = w.SettleSession(ctx, as("ned"), "k", parley.Outcome{})
	w.NoError(err)
	same(t, "what nobody has seen is back", w.retryState(unseen.ID, "ned"), retryState{parley.DeliveryAccepted, 0, "", 0})
	w.AckAs("ned", unseen.ID)
	second := w.SendDM("arya", "ned", "two").Message
	w.TakeAs("ned", parley.Take{Session: "k", Seen: true})
	reply := w.ReplyAs("ned", second.ID, "answer").Message
	same(t, "a reply settles", w.DeliveryOf(second.ID, "ned").Answer, reply.ID)
	third := w.SendDM("arya", "ned", "three").Message
	w.TakeAs("ned", parley.Take{Session: "k", Seen: true})
	_, err = w.SettleSession(ctx, as("ned"), "k", parley.Outcome{Trouble: &parley.Trouble{Failure: parley.FailureBusy}})
	w.NoError(err)
	same(t, "given back", w.DeliveryState(third.ID, "ned"), parley.DeliveryAccepted)
	w.AssertConsistent()
}

func TestForeignSessionsLookLikeUnknownOnes(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned")
	w.openSession("ned", stdioSession("neds"))
	m := w.SendDM("ned", "arya", "one").Message
	acting := as("ned")
	acting.By = "user"
	for _, key := range []string{"neds", "nobodys"} {
		want := parley.UnknownSession(key)
		w.assertRefusals(t, []refusal{
			{"take " + key, func() error { return errorOf(w.Take(ctx, as("arya"), parley.Take{Session: key})) }, want},
			{"ack " + key, func() error { return errorOf(w.AckSession(ctx, as("arya"), key, m.ID)) }, want},
			{"settle " + key, func() error { return errorOf(w.SettleSession(ctx, as("arya"), key, parley.Outcome{})) }, want},
			{"an owner as ned takes " + key, func() error { return errorOf(w.Take(ctx, acting, parley.Take{Session: key})) }, want},
		})
	}
	w.AssertCode(parley.NotPermitted, errorOf(w.OpenSession(ctx, acting, stdioSession("k"))))
	w.AssertCode(parley.NotPermitted, errorOf(w.SettleSession(ctx, acting, "neds", parley.Outcome{})))
	w.AssertCode(parley.BadInput, errorOf(w.OpenSession(ctx, as("ned"), stdioSession("a key"))))
	w.AssertCode(parley.BadInput, errorOf(w.AckSession(ctx, as("ned"), "neds", m.ID)))
}

func TestAParticipantHasOnlySoManySessions(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{Burst: 1} })
	w.AddPollingAgents("arya", "ned")
	for i := range 64 {
		w.openSession("ned", stdioSession(string(rune('A'+i%26))+string(rune('a'+i/26))))
	}
	w.AssertCode(parley.Unavailable, errorOf(w.OpenSession(ctx, as("ned"), stdioSession("more"))))
	w.openSession("ned", stdioSession("Aa")) // another connection of a session is none more
	w.openSession("arya", stdioSession("more"))
}

func TestASignComesWithEachMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned")
	c := w.openSession("ned", stdioSession("k"))
	sign := resultOf[parley.SessionSign](w)(c.Next(ctx))
	same(t, "at once", sign.Inbox, parley.Inbox{})
	w.SendDM("arya", "ned", "one")
	sign = resultOf[parley.SessionSign](w)(c.Next(ctx))
	same(t, "after a message", sign.Inbox, parley.Inbox{Waking: 1})
	ended, cancel := context.WithCancel(ctx)
	cancel()
	w.AssertCode(parley.TimedOut, errorOf(c.Next(ended)))
	w.SendDM("arya", "ned", "two")
	sign = resultOf[parley.SessionSign](w)(c.Next(ctx))
	same(t, "a call that ended has lost nothing", sign.Inbox, parley.Inbox{Waking: 2})
	w.NoError(c.Close())
	w.NoError(c.Close())
	if _, err := c.Next(ctx); parley.AsError(err).Reason != parley.Gone {
		t.Errorf("after Close: %v", err)
	}
}

func TestAnAskForOneSessionReachesItAlone(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned")
	w.openSession("ned", stdioSession("one"))
	w.openSession("ned", stdioSession("two"))
	asked := w.beginContact(as("arya"), parley.Contact{Pattern: parley.PatternAsk, Session: "two", Message: "which?"})
	same(t, "no other take gets it", []any{w.TakeTexts("ned", parley.Take{}), w.TakeTexts("ned", parley.Take{Session: "one"})}, []any{[]string{}, []string{}})
	w.AdvanceLeases(50 * time.Second)
	w.NoError(w.RenewSessions(ctx))
	w.AdvanceLeases(50 * time.Second)
	taken := w.TakeAs("ned", parley.Take{Session: "two", Seen: true})
	same(t, "the session gets it", len(taken.Messages), 1)
	w.ReplyAs("ned", taken.Messages[0].ID, "two")
	<-asked.done
	same(t, "the answer", []any{asked.made.Text, asked.err}, []any{"Response from ned: two", nil})
	w.AssertConsistent()
}

func TestAnAskFailsWithTheSessionItIsFor(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]bool{"before it was taken": false, "after it was taken": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddPollingAgents("arya", "ned")
			c := w.openSession("ned", stdioSession("k"))
			asked := w.beginContact(as("arya"), parley.Contact{Pattern: parley.PatternAsk, Agent: "ned", Session: "k", Message: "well?"})
			if take {
				w.TakeAs("ned", parley.Take{Session: "k"})
			}
			w.loseSession(c)
			<-asked.done
			same(t, "the failure", parley.AsError(asked.err).Sentence(), "Error: ned failed to respond: its client session has ended")
			same(t, "nothing is left", w.TakeTexts("ned", parley.Take{}), []string{})
			w.AssertConsistent()
		})
	}
}

func TestAnAskForASessionThatIsNotThereIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya", "ned", "bran")
	ask := func(c parley.Contact) func() error {
		c.Pattern, c.Message = parley.PatternAsk, "well?"
		return func() error { return errorOf(w.Contact(ctx, as("arya"), c)) }
	}
	w.openSession("ned", stdioSession("both"))
	w.openSession("bran", stdioSession("both"))
	w.openSession("ned", parley.NewSession{Key: "watches", Kind: parley.SessionWatch})
	w.assertRefusals(t, []refusal{
		{"unknown", ask(parley.Contact{Session: "k"}), parley.UnknownSession("k")},
		{"of another", ask(parley.Contact{Agent: "bran", Session: "watches"}), parley.UnknownSession("watches")},
		{"of two", ask(parley.Contact{Session: "both"}), refusalError(parley.BadInput, "", "several participants have a session with the key both", "name the agent too; with sessions_send, as AGENT/both")},
		{"that cannot take", ask(parley.Contact{Session: "watches"}), refusalError(parley.BadInput, "", "the session watches takes no questions of its own", "ask its participant: parley ask ned")},
		{"by delegate", func() error {
			return errorOf(w.Contact(ctx, as("arya"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "ned", Session: "both", Message: "do it"}))
		}, refusalError(parley.BadInput, "", "only ask can name a session", "leave session out, or use ask")},
	})
	w.AddPermission("arya", "ned", parley.EffectDeny)
	w.AssertCode(parley.NotPermitted, ask(parley.Contact{Agent: "ned", Session: "both"})())
}

func TestARunHasNoSession(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.AddPollingAgents("arya")
	w.SendDM("arya", "ned", "work")
	a := w.StartRun("ned")
	caller := as("ned")
	caller.Run = a.Run.ID
	w.AssertCode(parley.BadInput, errorOf(w.OpenSession(ctx, caller, stdioSession("k"))))
	if _, err := w.Take(ctx, caller, parley.Take{Session: "k"}); !errors.Is(err, parley.UnknownSession("k")) && parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("a run took with a session: %v", err)
	}
}

// TestARepeatedTakeOfASessionGetsWhatWasNotSeen loses the answers to takes, and repeats them.
func TestARepeatedTakeOfASessionGetsWhatWasNotSeen(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddPollingAgents("arya", "ned")
	w.openSession("ned", stdioSession("k"))
	w.SendDM("arya", "ned", "seen")
	seen := w.TakeAs("ned", parley.Take{Session: "k"})
	resultOf[[]parley.Delivery](w)(w.See(ctx, as("ned"), seen.Lease, ""))
	w.SendDM("arya", "ned", "lost")
	w.TakeAs("ned", parley.Take{Session: "k"})
	w.SendDM("arya", "ned", "new")
	same(t, "a take that repeats none", w.TakeTexts("ned", parley.Take{Session: "k"}), []string{"new"})
	again := parley.Take{Session: "k", Again: true}
	same(t, "a repeated take", w.TakeTexts("ned", again), []string{"lost", "new"})
	same(t, "another repeated take", w.TakeTexts("ned", again), []string{"lost", "new"})
	resultOf[[]parley.Delivery](w)(w.See(ctx, as("ned"), seen.Lease, ""))
	same(t, "after they were seen", w.TakeTexts("ned", again), []string{})
}

// TestAWaitingTakeLeavesToAHookWhatItTook: a hook and the MCP server of a client have one session. While a take that repeats a lost one
// waits, the hook takes a message, and the take does not bring it a second time. (It waits for messages that wake, so it does not take this
// one before the hook.)
func TestAWaitingTakeLeavesToAHookWhatItTook(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.AddPollingAgents("arya", "ned")
		w.openSession("ned", stdioSession("k"))
		got := make(chan parley.Taken)
		go func() {
			taken, err := w.Take(ctx, as("ned"), parley.Take{Session: "k", Again: true, Waking: true, Wait: time.Minute})
			if err != nil {
				t.Error(err)
			}
			got <- taken
		}()
		synctest.Wait()
		w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeNotification, Content: text("for the hook")})
		same(t, "the hook takes", w.TakeTexts("ned", parley.Take{Session: "k"}), []string{"for the hook"})
		w.SendDM("arya", "ned", "for the server")
		same(t, "the server takes", textsOf((<-got).Messages), []string{"for the server"})
	})
}

// TestASessionThatAHookBeganIsThatOfTheClient: the first hook of a client often comes before its MCP server. A hook that has the session
// alone settles at once what it prints; this one must not.
func TestASessionThatAHookBeganIsThatOfTheClient(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddPollingAgents("ned")
	hook := parley.NewSession{Key: "k", Client: "claude", Kind: parley.SessionHook, Wake: parley.WakeHook}
	first := w.openSession("ned", hook)
	same(t, "a hook alone", first.Session().Kind, parley.SessionHook)
	w.openSession("ned", stdioSession("k"))
	second := w.openSession("ned", hook).Session()
	same(t, "beside the MCP server", []any{second.Kind, second.Client, second.Wake}, []any{parley.SessionStdio, "claude-code 2.1", parley.WakeHook})
	w.AssertConsistent()
}

// interruptedStore calls interrupt before the next update.
type interruptedStore struct {
	storage.Store
	storage.DamageSource
	interrupt *func()
}

func (s interruptedStore) Update(ctx context.Context, do func(storage.Tx) error) error {
	if f := *s.interrupt; f != nil {
		*s.interrupt = nil
		f()
	}
	return s.Store.Update(ctx, do)
}

// TestAHubThatRenewsLateKeepsItsSessions: between the moment at which another hub finds its session lapsed, and the moment at which that
// hub ends it, the session's own hub renews it.
func TestAHubThatRenewsLateKeepsItsSessions(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Node = "one" })
	w.AddPollingAgents("arya", "ned")
	w.openSession("ned", stdioSession("k"))
	m := w.SendDM("arya", "ned", "one").Message
	w.TakeAs("ned", parley.Take{Session: "k", Seen: true})
	var interrupt func()
	w.WrapStore = func(s storage.Store) storage.Store {
		return interruptedStore{s, s.(storage.DamageSource), &interrupt}
	}
	other := otherHub(w, "two")
	w.Leases.Advance(2 * time.Minute)
	interrupt = func() { w.NoError(w.RenewSessions(ctx)) }
	w.NoError(other.RenewSessions(ctx))
	same(t, "the session and what it holds", []any{len(w.sessionsSeenBy("ned")), w.DeliveryState(m.ID, "ned")}, []any{1, parley.DeliverySeen})
	w.Leases.Advance(2 * time.Minute)
	w.NoError(other.RenewSessions(ctx))
	same(t, "when nobody renews it", []any{len(w.sessionsSeenBy("ned")), w.DeliveryState(m.ID, "ned")}, []any{0, parley.DeliveryAccepted})
	w.AssertConsistent()
}
