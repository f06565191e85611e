package hub_test

import (
	"fmt"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// bridged is a hub with a bridge to a tree. The tree exists only in the store.
type bridged struct {
	*fixture
	parley.BridgeHub
	view  parley.BridgeView
	files int
}

// joinBridge adds a bridge and the agents that live in its tree.
func (w *fixture) joinBridge(n parley.NewBridge) *bridged {
	w.T.Helper()
	if n.Root == "" {
		n.Root = "/srv/" + string(n.Layout)
	}
	view, err := w.AddBridge(ctx, user, n)
	w.NoError(err)
	return &bridged{fixture: w, BridgeHub: w.BridgeAt(user), view: view}
}

// document returns a chat message as a document with a new file name.
func (b *bridged) document(from, to, words string) parley.Arrival {
	b.files++
	name := fmt.Sprintf("msg_%08x", b.files)
	a := parley.Arrival{
		BridgeFile: parley.BridgeFile{Path: to + "/inbox/" + name + ".json"}, Name: name, From: from, To: to, At: b.Clock.Now(),
		Draft: parley.Draft{Type: parley.TypeChat, Content: text(words)},
	}
	if b.view.Layout == parley.LayoutAgentOS {
		a.Path, a.Channel = "channels/general/"+name+".json", "general"
	}
	return a
}

// arrive passes documents to the hub, and returns the result for each document.
func (b *bridged) arrive(list ...parley.Arrival) []parley.Arrived {
	b.T.Helper()
	done, err := b.Arrive(ctx, b.view.ID, list)
	b.NoError(err)
	if len(done) != len(list) {
		b.T.Fatalf("%d of %d are told of", len(done), len(list))
	}
	return done
}

// arriveMessage passes a document to the hub, and requires that it becomes a message.
func (b *bridged) arriveMessage(a parley.Arrival) parley.Message {
	b.T.Helper()
	got := b.arrive(a)[0]
	if got.Error != nil || got.Message == "" {
		b.T.Fatalf("it did not land: %+v", got)
	}
	return b.message(got.Message)
}

func (b *bridged) message(id string) (m parley.Message) {
	b.T.Helper()
	b.NoError(b.Store.View(ctx, func(tx storage.Tx) (err error) {
		m, err = tx.Messages().Get(id)
		return err
	}))
	return m
}

// arriveRefused passes a document to the hub, and requires that the hub refuses it. It also checks whether the refusal is final. It
// returns the hint.
func (b *bridged) arriveRefused(a parley.Arrival, code parley.Code) (hint string) {
	b.T.Helper()
	before := len(b.sent())
	got := b.arrive(a)[0]
	if got.Error == nil || got.Error.Code != code || got.Message != "" {
		b.T.Fatalf("it should be refused with %s: %+v", code, got)
	}
	if n := len(b.sent()); n != before {
		b.T.Errorf("%d messages were stored", n-before)
	}
	unknown, err := b.Unknown(ctx, b.view.ID, []parley.BridgeFile{a.BridgeFile})
	b.NoError(err)
	if forGood := code == parley.NotPermitted || code == parley.BadInput; forGood != (len(unknown) == 0) {
		b.T.Errorf("refused with %s, and tried again: %v", code, unknown)
	}
	return got.Error.Suggestion
}

// all returns all messages.
func (b *bridged) all() (list []parley.Message) {
	b.T.Helper()
	b.NoError(b.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Messages().Scan(0, 10_000)
		return err
	}))
	return list
}

// sent returns all messages except those of the hub.
func (b *bridged) sent() []parley.Message {
	b.T.Helper()
	return slices.DeleteFunc(b.all(), func(m parley.Message) bool { return m.From == parley.System })
}

// departs stores a departure: the record that the bridge has written a message into the tree.
func (b *bridged) departs(m parley.Message, recipient, name string) {
	b.T.Helper()
	b.NoError(b.Store.Update(ctx, func(tx storage.Tx) error {
		_, err := tx.Bridges().AddDeparture(storage.DepartureRow{
			Bridge: b.view.ID, Message: m.ID, Recipient: recipient, Folder: recipient, Name: name, State: parley.DepartureWritten, At: b.Clock.Now(),
		})
		return err
	}))
}

func joinInboxTree(w *fixture) *bridged {
	w.T.Helper()
	return w.joinBridge(parley.NewBridge{Layout: parley.LayoutInbox, Agents: []string{"ana", "ben"}})
}

func joinChannelTree(w *fixture) *bridged {
	w.T.Helper()
	return w.joinBridge(parley.NewBridge{Layout: parley.LayoutAgentOS, Agents: []string{"ana", "ben"}})
}
