package hub_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// refusalEntry holds the parts of an audit entry about a refusal.
type refusalEntry struct {
	Actor    string `json:"-"`
	Subject  string `json:"-"`
	Sentence string `json:"sentence"`
	Source   string `json:"source"`
	By       string `json:"by"`
	LeftOut  int    `json:"left_out"`
	Missed   int    `json:"missed"`
}

func (w *fixture) auditedRefusals() (list []refusalEntry) {
	w.T.Helper()
	for _, e := range w.AuditEntriesWithRefusals() {
		if e.Act != "refused" {
			continue
		}
		r := refusalEntry{Actor: e.Actor, Subject: e.Subject}
		w.NoError(json.Unmarshal(e.Detail, &r))
		list = append(list, r)
	}
	return list
}

func refuseRemoval(w *fixture, by hub.Caller) {
	w.T.Helper()
	if err := w.RemoveAgent(ctx, by, "ned"); parley.CodeOf(err) != parley.NotPermitted {
		w.T.Errorf("removed, %v", err)
	}
}

const removeRefused = "only an owner may remove an agent"

func TestRefusalsAreAudited(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned")
	refuseRemoval(w, as("ARYA"))
	acting, err := w.ActAs(ctx, user, "ned", "remove")
	w.NoError(err)
	refuseRemoval(w, acting)
	_, err = w.AuditLog(ctx, as("arya"), 0, 0) // a call that only reads
	wantError(t, err, onlyOwner("read the audit log"))
	w.Refused(as("arya"), "POST /v1/tokens", parley.Errorf(parley.NotPermitted, "the token lacks the scope admin"))
	for _, other := range []error{
		nil, parley.Errorf(parley.BadInput, "x"), parley.Errorf(parley.NotPermitted, "x").Because(parley.Unauthenticated),
	} {
		w.Refused(as("arya"), "x", other)
	}
	for _, unknown := range []hub.Caller{as("nobody"), {}} {
		_, err := w.Agents(ctx, unknown)
		same(t, "code for a stranger", parley.CodeOf(err), parley.NotPermitted)
	}
	_, err = w.Agent(ctx, as("arya"), "daenerys") // refused, but not for want of a right
	same(t, "code", parley.CodeOf(err), parley.BadInput)
	w.Stop()
	same(t, "refusals", w.auditedRefusals(), []refusalEntry{
		{Actor: "arya", Subject: "hub", Sentence: removeRefused, Source: "test"},
		{Actor: "ned", Subject: "hub", Sentence: removeRefused, Source: "test", By: "user"},
		{Actor: "arya", Subject: "hub", Sentence: "only an owner may read the audit log", Source: "test"},
		{Actor: "arya", Subject: "POST /v1/tokens", Sentence: "the token lacks the scope admin", Source: "test"},
	})
	w.AssertConsistent()
}

func TestSameRefusalIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.Start(ctx)
		w.AddAgents("arya", "ned")
		for range 5 {
			refuseRemoval(w, as("arya"))
		}
		refuseRemoval(w, as("ned"))
		w.Clock.Advance(time.Minute)
		refuseRemoval(w, as("arya"))
		refuseRemoval(w, as("arya"))
		w.Clock.Advance(time.Minute)
		refuseRemoval(w, as("arya"))
		synctest.Wait()
		of := func(who string, leftOut int) refusalEntry {
			return refusalEntry{Actor: who, Subject: "hub", Sentence: removeRefused, Source: "test", LeftOut: leftOut}
		}
		same(t, "refusals", w.auditedRefusals(), []refusalEntry{of("arya", 0), of("ned", 0), of("arya", 4), of("arya", 1)})
	})
}

// TestManyRefusalsAreCounted has one caller refused with another sentence each time, which only costs so much.
func TestManyRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	const times = 2000
	for i := range times {
		w.Refused(as("arya"), "test", parley.Errorf(parley.NotPermitted, "sentence %d", i))
	}
	w.Refused(as("ned"), "test", parley.Errorf(parley.NotPermitted, "another's"))
	w.Start(ctx)
	w.Stop()
	list := w.auditedRefusals()
	same(t, "written", len(list), 61)
	same(t, "the last", list[60], refusalEntry{Actor: "ned", Subject: "test", Sentence: "another's", Source: "test", Missed: times - 60})
}

// TestRefusalsOfManyAreBounded has more callers than are remembered, over several minutes.
func TestRefusalsOfManyAreBounded(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	const callers = 3000
	for i := range callers {
		w.Refused(as(fmt.Sprint("agent-", i)), "test", parley.Errorf(parley.NotPermitted, "no"))
	}
	w.Start(ctx)
	w.Stop()
	same(t, "written", len(w.auditedRefusals()), 256)
	w.Clock.Advance(time.Minute)
	w.Restart()
	w.Start(ctx)
	w.Refused(as("agent-1"), "test", parley.Errorf(parley.NotPermitted, "no"))
	w.Stop()
	same(t, "after a restart", len(w.auditedRefusals()), 257)
}

func TestRefusalIsWrittenShort(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.Refused(as("user"), "test", parley.Errorf(parley.NotPermitted, "%s", "x"+strings.Repeat("é", 100_000)))
	w.Stop()
	same(t, "the sentence", w.auditedRefusals()[0].Sentence, "x"+strings.Repeat("é", 249)+"…")
}

func TestRefusalThatCannotBeWrittenChangesNoAnswer(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned")
	w.NoError(w.Store.Close())
	err := w.RemoveAgent(ctx, as("arya"), "ned")
	wantError(t, err, refusalError(parley.Unavailable, "", "the store is closed", "start the hub again"))
	w.Refused(as("arya"), "test", parley.Errorf(parley.NotPermitted, "no"))
	w.Stop()
}
