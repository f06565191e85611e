package hub_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// verb is one way to call the hub about one conversation and one message.
type verb struct {
	name  string
	about string // "conversation", "message" or nothing in particular
	call  func() error
	reads bool
}

var readers = []string{
	"Conversation", "History", "Context", "Export as JSON lines", "Export as Markdown", "Message", "Thread",
	"Agents", "Agent", "Conversations", "LastEvent", "Search", "Search in a conversation", "AwaitRung", "Trace", "Who",
	"AgentView", "Status", "ExportAll", "Subscribe", "Subscribe to a conversation", "Tokens", "WatchCredential", "AuditLog", "VerifyAudit",
}

// verbs returns all kinds of calls of the hub, made by one caller.
func verbs(ctx context.Context, h *hub.Hub, by hub.Caller, conversation, message string) []verb {
	post := func(d parley.Draft) func() error {
		return func() error {
			d.Content = text("hello")
			_, err := h.Post(ctx, by, d)
			return err
		}
	}
	export := func(format string) func() error {
		return func() error { return h.Export(ctx, by, conversation, format, io.Discard) }
	}
	search := func(query string) func() error {
		return func() error { _, err := h.Search(ctx, by, parley.SearchRequest{Query: query}); return err }
	}
	subscribe := func(filter parley.EventFilter) func() error {
		return func() error {
			sub, err := h.Subscribe(ctx, by, 0, filter)
			if err == nil {
				sub.Close()
			}
			return err
		}
	}
	all := []verb{
		{name: "Conversation", about: "conversation", call: func() error { _, err := h.Conversation(ctx, by, conversation); return err }},
		{name: "Join", about: "conversation", call: func() error { return h.Join(ctx, by, conversation) }},
		{name: "Leave", about: "conversation", call: func() error { return h.Leave(ctx, by, conversation) }},
		{name: "AddMember", about: "conversation", call: func() error { return h.AddMember(ctx, by, conversation, "user") }},
		{name: "RemoveMember", about: "conversation", call: func() error { return h.RemoveMember(ctx, by, conversation, "user") }},
		{name: "Rename", about: "conversation", call: func() error { return h.Rename(ctx, by, conversation, "another") }},
		{name: "SetTopic", about: "conversation", call: func() error { return h.SetTopic(ctx, by, conversation, "topic") }},
		{name: "Archive", about: "conversation", call: func() error { return h.Archive(ctx, by, conversation, true) }},
		{name: "Unarchive", about: "conversation", call: func() error { return h.Archive(ctx, by, conversation, false) }},
		{name: "DeleteConversation", about: "conversation", call: func() error { return h.DeleteConversation(ctx, by, conversation) }},
		{name: "History", about: "conversation", call: func() error { _, err := h.History(ctx, by, conversation, parley.Page{}); return err }},
		{name: "Context", about: "conversation", call: func() error { _, err := h.Context(ctx, by, conversation); return err }},
		{name: "MarkRead", about: "conversation", call: func() error { return h.MarkRead(ctx, by, conversation, 0) }},
		{name: "Subscribe to a conversation", about: "conversation", call: subscribe(parley.EventFilter{Conversation: conversation})},
		{name: "Search in a conversation", about: "conversation", call: search("in:" + conversation)},
		{name: "Export as JSON lines", about: "conversation", call: export("jsonl")},
		{name: "Export as Markdown", about: "conversation", call: export("markdown")},
		{name: "Post", about: "conversation", call: post(parley.Draft{Conversation: conversation})},
		{name: "Remember", about: "conversation", call: func() error { _, err := h.Remember(ctx, by, newNote(conversation, "hello")); return err }},
		{name: "Recall", about: "conversation", call: func() error { _, err := h.Recall(ctx, by, inConversation(conversation)); return err }},
		{name: "Message", about: "message", call: func() error { _, err := h.Message(ctx, by, message); return err }},
		{name: "Thread", about: "message", call: func() error { _, err := h.Thread(ctx, by, message); return err }},
		{name: "AwaitRung", about: "message", call: func() error {
			_, err := h.AwaitState(ctx, by, message, parley.DeliverySeen, 0)
			return err
		}},
		{name: "Post a reply", about: "message", call: post(parley.Draft{InReplyTo: message})},
	}
	all = append(all, []verb{
		{name: "Remember for itself", call: func() error { _, err := h.Remember(ctx, by, newNote("", "hello")); return err }},
		{name: "Recall its own", call: func() error { _, err := h.Recall(ctx, by, parley.NoteFilter{}); return err }},
		{name: "Forget", call: func() error { return h.Forget(ctx, by, "note-1") }},
		{name: "RedactNote", call: func() error { _, err := h.RedactNote(ctx, by, "note-1", ""); return err }},
		{name: "Agents", call: func() error { _, err := h.Agents(ctx, by); return err }},
		{name: "Agent", call: func() error { _, err := h.Agent(ctx, by, "user"); return err }},
		{name: "AddAgent", call: func() error { _, err := h.AddAgent(ctx, by, parley.NewAgent{ID: "new"}); return err }},
		{name: "ChangeAgent", call: func() error {
			_, err := h.ChangeAgent(ctx, by, "user", func(*parley.Agent) error { return nil })
			return err
		}},
		{name: "RemoveAgent", call: func() error { return h.RemoveAgent(ctx, by, "arya") }},
		{name: "CreateConversation", call: func() error {
			_, err := h.CreateConversation(ctx, by, parley.NewConversation{Name: "new"})
			return err
		}},
		{name: "Conversations", call: func() error { _, _, err := h.Conversations(ctx, by, parley.ListFilter{}); return err }},
		{name: "Search", call: search("hello")},
		{name: "Trace", call: func() error { _, err := h.Trace(ctx, by, message); return err }},
		{name: "Who", call: func() error { _, err := h.Who(ctx, by); return err }},
		{name: "AgentView", call: func() error { _, err := h.AgentView(ctx, by, "user"); return err }},
		{name: "Status", call: func() error { _, err := h.Status(ctx, by); return err }},
		{name: "ExportAll", call: func() error { return h.ExportAll(ctx, by, io.Discard) }},
		{name: "Import", call: func() error { _, err := h.Import(ctx, by, strings.NewReader("")); return err }},
		{name: "Subscribe", call: subscribe(parley.EventFilter{})},
		{name: "LastEvent", call: func() error { _, err := h.LastEvent(ctx, by); return err }},
		{name: "NewToken", call: func() error { _, err := h.NewToken(ctx, by, parley.NewToken{}); return err }},
		{name: "NewLink", call: func() error { _, _, err := h.NewLink(ctx, by, ""); return err }},
		{name: "Tokens", call: func() error { _, _, err := h.Tokens(ctx, by, parley.TokenFilter{}); return err }},
		{name: "RevokeToken", call: func() error { return h.RevokeToken(ctx, by, message) }},
		{name: "ReadAs", call: func() error { _, err := h.ReadAs(ctx, by, "arya", "test"); return err }},
		{name: "ActAs", call: func() error { _, err := h.ActAs(ctx, by, "arya", "test"); return err }},
		{name: "WatchCredential", call: func() error { _, _, err := h.WatchCredential(ctx, by); return err }},
		{name: "AuditLog", call: func() error { _, err := h.AuditLog(ctx, by, 0, 0); return err }},
		{name: "VerifyAudit", call: func() error { _, err := h.VerifyAudit(ctx, by); return err }},
		{name: "Post to somebody", call: post(parley.Draft{Direct: []string{"user"}})},
	}...)
	for i := range all {
		all[i].reads = slices.Contains(readers, all[i].name)
	}
	return all
}

func TestNobodyButParticipantsIsServed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	id := w.SayIn("arya", w.CreateChannel("arya", "open").ID, "hello").Message.ID
	w.NoError(w.RemoveAgent(ctx, user, "ned"))
	var table []refusal
	for _, who := range []string{"ned", "nobody"} {
		for _, v := range verbs(ctx, w.Hub, as(who), "open", id) {
			table = append(table, refusal{
				who + " calling " + v.name, v.call,
				refusalError(parley.NotPermitted, "", who+" is not a participant of this hub", "ask an owner of this hub to add it"),
			})
		}
	}
	w.assertRefusals(t, table)
}

func TestCallGivenUpBeforeItBeganIsTimedOut(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	id := w.SayIn("arya", w.CreateChannel("arya", "open").ID, "hello").Message.ID
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	var table []refusal
	for _, v := range verbs(cancelled, w.Hub, user, "open", id) {
		if v.reads {
			continue // the hub may also answer this call
		}
		table = append(table, refusal{v.name, func() error {
			err := v.call()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v does not keep its cause", err)
			}
			return err
		}, refusalError(parley.TimedOut, "", "the caller ended the call before it began: context canceled", "")})
	}
	w.assertRefusals(t, table)
}

func TestClosedStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.NoError(w.Store.Close())
	_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"user"}, Content: text("hello")})
	wantError(t, err, refusalError(parley.Unavailable, "", "the store is closed", "start the hub again"))
}

// twice is a store that runs every update twice and keeps only the second run. A store may do that.
type twice struct{ storage.Store }

var errAgain = errors.New("again")

func (s twice) Update(ctx context.Context, fn func(storage.Tx) error) error {
	err := s.Store.Update(ctx, func(tx storage.Tx) error { return errors.Join(fn(tx), errAgain) })
	if !errors.Is(err, errAgain) {
		return err
	}
	return s.Store.Update(ctx, fn)
}

func runTwice(w *fixture) { w.WrapStore = func(s storage.Store) storage.Store { return twice{s} } }

func TestRefusedUpdateIsRefusedWhenItRunsAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddAgents("arya")
	w.assertRefusals(t, []refusal{{"an agent with an unknown manager", func() error {
		_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "x", Profile: parley.Profile{Manager: "tywin"}})
		return err
	}, notFoundError("agent", "tywin", listAgents)}})
}
