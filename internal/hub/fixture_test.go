package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// clock is a clock that stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// ticker is a lease clock that stands still until it is moved.
type ticker struct{ now atomic.Int64 }

func (t *ticker) Advance(d time.Duration) { t.now.Add(d.Milliseconds()) }

// Now is what the clock shows, in milliseconds.
func (t *ticker) Now() int64 { return t.now.Load() }

// tester is what the fixture needs of a test, or of one check of a property.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// fixture is a hub on a real store, with a clock that the test drives.
type fixture struct {
	*hub.Hub
	T         tester
	Clock     *clock
	Leases    *ticker
	Store     database
	Kind      kind
	Place     string
	Config    hub.Config
	WrapStore func(parley.Store) parley.Store
}

var (
	ctx   = context.Background()
	user  = as(parley.Owner)
	began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
)

func as(id string) hub.Caller { return hub.Caller{Agent: id, Source: "test"} }

func newHub(t *testing.T, change ...func(*fixture)) *fixture {
	t.Helper()
	return openFixture(t, stores.NewPlace(t), change...)
}

func openFixture(t tester, place string, change ...func(*fixture)) *fixture {
	t.Helper()
	w := &fixture{T: t, Clock: &clock{now: began}, Leases: &ticker{}, Kind: stores, Place: place, WrapStore: diskless}
	w.Config.Clock, w.Config.Log = w.Clock, slog.New(slog.DiscardHandler)
	w.Config.DueEvery = time.Hour // the test sweeps
	for _, f := range change {
		f(w)
	}
	w.Open()
	t.Cleanup(w.Close)
	return w
}

// mayLoop lets agents that post at random answer each other as often as they happen to.
func mayLoop(w *fixture) { w.Config.Loops = hub.Loops{Exchanges: 1 << 30, Hops: 1 << 30} }

// diskless keeps the disk of the machine that tests from having a say.
func diskless(s parley.Store) parley.Store {
	return struct {
		parley.Store
		parley.DamageSource
	}{s, s.(parley.DamageSource)}
}

func (w *fixture) Open() {
	w.T.Helper()
	var err error
	if w.Store, err = w.Kind.Open(w.Place); err != nil {
		w.T.Fatalf("open the store: %v", err)
	}
	w.Leases.Advance(24 * time.Hour) // leases end with the process
	w.Store.DriveLeases(w.Leases.Now)
	if w.Hub, err = hub.New(ctx, w.WrapStore(w.Store), w.Config); err != nil {
		w.T.Fatalf("make the hub: %v", err)
	}
}

// Start starts the hub. Who comes is not among its events.
func (w *fixture) Start(ctx context.Context) { w.StartQuietly(ctx) }

func (w *fixture) Close() {
	w.T.Helper()
	w.Stop()
	if err := w.Store.Close(); err != nil {
		w.T.Fatalf("close the store: %v", err)
	}
}

// Restart is what a hub goes through when its process ends and starts again.
func (w *fixture) Restart() {
	w.T.Helper()
	w.Close()
	w.Open()
}

// RestartAndRecover is restart, followed by the first step of Start: the hub returns the leases of its former process.
func (w *fixture) RestartAndRecover() {
	w.T.Helper()
	w.Restart()
	w.NoError(w.Recover(ctx))
}

// AssertConsistent requires that a check of everything finds nothing.
func (w *fixture) AssertConsistent() {
	w.T.Helper()
	report, err := w.Store.CheckDeep(ctx, nil)
	w.NoError(err)
	w.NoError(report.Err())
}

// NoError ends a test at an error nobody expects.
func (w *fixture) NoError(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatalf("unexpected error: %v", err)
	}
}

// get is for calls of which only the result matters.
func get[T any](w *fixture) func(T, error) T {
	return func(v T, err error) T {
		w.T.Helper()
		w.NoError(err)
		return v
	}
}

func (w *fixture) AddAgents(ids ...string) {
	w.T.Helper()
	for _, id := range ids {
		_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: id})
		w.NoError(err)
	}
}

func (w *fixture) AddPerson(id string, access parley.Access) {
	w.T.Helper()
	_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: id, Kind: parley.KindHuman, Access: access})
	w.NoError(err)
}

func (w *fixture) CreateChannel(creator, name string, with ...string) parley.ConversationView {
	w.T.Helper()
	return w.CreateConversationAs(creator, parley.NewConversation{Name: name, With: with})
}

func (w *fixture) CreatePrivateChannel(creator, name string, with ...string) parley.ConversationView {
	w.T.Helper()
	return w.CreateConversationAs(creator, parley.NewConversation{Name: name, With: with, Private: true})
}

func (w *fixture) CreateGroup(creator, name string, with ...string) parley.ConversationView {
	w.T.Helper()
	return w.CreateConversationAs(creator, parley.NewConversation{Name: name, With: with, Group: true})
}

func (w *fixture) CreateConversationAs(creator string, n parley.NewConversation) parley.ConversationView {
	w.T.Helper()
	view, err := w.CreateConversation(ctx, as(creator), n)
	w.NoError(err)
	return view
}

func text(s string) parley.Content { return parley.Content{Text: s} }

func (w *fixture) PostAs(from string, d parley.Draft) parley.Receipt {
	w.T.Helper()
	if d.Content.Text == "" && d.Payload == nil {
		d.Content.Text = "hello"
	}
	r, err := w.Post(ctx, as(from), d)
	w.NoError(err)
	return r
}

func (w *fixture) SayIn(from, conversation, words string) parley.Receipt {
	w.T.Helper()
	return w.PostAs(from, parley.Draft{Conversation: conversation, Content: text(words)})
}

func (w *fixture) SendDM(from, to, words string) parley.Receipt {
	w.T.Helper()
	return w.PostAs(from, parley.Draft{Direct: []string{to}, Content: text(words)})
}

func (w *fixture) SendEphemeralDM(from, to, words string) parley.Receipt {
	w.T.Helper()
	return w.PostAs(from, parley.Draft{Direct: []string{to}, Ephemeral: true, Content: text(words)})
}

func (w *fixture) ReplyAs(from, parent, words string) parley.Receipt {
	w.T.Helper()
	return w.PostAs(from, parley.Draft{InReplyTo: parent, Content: text(words)})
}

func (w *fixture) ConversationAs(who, ref string) parley.ConversationView {
	w.T.Helper()
	view, err := w.Conversation(ctx, as(who), ref)
	w.NoError(err)
	return view
}

// ConversationIDs is what somebody's list of conversations shows, as ids.
func (w *fixture) ConversationIDs(who string, f parley.ListFilter) []string {
	w.T.Helper()
	views, _, err := w.Conversations(ctx, as(who), f)
	w.NoError(err)
	ids := []string{}
	for _, v := range views {
		ids = append(ids, v.ID)
	}
	return ids
}

// TextsIn are the words of a conversation's messages, oldest first.
func (w *fixture) TextsIn(who, ref string) []string {
	w.T.Helper()
	list, err := w.History(ctx, as(who), ref, parley.Page{})
	w.NoError(err)
	return textsOf(list)
}

func textsOf(list []parley.Message) []string {
	words := []string{}
	for _, m := range list {
		words = append(words, m.Content.Text)
	}
	return words
}

// reach is whom deliveries reach, and whether they wake.
func reach(made []parley.Delivery) map[string]bool {
	wakes := map[string]bool{}
	for _, d := range made {
		wakes[d.Recipient] = d.Waking
	}
	return wakes
}

func (w *fixture) LastEventNumber() int64 {
	w.T.Helper()
	n, err := w.LastEvent(ctx, user)
	w.NoError(err)
	return n
}

// AuditEntries are the entries of the audit log, without refusals, which are written in the background.
func (w *fixture) AuditEntries() []parley.AuditEntry {
	w.T.Helper()
	return slices.DeleteFunc(w.AuditEntriesWithRefusals(), func(e parley.AuditEntry) bool { return e.Act == "refused" })
}

func (w *fixture) AuditEntriesWithRefusals() []parley.AuditEntry {
	w.T.Helper()
	var list []parley.AuditEntry
	w.NoError(w.Store.View(ctx, func(tx parley.Tx) (err error) {
		list, err = tx.Log().Audited(0, 1000)
		return err
	}))
	return list
}

// storeSnapshot is everything the store holds, as text.
func (w *fixture) storeSnapshot() string {
	w.T.Helper()
	all := map[string]any{"audit": len(w.AuditEntries())}
	w.NoError(w.Store.View(ctx, func(tx parley.Tx) (err error) {
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
			list, err := tx.Conversations().List(parley.ConversationFilter{Archived: archived, Limit: 10_000})
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
	w.NoError(w.Store.View(ctx, func(tx parley.Tx) error {
		messages, err := tx.Messages().Scan(0, 10_000)
		for _, m := range messages {
			list, ofErr := tx.Deliveries().Of(m.ID)
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
	seen := cmp.Options{cmpopts.IgnoreUnexported(parley.Error{}), cmpopts.IgnoreFields(parley.Error{}, "Validation")} // which has tests of its own
	if diff := cmp.Diff(want, parley.AsError(err), seen); diff != "" {
		t.Errorf("wrong error (-want +got):\n%s", diff)
	}
}

// refused builds the error a table expects.
func refused(code parley.Code, reason parley.Reason, sentence, hint string) *parley.Error {
	return &parley.Error{
		Code: code, Reason: reason, Message: sentence, Suggestion: hint,
		Recoverable: code != parley.NotPermitted && code != parley.Internal,
	}
}

func absent(noun, name, hint string) *parley.Error {
	return refused(parley.BadInput, parley.NotFound, "there is no "+noun+` "`+name+`"`, hint)
}

const (
	listAgents        = "see who there is: parley agent list"
	listConversations = "see which there are: parley conv list"
	listBridges       = "see which there are: parley bridge list"
	checkName         = "list what there is, and check the name"
)

// asSeen compares what a caller can see. Nothing and an empty list are the same to it.
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
