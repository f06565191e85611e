package hub_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func TestAlertIsAnnouncedOnceOnAndOnceOff(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.Start(ctx)
	before := w.LastEventNumber()
	full := parley.Alert{
		Name: "depth", Agent: "arya", Title: "The inbox of arya is filling up", Message: "the inbox of arya has 81 of 100 messages",
		Suggestion: "see what keeps it", Facts: map[string]any{"depth": 81},
	}
	for range 2 {
		w.NoError(w.Alert(ctx, full, true))
	}
	status := resultOf[parley.HubStatus](w)(w.Status(ctx, user))
	shown := slices.DeleteFunc(status.Alerts, func(a parley.Alert) bool { return a.Name == "disk" })
	same(t, "shown", len(shown), 1)
	same(t, "which is", []any{shown[0].Name, shown[0].Agent, shown[0].Message, shown[0].Since.Equal(began)}, []any{"depth", "arya", full.Message, true})
	same(t, "told outside", noticeLines(w.pendingNotices()), []string{"user alert The inbox of arya is filling up"})
	for range 2 {
		w.NoError(w.Alert(ctx, full, false))
	}
	var data []string
	for _, e := range follow(t, w.Hub, user, before, w.LastEventNumber()) {
		same(t, "kind", e.Kind, parley.EventAlert)
		data = append(data, string(e.Data))
	}
	same(t, "events", data, []string{
		`{"agent":"arya","depth":81,"message":"the inbox of arya has 81 of 100 messages","name":"depth","state":"on","suggestion":"see what keeps it"}`,
		`{"agent":"arya","depth":81,"name":"depth","state":"off"}`,
	})
	same(t, "for arya", len(follow(t, w.Hub, as("arya"), before, w.LastEventNumber())), 0)
	w.NoError(w.Alert(ctx, full, true))
	same(t, "once a day", len(w.pendingNotices()), 0)
}

func TestManyAlertsOfOneNameAreOneNoticeAndOneGroup(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	for n := range 14 {
		w.AddAgents(fmt.Sprintf("agent-%d", n+1))
	}
	w.Start(ctx)
	full := func(n int) parley.Alert {
		id := fmt.Sprintf("agent-%d", n)
		return parley.Alert{
			Name: "depth", Agent: id, Title: "The inbox of " + id + " is filling up", Severity: float64(n),
			Message: fmt.Sprintf("the inbox of %s has %d of 100 messages", id, n), Suggestion: "see what keeps it",
		}
	}
	w.NoError(w.Alert(ctx, full(1), true))
	same(t, "one", noticeLines(w.pendingNotices()), []string{"user alert The inbox of agent-1 is filling up"})
	var many []parley.Alert
	for n := range 12 {
		many = append(many, full(n+1))
	}
	w.NoError(w.RaiseAlerts(ctx, many...))
	told := w.pendingNotices()
	same(t, "many", noticeLines(told), []string{"user alert 12 inboxes are filling up"})
	same(t, "in words", told[0].Text, "12 inboxes are filling up; the worst: the inbox of agent-12 has 12 of 100 messages.\nSee all of them: parley status --alerts.")
	for n := range 2 { // they go on filling up, one by one
		w.NoError(w.RaiseAlerts(ctx, full(n+13)))
	}
	same(t, "once a day", len(w.pendingNotices()), 0)
	status := resultOf[parley.HubStatus](w)(w.Status(ctx, user))
	groups := slices.DeleteFunc(status.AlertGroups, func(g parley.AlertGroup) bool { return g.Name != "depth" })
	same(t, "groups", len(groups), 1)
	same(t, "the group", groups[0].Message, "14 inboxes are filling up; the worst: the inbox of agent-14 has 14 of 100 messages")
	fuller := full(2)
	fuller.Severity, fuller.Message = 999, "the inbox of agent-2 has 999 of 100 messages"
	w.NoError(w.RaiseAlerts(ctx, fuller))
	same(t, "the newest figures", resultOf[parley.HubStatus](w)(w.Status(ctx, user)).AlertGroups[0].Worst.Message, fuller.Message)
}

// watcher counts the writes and reads that the hub reports to it.
type watcher struct{ Writes, Reads int }

func (w *watcher) Wrote(time.Duration) { w.Writes++ }
func (w *watcher) Read(time.Duration)  { w.Reads++ }

func TestObserverCountsPostsAndReads(t *testing.T) {
	t.Parallel()
	seen := &watcher{}
	w := newHub(t, func(w *fixture) { w.Config.Observer = seen })
	w.AddAgents("arya")
	m := w.SendDM("user", "arya", "hello").Message
	same(t, "a post", *seen, watcher{1, 0})
	_, err := w.Post(ctx, user, parley.Draft{Direct: []string{"nobody"}, Content: text("x")})
	same(t, "to nobody", parley.CodeOf(err), parley.BadInput)
	same(t, "one that is refused", *seen, watcher{1, 0})
	resultOf[[]parley.Message](w)(w.History(ctx, user, m.Conversation, parley.Page{}))
	resultOf[[]parley.Message](w)(w.Context(ctx, as("arya"), m.Conversation))
	resultOf[parley.Peeked](w)(w.Peek(ctx, as("arya"), 5))
	resultOf[parley.Taken](w)(w.Take(ctx, as("arya"), parley.Take{}))
	resultOf[parley.Taken](w)(w.Take(ctx, as("arya"), parley.Take{})) // nothing is there to be read
	same(t, "reads", *seen, watcher{1, 4})
}

func TestObserverCountsAnswers(t *testing.T) {
	t.Parallel()
	seen := &watcher{}
	w := newHub(t, func(w *fixture) { w.Config.Observer = seen })
	w.AddScriptAgents("codex")
	for _, answer := range []string{"an answer", ""} {
		w.SendDM("user", "codex", "hello")
		run := w.StartRun("codex")
		before := seen.Writes
		resultOf[parley.Run](w)(w.FinishRun(ctx, run.Run.ID, parley.Result{Text: answer}, nil))
		same(t, "writes for "+answer, seen.Writes-before, min(len(answer), 1))
	}
}

func TestObserverCountsDocuments(t *testing.T) {
	t.Parallel()
	seen := &watcher{}
	w := newHub(t, func(w *fixture) { w.Config.Observer = seen })
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	one := b.document("ana", "ned", "one")
	b.arrive(one, b.document("stranger", "ned", "refused"), b.document("ana", "ned", "two"), b.document("ana", "ned", "three"))
	same(t, "those that are stored", *seen, watcher{3, 0})
	b.arrive(one)
	same(t, "one that comes again", *seen, watcher{3, 0})
}

func TestCallerTraceIsForMessagesWithoutATrace(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	traced := hub.Caller{Agent: "user", Trace: trace}
	say := func(d parley.Draft) parley.Message {
		return resultOf[parley.Receipt](w)(w.Post(ctx, traced, d)).Message
	}
	other := w.SendDM("user", "arya", "hello").Message
	same(t, "neither given nor inherited", say(parley.Draft{Direct: []string{"arya"}, Content: text("x")}).TraceID, trace)
	same(t, "given", say(parley.Draft{Direct: []string{"arya"}, TraceID: "mine", Content: text("x")}).TraceID, "mine")
	same(t, "inherited", say(parley.Draft{InReplyTo: other.ID, Content: text("x")}).TraceID, other.TraceID)
	made := resultOf[parley.Contacted](w)(w.Contact(ctx, traced, parley.Contact{Pattern: parley.PatternNotify, Agent: "gendry", Message: "x"}))
	same(t, "a contact", resultOf[parley.Shown](w)(w.Message(ctx, user, made.Message)).TraceID, trace)
}

func TestFiguresCountMembersMessagesAndDeliveries(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.SendDM("user", "arya", "hello")
	w.Start(ctx)
	sub := resultOf[*hub.Subscription](w)(w.Subscribe(ctx, user, w.LastEventNumber(), parley.EventFilter{}))
	defer sub.Close()
	w.NoError(w.RemoveAgent(ctx, user, "gendry"))
	f := resultOf[hub.Figures](w)(w.Figures(ctx))
	var ids []string
	for _, a := range f.Members {
		ids = append(ids, a.ID)
	}
	same(t, "members", ids, []string{"parley", "user", "arya"})
	same(t, "the inbox", f.Inboxes["arya"].Waking, 1)
	same(t, "the rest", []int64{f.Messages, f.OpenDeliveries, int64(f.Subscribers), f.QueuedTasks}, []int64{1, 1, 1, 0})
	wantError(t, w.MayObserve(ctx, as("arya")), refusalError(parley.NotPermitted, "", "only an owner may read the metrics", "ask an owner of this hub"))
}
