package hub_test

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Trace injection: a trace of others cannot be joined by naming it, in whichever way and spelling.
func TestForeignTraceIsNotJoined(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		t.Run(map[bool]string{false: "not indexed yet", true: "indexed"}[indexed], func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddAgents("arya", "ned", "hound", "gendry")
			named := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TraceID: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", Content: text("x")}).Message
			word := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TraceID: "winter-1", Content: text("x")}).Message
			own := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: text("x")}).Message
			if indexed {
				w.Start(ctx)
				resultOf[parley.SearchResult](w)(w.Search(ctx, as("arya"), parley.SearchRequest{Query: "x"})) // it waits for what arya posted
			}
			for _, trace := range []string{named.TraceID, "4BF92F3577B34DA6A3CE929D0E0E4736", word.TraceID, own.TraceID} {
				for how, m := range map[string]parley.Message{
					"in the body": w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, TraceID: trace, Content: text("y")}).Message,
					"by the call": resultOf[parley.Receipt](w)(w.Post(ctx, hub.Caller{Agent: "hound", Trace: trace}, parley.Draft{Direct: []string{"gendry"}, Content: text("y")})).Message,
				} {
					same(t, trace+" "+how, m.TraceID, m.ID)
				}
				task := resultOf[parley.TaskView](w)(w.NewTask(ctx, hub.Caller{Agent: "hound", Trace: trace}, parley.NewTask{Assignee: "gendry", Text: "y"}))
				same(t, trace+" of a task", task.TraceID, task.Message)
				joins := w.PostAs("ned", parley.Draft{Direct: []string{"gendry"}, TraceID: trace, Content: text("y")}).Message
				same(t, trace+" of one who takes part", joins.TraceID, trace)
				owner := w.PostAs(parley.Owner, parley.Draft{Direct: []string{"arya"}, TraceID: trace, Content: text("y")}).Message
				same(t, trace+" of an owner", owner.TraceID, trace)
			}
			free := w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, TraceID: "summer", Content: text("y")}).Message
			same(t, "one that nobody has", free.TraceID, "summer")
			far := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: text("x")}).Message
			reply := w.PostAs("gendry", parley.Draft{InReplyTo: free.ID, TraceID: far.TraceID, Content: text("y")}).Message
			same(t, "a reply", reply.TraceID, "summer")
		})
	}
}

// However large what the index does not have yet is, all of it is looked at.
func TestForeignTraceIsNotJoinedBehindLargeMessages(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "hound", "gendry")
	for range 6 {
		w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, Content: text(strings.Repeat("x", 200<<10))})
	}
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TraceID: "winter", Content: text("x")})
	joins := w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, TraceID: "winter", Content: text("y")}).Message
	same(t, "trace", joins.TraceID, joins.ID)
	free := w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, TraceID: "summer", Content: text("y")}).Message
	same(t, "one that nobody has", free.TraceID, "summer")
}

// frugal is a store whose updates may read only a little.
type frugal struct{ storage.Store }

func (f frugal) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return f.Store.Update(ctx, func(tx storage.Tx) error {
		tx.LimitBytes(1 << 20)
		return fn(tx)
	})
}

// Nor are the texts of what the index does not have yet read while others wait to write.
func TestJoiningATraceReadsNoTexts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned", "hound", "gendry")
	for range 8 {
		w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, Content: text(strings.Repeat("x", 200<<10))})
	}
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, TraceID: "winter", Content: text("x")})
	w.WrapStore = func(s storage.Store) storage.Store { return frugal{s} }
	w.Restart()
	for trace, want := range map[string]bool{"winter": false, "summer": true} {
		m := w.PostAs("hound", parley.Draft{Direct: []string{"gendry"}, TraceID: trace, Content: text("y")}).Message
		same(t, trace, m.TraceID == trace, want)
	}
}

// A call that is held is in no trace of others either, and a run stays in its own.
func TestHeldCallAndRunStayInTheirTrace(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	secret := w.PostAs(parley.Owner, parley.Draft{Direct: []string{"senior"}, Content: text("x")}).Message
	a := w.HeldApproval(errorOf(w.Contact(ctx, hub.Caller{Agent: "intern", Trace: secret.TraceID}, notifyContact("senior", "x"))))
	same(t, "an approval", a.TraceID, a.ID)
	run, _ := w.startRunInDM("boss")
	caller := run.Caller()
	caller.Trace = secret.TraceID
	told := resultOf[parley.Receipt](w)(w.Post(ctx, caller, parley.Draft{Direct: []string{"user"}, TraceID: secret.TraceID, Content: text("x")})).Message
	same(t, "a run", told.TraceID, run.Run.TraceID)
}

// A file names no trace of others.
func TestForeignTraceIsNotJoinedByADocument(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.joinTree(parley.LayoutAgentOS, "tree", "ana", "ben")
	w.CreateChannel("user", "paper")
	secret := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: text("x")}).Message
	came := w.arriveFrom("tree", parley.Arrival{
		Name: "msg-20260301-090000-ana-abcd", From: "ana", To: "ben", Channel: "paper", Draft: parley.Draft{TraceID: secret.TraceID, Content: text("y")},
	})
	same(t, "its trace", resultOf[parley.Shown](w)(w.Message(ctx, user, came.Message)).TraceID, came.Message)
}

// In an implicit group a mention is for the one mentioned; the others are not woken.
func TestMentionInAnImplicitGroupWakesTheOneMentioned(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("arya", "gendry")
	for words, want := range map[string]map[string]bool{
		"good morning":        {"arya": true, "gendry": true},
		"@arya good morning":  {"arya": true, "gendry": false},
		"arya, good morning":  {"arya": true, "gendry": false},
		"@all good morning":   {"arya": true, "gendry": true},
		"`@arya` in the code": {"arya": true, "gendry": true},
	} {
		r := w.PostAs(parley.Owner, parley.Draft{Direct: []string{"arya", "gendry"}, Content: text(words)})
		got := map[string]bool{}
		for _, d := range r.Deliveries {
			got[d.Recipient] = d.Waking
		}
		same(t, words, got, want)
	}
}
