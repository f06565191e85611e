package hub_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const canary = "qzxcanaryvw"

func (w *fixture) redactAsOwner(id string) parley.Message {
	w.T.Helper()
	m, err := w.Redact(ctx, user, id, "it was a secret")
	w.NoError(err)
	return m
}

// draftWithCanary returns a draft with the canary in every part of its content.
func (w *fixture) draftWithCanary(who string, size int) parley.Draft {
	w.T.Helper()
	named := w.putArtifactAs(who, canary+strings.Repeat(" in a body", size))
	named.Name = canary + ".txt"
	long := strings.Repeat(" "+canary, 1+size/len(canary))
	object := fmt.Appendf(nil, `{%q:"%s"}`, canary, long)
	return parley.Draft{Conversation: "open", To: "ned", Payload: object, Metadata: object, IdempotencyKey: fmt.Sprint("key", size), Content: parley.Content{
		Text: "it is" + long, Code: long, Artifacts: []parley.Artifact{named, {Path: "/srv/" + canary}},
	}}
}

func TestRedactedMessageKeepsItsEnvelopeAndDigest(t *testing.T) {
	t.Parallel()
	w := newSearch(t, runTwice)
	posted := w.PostAs("arya", w.draftWithCanary("arya", 10)).Message
	before := w.LastEventNumber()
	w.Clock.Advance(time.Hour)
	got := w.redactAsOwner(posted.ID)
	same(t, "redacted", got, posted.Redacted(began.Add(time.Hour)))
	same(t, "intact", got.Intact(), true)
	shown, err := w.Message(ctx, as("ned"), posted.ID)
	w.NoError(err)
	same(t, "stored", shown.Message, got)
	events := follow(t, w.Hub, as("ned"), before, w.LastEventNumber())
	same(t, "events", events, []parley.Event{{
		Num: before + 1, At: began.Add(time.Hour), Kind: parley.EventMessageRedacted,
		Conversation: posted.Conversation, Agent: "arya", By: "user", Message: posted.ID,
	}})
	entries := w.AuditEntries()
	last := entries[len(entries)-1]
	same(t, "audited", []string{last.Actor, last.Act, last.Subject, string(last.Detail)}, []string{
		"user", "message.redact", posted.ID, fmt.Sprintf(`{"body_digest":%q,"reason":"it was a secret"}`, got.Digest),
	})
	state := w.storeSnapshot()
	w.Clock.Advance(time.Hour)
	same(t, "again", w.redactAsOwner(posted.ID), got)
	same(t, "after redacting twice", w.storeSnapshot(), state)
	w.AssertConsistent()
}

func TestOnlyOwnersRedact(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	w.AddPerson("member", parley.AccessMember)
	id := w.SayIn("arya", "open", "hello").Message.ID
	redact := func(who, id, reason string) func() error {
		return func() error { _, err := w.Redact(ctx, as(who), id, reason); return err }
	}
	denied := refusalError(parley.NotPermitted, "", "only an owner may redact a message", "ask an owner of this hub")
	w.assertRefusals(t, []refusal{
		{"its sender", redact("arya", id, ""), denied},
		{"a member", redact("member", id, ""), denied},
		{"a member, of a message that is not", redact("member", noRoom, ""), denied},
		{"no message", redact("user", noRoom, ""), notFoundError("message", noRoom, checkName)},
		{
			"a reason that cannot be kept", redact("user", id, "\x00"),
			refusalError(parley.BadInput, "", "reason contains a NUL character", "remove it"),
		},
	})
}

// Nothing that anybody can read, and nothing that is left of the store, has the canary.
func TestRedactedWordsAreNowhere(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	var ids []string
	for size := range 40 { // among others, some on pages of their own, some not indexed yet
		draft := w.draftWithCanary("arya", size*size*20)
		ids = append(ids, w.PostAs("arya", draft).Message.ID)
		w.SayIn("ned", "open", fmt.Sprint("between, number ", size))
		if size%10 == 0 {
			w.awaitIndex()
		}
	}
	w.ReplyAs("ned", ids[0], "an answer")
	w.awaitIndex()
	same(t, "found before", len(w.searchAs("ned", canary).Hits), 20)
	for _, id := range ids {
		w.redactAsOwner(id)
	}
	for name, shown := range w.readEveryWay("ned", ids[0]) {
		if strings.Contains(shown, canary) {
			t.Errorf("%s shows the canary", name)
		}
	}
	same(t, "bodies", len(w.storedBodies()), 0)
	w.AssertConsistent()
	w.NoError(w.Sweep(ctx))
	same(t, "what is left is found", len(w.searchAs("ned", "between number 39").Hits), 1)
	w.AssertConsistent()
	w.Close()
	found, err := stores.Containing(w.Place, canary)
	w.NoError(err)
	same(t, "files and tables with the canary", found, []string(nil))
	w.Open()
}

// readEveryWay reads the channel and one message in it by each call that reads, and returns the results as text.
func (w *fixture) readEveryWay(who, id string) map[string]string {
	w.T.Helper()
	shown := map[string]string{}
	add := func(name string, v any, err error) {
		w.T.Helper()
		w.NoError(err)
		raw, err := json.Marshal(v)
		w.NoError(err)
		if len(raw) < 40 {
			w.T.Errorf("%s shows nothing: %s", name, raw)
		}
		shown[name] = string(raw)
	}
	history, err := w.History(ctx, as(who), "open", parley.Page{})
	add("history", history, err)
	thread, err := w.Thread(ctx, as(who), id)
	add("thread", thread, err)
	around, err := w.Context(ctx, as(who), "open")
	add("context", around, err)
	message, err := w.Message(ctx, as(who), id)
	add("message", message, err)
	peeked, err := w.Peek(ctx, as(who), 100)
	add("peek", peeked, err)
	taken, err := w.Take(ctx, as(who), parley.Take{Limit: 100})
	add("take", taken, err)
	found, err := w.Search(ctx, as(who), parley.SearchRequest{Query: "in:open between", Limit: 100})
	add("search", found, err)
	for _, format := range []string{"jsonl", "markdown"} {
		var out strings.Builder
		add("export "+format, "as text, which is long enough not to be empty", w.Export(ctx, as(who), "open", format, &out))
		shown["export "+format] += out.String()
		if !strings.Contains(strings.ToLower(out.String()), "redacted") {
			w.T.Errorf("the export as %s does not say that anything is redacted", format)
		}
	}
	add("events", follow(w.T, w.Hub, as(who), 0, w.LastEventNumber()), nil)
	add("audit", w.AuditEntries(), nil)
	none := w.searchAs(who, canary)
	if len(none.Hits) > 0 {
		w.T.Errorf("the canary is found: %+v", none)
	}
	return shown
}

func TestRetryOfARedactedPostReturnsIt(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	draft := w.draftWithCanary("arya", 10)
	first := w.PostAs("arya", draft)
	redacted := w.redactAsOwner(first.Message.ID)
	again := w.PostAs("arya", draft)
	same(t, "message", again.Message, redacted)
	same(t, "duplicate", again.Duplicate, true)
	same(t, "deliveries", again.Deliveries, first.Deliveries)
}

// A body goes with the last message that refers to it, and one that was stored a moment ago too.
func TestRedactingRemovesBodiesNobodyElseRefersTo(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	alone, shared := w.putArtifactAs("arya", "alone"), w.putArtifactAs("arya", "shared")
	first := w.PostAs("arya", parley.Draft{Conversation: "open", Content: withArtifacts(alone, shared)}).Message.ID
	second := w.PostAs("ned", parley.Draft{Conversation: "open", Content: withArtifacts(shared)}).Message.ID
	w.redactAsOwner(first)
	same(t, "after the first", w.storedBodies(), []string{shared.SHA256})
	_, err := w.readArtifactAs("arya", alone.SHA256)
	wantError(t, err, notFoundError("artifact", alone.SHA256, storeFirst))
	w.AssertConsistent()
	w.redactAsOwner(second)
	same(t, "after the second", w.storedBodies(), []string(nil))
	same(t, "stored again", w.putArtifactAs("arya", "alone"), alone)
	w.AssertConsistent()
}

// What a crash leaves of a redacted message's artifacts is removed by the next sweep, not after a day.
func TestRedactionCutShortIsFinishedBySweeping(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*fixture){"by the same hub": func(*fixture) {}, "after a restart": (*fixture).Restart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &atomic.Bool{}
			w := newHub(t, func(w *fixture) {
				w.Config.Log = quiet()
				w.WrapStore = func(s storage.Store) storage.Store { return failing{s, on} }
			})
			w.AddAgents("arya", "ned")
			id := w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(w.putArtifactAs("arya", "secret"))}).Message.ID
			w.NoError(w.Sweep(ctx))
			on.Store(true)
			w.redactAsOwner(id)
			same(t, "left over", len(w.storedBodies()), 1)
			on.Store(false)
			w.AssertConsistent()
			again(w)
			w.NoError(w.Sweep(ctx))
			same(t, "bodies", len(w.storedBodies()), 0)
		})
	}
}

// meddling is a store that calls a function once between the read and the write of the indexer.
type meddling struct {
	storage.Store
	meddle *atomic.Pointer[func()]
}

func (s meddling) View(ctx context.Context, fn func(storage.Tx) error) error {
	scanned := false
	err := s.Store.View(ctx, func(tx storage.Tx) error { return fn(scanning{tx, &scanned}) })
	if meddle := s.meddle.Load(); scanned && meddle != nil && s.meddle.CompareAndSwap(meddle, nil) {
		(*meddle)()
	}
	return err
}

// scanning notes a scan of messages in order, which only the indexer makes here.
type scanning struct {
	storage.Tx
	scanned *bool
}

func (t scanning) Messages() storage.MessageStore { return scannedMessages{t.Tx.Messages(), t.scanned} }

type scannedMessages struct {
	storage.MessageStore
	scanned *bool
}

func (m scannedMessages) Scan(after int64, limit int) ([]parley.Message, error) {
	list, err := m.MessageStore.Scan(after, limit)
	*m.scanned = len(list) > 0
	return list, err
}

// What live runs have put out may repeat what is redacted: of those in its conversation, and of the one that
// posted it elsewhere.
func TestRedactionForgetsTheOutputOfLiveRuns(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("here", "there", "apart")
	w.CreateChannel("user", "open", "here", "there")
	w.SayIn("user", "open", "@here")
	runs := []*hub.Assignment{w.StartRun("here")}
	for _, agent := range []string{"there", "apart"} {
		w.SendDM("user", agent, "work")
		runs = append(runs, w.StartRun(agent))
	}
	id := w.PostFromRun(runs[1], parley.Draft{Conversation: "open", Content: text(canary)}).Message.ID
	for _, a := range runs {
		w.RunLogs(a.Run.ID, []byte(canary))
	}
	w.redactAsOwner(id)
	for i, want := range []string{"", "", canary} {
		same(t, "live", string(resultOf[[]byte](w)(w.RunOutput(ctx, user, runs[i].Run.ID))), want)
	}
	for i, want := range []string{"later", "later", canary + "later"} {
		w.RunLogs(runs[i].Run.ID, []byte("later"))
		w.EndRun(runs[i], "done")
		same(t, "kept", string(resultOf[[]byte](w)(w.RunOutput(ctx, user, runs[i].Run.ID))), want)
	}
}

// A private note can be in the prompts of its agent in all conversations.
func TestRedactionOfAPrivateNoteForgetsTheOutputOfItsAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("here", "apart")
	note := resultOf[parley.Note](w)(w.Remember(ctx, as("here"), parley.NewNote{Scope: parley.PrivateNote, Text: canary}))
	for agent, want := range map[string]string{"here": "", "apart": canary} {
		w.SendDM("user", agent, "work")
		run := w.StartRun(agent).Run.ID
		w.RunLogs(run, []byte(canary))
		defer func() { same(t, agent, string(resultOf[[]byte](w)(w.RunOutput(ctx, user, run))), want) }()
	}
	w.NoError(errorOf(w.RedactNote(ctx, user, note.ID, "a password")))
}

// An indexer that has read a message before it was redacted does not bring its words back.
func TestIndexerInFlightDoesNotBringRedactedWordsBack(t *testing.T) {
	t.Parallel()
	for name, erase := range map[string]func(w *fixture, id string){
		"redacted": func(w *fixture, id string) { w.redactAsOwner(id) },
		"erased by retention": func(w *fixture, _ string) {
			w.Clock.Advance(2 * day)
			w.NoError(w.Sweep(ctx))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meddle := &atomic.Pointer[func()]{}
			w := newHub(t, func(w *fixture) {
				w.Config.Retention.Messages.Age = day
				w.WrapStore = func(s storage.Store) storage.Store { return meddling{s, meddle} }
			})
			w.AddAgents("arya", "ned")
			w.CreateChannel("arya", "open")
			id := w.SayIn("arya", "open", canary).Message.ID
			w.SayIn("ned", "open", "harmless")
			meddled := make(chan struct{})
			fn := func() {
				erase(w, id)
				close(meddled)
			}
			meddle.Store(&fn)
			w.Start(ctx)
			<-meddled
			w.awaitIndex()
			same(t, "found", len(w.searchAs("ned", canary).Hits), 0)
			w.NoError(w.Sweep(ctx))
			w.Close()
			found, err := stores.Containing(w.Place, canary)
			w.NoError(err)
			same(t, "files and tables with the word", found, []string(nil))
			w.Open()
		})
	}
}
