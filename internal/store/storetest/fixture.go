package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// fixture is a store under test. Its methods end the test when a call of the store fails. Do not call them inside an update,
// because an update may run on another goroutine.
type fixture struct {
	*testing.T
	store storage.Store
}

var errOwn = errors.New("the update's own error")

func (f *fixture) update(fn func(storage.Tx) error) {
	f.Helper()
	if err := f.store.Update(context.Background(), fn); err != nil {
		f.Fatalf("update: %v", err)
	}
}

// fails runs an update and requires the error want.
func (f *fixture) fails(want error, fn func(storage.Tx) error) {
	f.Helper()
	if err := f.store.Update(context.Background(), fn); !errors.Is(err, want) {
		f.Fatalf("update: got %v, want %v", err, want)
	}
}

// panics runs an update and requires the error of an update that panicked.
func (f *fixture) panics(fn func(storage.Tx) error) {
	f.Helper()
	if err := f.store.Update(context.Background(), fn); parley.CodeOf(err) != parley.Internal {
		f.Fatalf("update: got %v, want E006", err)
	}
}

func (f *fixture) view(fn func(storage.Tx) error) {
	f.Helper()
	if err := f.store.View(context.Background(), fn); err != nil {
		f.Fatalf("view: %v", err)
	}
}

// read returns the result of fn in a view.
func read[V any](f *fixture, fn func(storage.Tx) (V, error)) (v V) {
	f.Helper()
	f.view(func(tx storage.Tx) (err error) {
		v, err = fn(tx)
		return err
	})
	return v
}

// missing requires that fn returns ErrNotFound, in a view and in an update.
func (f *fixture) missing(what string, fn func(storage.Tx) error) {
	f.Helper()
	for how, run := range map[string]func(context.Context, func(storage.Tx) error) error{
		"view": f.store.View, "update": f.store.Update,
	} {
		if err := run(context.Background(), fn); !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("%s in a %s: got %v, want ErrNotFound", what, how, err)
		}
	}
}

// cmpOptions are the options for comparing rows. A nil and an empty slice or map count as equal.
var cmpOptions = []cmp.Option{cmp.AllowUnexported(parley.Priority{}), cmpopts.IgnoreUnexported(parley.Error{}), cmpopts.EquateEmpty()}

func (f *fixture) same(what string, got, want any) {
	f.Helper()
	if diff := cmp.Diff(want, got, cmpOptions...); diff != "" {
		f.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// at returns a time, in whole milliseconds like every stored time.
func at(seconds int) time.Time {
	return time.Date(2025, 6, 1, 12, 0, 0, 7_000_000, time.UTC).Add(time.Duration(seconds) * time.Second)
}

func atPointer(seconds int) *time.Time {
	t := at(seconds)
	return &t
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func newAgent(id string) parley.Agent {
	return parley.Agent{
		ID: id, UUID: newID(), Name: strings.ToUpper(id[:1]) + id[1:] + "Bot", Kind: parley.KindAgent,
		CreatedAt: at(0), UpdatedAt: at(0), Profile: parley.DefaultProfile(),
	}
}

func newChannel(name, by string) parley.Conversation {
	return parley.Conversation{
		ID: newID(), Name: name, Kind: parley.Channel, Visibility: parley.Public,
		CreatedBy: by, CreatedAt: at(0), UpdatedAt: at(0),
	}
}

func newDM(a, b string) parley.Conversation {
	return parley.Conversation{
		ID: newID(), Kind: parley.DM, Visibility: parley.Private, Set: parley.MemberSetKey([]string{a, b}),
		CreatedBy: a, CreatedAt: at(0), UpdatedAt: at(0),
	}
}

func newMessage(conversation, from, text string) parley.Message {
	id := newID()
	return parley.Message{
		ID: id, TraceID: id, Conversation: conversation, From: from, Type: parley.TypeChat,
		Priority: parley.DefaultPriority, CreatedAt: at(1), Source: "api", Content: parley.Content{Text: text},
	}
}

// post gives a message its seq and checksum and stores it.
func post(tx storage.Tx, m parley.Message) (parley.Message, error) {
	var err error
	if m.Seq, err = tx.Messages().NextSeq(); err != nil {
		return m, err
	}
	m.Checksum = m.Seal(m.BodyDigest())
	return m, tx.Messages().Insert(m)
}

func (f *fixture) agents(ids ...string) []parley.Agent {
	f.Helper()
	var added []parley.Agent
	for _, id := range ids {
		added = append(added, newAgent(id))
	}
	f.update(func(tx storage.Tx) error {
		for _, a := range added {
			if err := tx.Agents().Insert(a); err != nil {
				return err
			}
		}
		return nil
	})
	return added
}

// conversation stores a conversation with members that join one second apart.
func (f *fixture) conversation(c parley.Conversation, members ...string) parley.Conversation {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		if err := tx.Conversations().Insert(c); err != nil {
			return err
		}
		for i, agent := range members {
			if err := tx.Members().Put(parley.Member{Conversation: c.ID, Agent: agent, JoinedAt: at(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	return c
}

func (f *fixture) channel(name, by string, members ...string) parley.Conversation {
	f.Helper()
	return f.conversation(newChannel(name, by), members...)
}

func (f *fixture) post(m parley.Message) (stored parley.Message) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		stored, err = post(tx, m)
		return err
	})
	return stored
}

// posts stores n messages from arya.
func (f *fixture) posts(n int, conversation string) (stored []parley.Message) {
	f.Helper()
	for range n {
		stored = append(stored, f.post(newMessage(conversation, "arya", "hello")))
	}
	return stored
}

// joinEach returns the words for the elements of a list, separated by spaces.
func joinEach[V any](list []V, word func(V) string) string {
	found := make([]string, len(list))
	for i, v := range list {
		found[i] = word(v)
	}
	return strings.Join(found, " ")
}

func (f *fixture) deliver(m parley.Message, to ...string) (made []parley.Delivery) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		made, err = tx.Deliveries().Insert(m, reaches(to...))
		return err
	})
	return made
}

func reaches(agents ...string) (to []parley.NewDelivery) {
	for _, agent := range agents {
		to = append(to, parley.NewDelivery{Agent: agent, Wakes: true})
	}
	return to
}

func (f *fixture) findConversation(idOrName string) parley.Conversation {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Conversation, error) { return tx.Conversations().Find(idOrName) })
}

func (f *fixture) findAgent(name string) parley.Agent {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Agent, error) { return tx.Agents().Find(name) })
}
