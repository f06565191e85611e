package hub_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestNobodyReadsForeignConversations runs random histories in which every name, topic, text and id is
// a word of its own, then lets everybody read all they can, and looks for words that are not theirs.
func TestNobodyReadsForeignConversations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		x := newMachine(rt, stores.NewPlace(t))
		rt.Repeat(x.actions())
		x.ensureSecrets(rt)
		x.w.Start(ctx)
		if x.w.searchAs(parley.Owner, "secret").Behind { // it has said the last words
			rt.Fatalf("the index does not follow")
		}
		before := x.w.storeSnapshot()
		for _, p := range x.model.peers {
			if !p.removed {
				x.spy(rt, p)
			}
		}
		same(rt, "state after the reading", x.w.storeSnapshot(), before)
	})
}

// ensureSecrets makes one conversation of each hidden form, so that there is always something to find.
func (x *machine) ensureSecrets(t *rapid.T) {
	for _, n := range []parley.NewConversation{{Private: true}, {Group: true}} {
		n.Name, n.Topic = x.secret(), x.secret()
		r := &room{name: n.Name, topic: n.Topic, kind: parley.Channel, secrets: []string{n.Name, n.Topic}}
		if n.Group {
			r.kind = parley.Group
		}
		want := x.model.create(parley.Owner, r, nil)
		x.do(t, "create", func() error {
			view, err := x.w.CreateConversation(ctx, user, n)
			r.id = view.ID
			return err
		}, want)
		d := words{Draft: parley.Draft{Conversation: r.id, Type: parley.TypeChat, Content: text(x.secret())}}
		do, _ := x.model.post(parley.Owner, d)
		m := x.w.PostAs(parley.Owner, d.Draft).Message
		x.model.said(do, parley.Owner, d.Content.Text, "", m)
		r.secrets = append(r.secrets, d.Content.Text, m.ID)
		note := x.w.remember(parley.Owner, r.id, x.secret())
		r.secrets = append(r.secrets, note.Text)
	}
}

// spy collects everything that one participant can read, and searches it for words that the participant must not see.
func (x *machine) spy(t *rapid.T, p *peer) {
	var seen notebook
	me := as(p.id)
	x.readLists(&seen, me)
	x.readEvents(t, &seen, me)
	x.readSearch(&seen, me)
	var hidden []*room
	for _, r := range x.model.rooms {
		if r.readable(p) {
			x.readRoom(&seen, me, r)
		} else {
			hidden = append(hidden, r)
			x.probeNames(&seen, me, r)
		}
	}
	if len(hidden) == 0 {
		return
	}
	for _, r := range hidden {
		for _, secret := range append(r.secrets, r.id) {
			if p.owner && parley.IsUUID(secret) {
				continue // owners see all events, also those of deleted conversations
			}
			if strings.Contains(seen.String(), secret) && !x.alsoIn(p, secret) {
				t.Errorf("%s learns %q of a conversation it may not read:\n%s", p.id, secret, seen.around(secret))
			}
		}
	}
	x.compareWithAbsent(t, me, rapid.SampledFrom(hidden).Draw(t, "room to ask for"))
}

// alsoIn reports whether a word is also in a conversation that p may read. Names can be used again.
func (x *machine) alsoIn(p *peer, secret string) bool {
	return slices.ContainsFunc(x.model.rooms, func(r *room) bool { return r.readable(p) && slices.Contains(r.secrets, secret) })
}

// notebook holds all results and errors that a participant got.
type notebook struct{ bytes.Buffer }

func (n *notebook) note(result any, err error) {
	if err != nil {
		result = parley.AsError(err)
	}
	enc := json.NewEncoder(n)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(result); err != nil {
		panic(err)
	}
}

func (n *notebook) around(word string) string {
	for line := range strings.Lines(n.String()) {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}

func (x *machine) readLists(seen *notebook, me hub.Caller) {
	notes, err := x.w.Recall(ctx, me, parley.NoteFilter{})
	seen.note(notes, err)
	agents, err := x.w.Agents(ctx, me)
	seen.note(agents, err)
	for bits := range 8 {
		f := parley.ListFilter{All: bits&1 > 0, Archived: bits&2 > 0, Ephemeral: bits&4 > 0, Limit: 3}
		for {
			views, next, err := x.w.Conversations(ctx, me, f)
			seen.note(views, err)
			seen.note(next, nil)
			if f.Cursor = next; next == nil {
				break
			}
		}
	}
}

func (x *machine) readEvents(t *rapid.T, seen *notebook, me hub.Caller) {
	last, err := x.w.LastEvent(ctx, me)
	seen.note(last, err)
	// A participant must get the event that it was removed from a conversation, with the id of the conversation.
	seen.note(slices.DeleteFunc(follow(t, x.w.Hub, me, 0, last), func(e parley.Event) bool {
		return e.Kind == parley.EventMemberLeft && e.Agent == me.Agent
	}), nil)
	_, err = x.w.Subscribe(ctx, me, last+1, parley.EventFilter{})
	seen.note(nil, err)
}

// readSearch reads all pages of a search that matches every message. It also searches for the last messages of the conversations
// that the caller may not read.
func (x *machine) readSearch(seen *notebook, me hub.Caller) {
	for r := (parley.SearchRequest{Query: "after:2000-01-01", Limit: 3}); ; {
		found, err := x.w.Search(ctx, me, r)
		seen.note(found, err)
		if r.Cursor = found.Next; found.Next == nil {
			break
		}
	}
	for _, r := range x.model.rooms {
		if len(r.said) > 0 && !r.readable(x.model.peer(me.Agent)) {
			found, err := x.w.Search(ctx, me, parley.SearchRequest{Query: x.wordIn(r.said[len(r.said)-1].text)})
			seen.note(found, err)
		}
	}
}

func (x *machine) readRoom(seen *notebook, me hub.Caller, r *room) {
	view, err := x.w.Conversation(ctx, me, r.id)
	seen.note(view, err)
	list, err := x.w.History(ctx, me, r.id, parley.Page{Limit: 1000})
	seen.note(list, err)
	list, err = x.w.Context(ctx, me, r.id)
	seen.note(list, err)
	notes, err := x.w.Recall(ctx, me, inConversation(r.id))
	seen.note(notes, err)
	for _, format := range []string{"jsonl", "markdown"} {
		seen.note(nil, x.w.Export(ctx, me, r.id, format, seen))
	}
	if len(r.said) > 0 {
		shown, err := x.w.Message(ctx, me, r.said[0].id)
		seen.note(shown, err)
		thread, err := x.w.Thread(ctx, me, r.said[0].id)
		seen.note(thread, err)
	}
}

// probeNames uses misspelt names of a hidden conversation, for which the hub must not suggest the name.
func (x *machine) probeNames(seen *notebook, me hub.Caller, r *room) {
	if r.name == "" {
		return
	}
	for _, near := range []string{r.name[:len(r.name)-1], r.name[1:], "#" + r.name[:5], r.name + "x"} {
		_, noRoom := x.w.Conversation(ctx, me, near)
		_, nobody := x.w.Agent(ctx, me, near)
		for _, err := range []error{noRoom, nobody} {
			e := parley.AsError(err)
			e.Message = strings.ReplaceAll(e.Message, near, "") // the error may repeat the name
			seen.note(nil, e)
		}
	}
}

// compareWithAbsent makes every call for a hidden conversation and for one that does not exist. The errors may differ only in the
// names or ids of the conversations.
func (x *machine) compareWithAbsent(t *rapid.T, me hub.Caller, r *room) {
	const id = "0190a000-0000-7000-8000-00000000abcd"
	said := id
	if len(r.said) > 0 {
		said = rapid.SampledFrom(r.said).Draw(t, "message to ask for").id
	}
	hidden, never := [2]string{r.id, said}, [2]string{id, id}
	unseen := r.name != "" && x.model.find(x.model.peer(me.Agent), r.name) == nil // no other conversation has the name now
	if unseen && rapid.Bool().Draw(t, "by name") {
		hidden[0], never[0] = r.name, x.secret()
	}
	x.compareVerbs(t, me, hidden, never)
}

// compareVerbs makes every call with a hidden conversation and message, and with missing ones, and compares the errors.
func (x *machine) compareVerbs(t *rapid.T, me hub.Caller, hidden, never [2]string) {
	real, absent := verbs(ctx, x.w.Hub, me, hidden[0], hidden[1]), verbs(ctx, x.w.Hub, me, never[0], never[1])
	for i, v := range real {
		if v.about == "" {
			continue
		}
		got, want := parley.AsError(v.call()), parley.AsError(absent[i].call())
		if got == nil || want == nil {
			t.Errorf("%s calling %s is not refused", me.Agent, v.name)
			continue
		}
		for j := range hidden {
			got.Message = strings.ReplaceAll(got.Message, hidden[j], "it")
			want.Message = strings.ReplaceAll(want.Message, never[j], "it")
		}
		wantError(t, got, want)
	}
}
