package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

// tester has the methods of a test, or of one check of a property, that the fixture needs.
type tester = hubtest.Tester

// fixture is a hub for tests, with the steps that only the tests of this package need.
type fixture struct{ *hubtest.Fixture }

// Short names for what nearly every test uses.
var (
	ctx     = context.Background()
	user    = hubtest.Owner
	as      = hubtest.As
	textsOf = hubtest.TextsOf
	began   = hubtest.Began
)

func newHub(t *testing.T, change ...func(*fixture)) *fixture {
	t.Helper()
	return openFixture(t, stores.NewPlace(t), change...)
}

func openFixture(t tester, place string, change ...func(*fixture)) *fixture {
	t.Helper()
	w := &fixture{}
	hubtest.New(t, stores, place, func(f *hubtest.Fixture) {
		w.Fixture = f
		for _, edit := range change {
			edit(w)
		}
	})
	return w
}

// mayLoop switches the loop breaker off, for tests whose agents post at random.
func mayLoop(w *fixture) { w.Config.Loops = hub.Loops{Exchanges: 1 << 30, Hops: 1 << 30} }

// Start starts the hub without events about the presence of agents.
func (w *fixture) Start(ctx context.Context) { w.StartQuietly(ctx) }

// resultOf returns a function that returns the result of a call, and ends the test if the call fails.
func resultOf[T any](w *fixture) func(T, error) T { return hubtest.Result[T](w.Fixture) }

// errorOf returns only the error of a call.
func errorOf[T any](_ T, err error) error { return err }

func text(s string) parley.Content { return parley.Content{Text: s} }

// wakesByRecipient returns the recipients of deliveries, and whether the deliveries wake them.
func wakesByRecipient(made []parley.Delivery) map[string]bool {
	wakes := map[string]bool{}
	for _, d := range made {
		wakes[d.Recipient] = d.Waking
	}
	return wakes
}

// storeSnapshot returns everything in the store, as text.
func (w *fixture) storeSnapshot() string {
	w.T.Helper()
	all := map[string]any{"audit": len(w.AuditEntries())}
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		if all["agents"], err = tx.Agents().List(); err != nil {
			return err
		}
		if _, all["events"], err = tx.Log().Bounds(); err != nil {
			return err
		}
		if all["tokens"], err = tx.Tokens().List(parley.TokenFilter{Limit: 10_000}); err != nil {
			return err
		}
		if all["artifacts"], err = tx.Artifacts().List("", 10_000); err != nil {
			return err
		}
		for _, archived := range []bool{false, true} {
			list, err := tx.Conversations().List(storage.ConversationFilter{Archived: archived, Limit: 10_000})
			if err != nil {
				return err
			}
			for _, c := range list {
				if all["members "+c.ID], err = tx.Members().List(c.ID); err != nil {
					return err
				}
				all["conversation "+c.ID] = c
			}
		}
		all["messages"], err = tx.Messages().Scan(0, 10_000)
		return err
	}))
	w.addDeliveries(all)
	raw, err := json.Marshal(all)
	w.NoError(err)
	return string(raw)
}

func (w *fixture) addDeliveries(all map[string]any) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) error {
		messages, err := tx.Messages().Scan(0, 10_000)
		for _, m := range messages {
			list, ofErr := tx.Deliveries().OfMessage(m.ID)
			err = errors.Join(err, ofErr)
			for _, d := range list {
				all["delivery "+d.Message+d.Recipient] = []any{d, d.Lease, d.Until}
			}
		}
		agents, listErr := tx.Agents().List()
		err = errors.Join(err, listErr)
		for _, a := range agents {
			inbox, inboxErr := tx.Queue().Inbox(a.ID)
			err = errors.Join(err, inboxErr)
			all["inbox "+a.ID] = inbox
		}
		return err
	}))
}

// refusal is a call that must fail with one exact error and change nothing.
type refusal struct {
	name string
	call func() error
	want *parley.Error
}

func (w *fixture) assertRefusals(t *testing.T, table []refusal) {
	t.Helper()
	before := w.storeSnapshot()
	for _, r := range table {
		t.Run(r.name, func(t *testing.T) {
			t.Helper()
			event := w.LastEventNumber()
			wantError(t, r.call(), r.want)
			same(t, "events written by the refused call", kindsAfter(w, event), []parley.EventKind{})
		})
	}
	same(t, "state after refused calls", w.storeSnapshot(), before)
}

func wantError(t tester, err error, want *parley.Error) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", want)
	}
	seen := cmp.Options{cmpopts.IgnoreUnexported(parley.Error{}), cmpopts.IgnoreFields(parley.Error{}, "Validation")} // other tests check this field
	if diff := cmp.Diff(want, parley.AsError(err), seen); diff != "" {
		t.Errorf("wrong error (-want +got):\n%s", diff)
	}
}

// refusalError returns an error that a table of tests expects.
func refusalError(code parley.Code, reason parley.Reason, sentence, hint string) *parley.Error {
	return &parley.Error{
		Code: code, Reason: reason, Message: sentence, Suggestion: hint,
		Recoverable: code != parley.NotPermitted && code != parley.Internal,
	}
}

func notFoundError(noun, name, hint string) *parley.Error {
	return refusalError(parley.BadInput, parley.NotFound, "there is no "+noun+` "`+name+`"`, hint)
}

const (
	listAgents        = "list agents: parley agent list"
	listConversations = "list conversations: parley conv list"
	listBridges       = "list bridges: parley bridge list"
	checkName         = "check the name"
)

// asSeen are options that compare what a caller can see. A nil list equals an empty list.
var asSeen = cmp.Options{
	cmp.AllowUnexported(parley.Priority{}, hub.Caller{}), cmpopts.IgnoreUnexported(parley.Receipt{}, parley.Error{}), cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(hub.Caller{}, "AgentUUID"),
}

func same(t tester, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, asSeen); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
