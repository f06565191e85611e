package hub

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/parley-hub/parley"
)

// maxWith is how many others a conversation may be made with.
const maxWith = 256

// MaxUnread is where counting unread messages ends.
const MaxUnread = 10_000

// CreateConversation makes a channel, or a private group, with the caller and the participants it names. *parley.Held if
// that needs an approval.
func (h *Hub) CreateConversation(ctx context.Context, caller Caller, n parley.NewConversation) (view parley.ConversationView, err error) {
	if n, err = checkNewConversation(n); err != nil {
		return view, err
	}
	err = h.update(ctx, caller, opMakeConversation, func(s *scene) (err error) {
		view, err = s.makeConversation(origin{caller: caller}, &n)
		return err
	})
	if err != nil {
		return parley.ConversationView{}, h.heldOr(ctx, caller, err, toolMakeConversation, n)
	}
	return view, nil
}

// checkNewConversation returns what is to be made, by the name that it will have.
func checkNewConversation(n parley.NewConversation) (parley.NewConversation, error) {
	var err error
	if n.Name == "" || n.DisplayName == "" {
		n.Name, n.DisplayName, err = parley.ConversationName(n.Name + n.DisplayName)
	} else if err = parley.CheckChannelName(n.Name); err == nil {
		n.DisplayName, err = parley.ConversationDisplay(n.Name, n.DisplayName)
	}
	if err := errors.Join(err, parley.CheckTopic(n.Topic), n.Answers.Check()); err != nil {
		return n, parley.AsError(err)
	}
	if len(n.With) > maxWith {
		return n, parley.Errorf(parley.BadInput, "the conversation is made with %d participants, the limit is %d", len(n.With), maxWith).
			Because(parley.TooLarge).Suggest("add the others afterwards")
	}
	return n, nil
}

// makeConversation makes a conversation, unless the caller's mode or a rule for somebody in it holds the call. The
// names in n become ids.
func (s *scene) makeConversation(o origin, n *parley.NewConversation) (view parley.ConversationView, err error) {
	ids, err := s.invited(n.With)
	if err != nil {
		return view, err
	}
	n.With = ids[1:]
	p, err := s.create(newConversation(*n), ids)
	if errors.Is(err, parley.ErrTaken) {
		err = nameTaken(n.Name).Suggest("write in it: parley chat --conv %s; or choose another name, like %s", n.Name, another(n.Name, n.DisplayName))
	}
	if err == nil {
		err = s.mayAdd(o, ids...)
	}
	if err == nil {
		err = s.mustWrite(o, "")
	}
	if err != nil { // nothing of it remains
		return view, err
	}
	return s.see(p.Conversation)
}

// invited are the ids of the caller and of those whom it names, each once.
func (s *scene) invited(names []string) ([]string, error) {
	ids := []string{s.me.ID}
	for _, name := range names {
		a, err := s.agent(name)
		if err != nil {
			return nil, err
		}
		if a.Kind == parley.KindSystem {
			return nil, everywhereAlready(a.ID)
		}
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	return ids, nil
}

func newConversation(n parley.NewConversation) parley.Conversation {
	c := parley.Conversation{
		Name: n.Name, DisplayName: n.DisplayName, Topic: n.Topic, Kind: parley.Channel, Visibility: parley.Public, Answers: n.Answers.Stored(),
	}
	if n.Group {
		c.Kind = parley.Group
	}
	if n.Group || n.Private {
		c.Visibility = parley.Private
	}
	return c
}

// another is a name that may be free where one is taken, as a person would type it.
func another(name, display string) string {
	if display != "" {
		return strconv.Quote(display + " 2")
	}
	return name[:min(len(name), 62)] + "-2"
}

func nameTaken(name string) *parley.Error {
	return parley.Errorf(parley.BadInput, "the name %q is taken", name).Because(parley.Conflict).Suggest("choose another name")
}

// create stores a conversation with its first members, the caller among them. Nobody can make the channel for broadcasts:
// its creator would read what is said to everybody.
func (s *scene) create(c parley.Conversation, ids []string) (place, error) {
	if c.Name == broadcastChannel {
		return place{}, nameTaken(c.Name)
	}
	return s.createNamed(c, ids)
}

// createNamed is create for any name.
func (s *scene) createNamed(c parley.Conversation, ids []string) (place, error) {
	if err := s.mayCreate(c.Kind); err != nil {
		return place{}, err
	}
	c.ID, c.CreatedBy, c.CreatedAt, c.UpdatedAt = newID(), s.me.ID, s.now, s.now
	if c.Name != "" {
		var err error
		if c.NameRank, err = s.freeRank(c.Name, c.ID); err != nil {
			return place{}, err
		}
	}
	if err := s.Conversations().Insert(c); err != nil {
		return place{}, err
	}
	s.note(parley.Event{Kind: parley.EventConversationCreated, Conversation: c.ID})
	for _, id := range ids {
		m := parley.Member{Conversation: c.ID, Agent: id, JoinedAt: s.now}
		if err := s.Members().Put(m); err != nil {
			return place{}, err
		}
		s.note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	}
	return place{Conversation: c, joined: true}, nil
}

// join makes an agent a member that has read everything so far.
func (s *scene) join(c parley.Conversation, id string) error {
	s.note(parley.Event{Kind: parley.EventMemberJoined, Conversation: c.ID, Agent: id})
	return s.Members().Put(parley.Member{Conversation: c.ID, Agent: id, JoinedAt: s.now, ReadSeq: c.LastSeq})
}

// Conversations lists what the caller takes part in, or with All may read, newest message first.
// The cursor leads to the next page, or is nil after the last one.
func (h *Hub) Conversations(ctx context.Context, caller Caller, f parley.ListFilter) (views []parley.ConversationView, next *parley.ListCursor, err error) {
	limit := clamp(f.Limit, 100, 500)
	err = h.view(ctx, caller, opListConversations, func(s *scene) error {
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		filter := parley.ConversationFilter{Archived: f.Archived, Limit: limit + 1}
		if !f.Ephemeral {
			filter.Kinds = []parley.ConversationKind{parley.Channel, parley.Group, parley.DM}
		}
		switch {
		case !f.All:
			filter.Member = s.me.ID
		case !s.seesAll():
			filter.Reader = s.me.ID
		}
		if f.Cursor != nil {
			if !parley.IsUUID(f.Cursor.ID) {
				return parley.Errorf(parley.BadInput, "the cursor is not one of this list").Suggest("begin without a cursor")
			}
			filter.Before, filter.BeforeID = f.Cursor.LastSeq, f.Cursor.ID
		}
		list, err := s.Conversations().List(filter)
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			next = &parley.ListCursor{LastSeq: list[limit-1].LastSeq, ID: list[limit-1].ID}
		}
		for _, c := range list {
			view, err := s.see(c)
			if err != nil {
				return err
			}
			views = append(views, view)
		}
		return nil
	})
	return views, next, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: listChannels, List: f})
}

// Conversation shows one conversation.
func (h *Hub) Conversation(ctx context.Context, caller Caller, ref string) (view parley.ConversationView, err error) {
	err = h.view(ctx, caller, opShowConversation, func(s *scene) error {
		p, err := s.conversation(ref)
		if err == nil {
			ref = p.ID // a call that is held is for this one
			err = s.mustRead(origin{caller: caller}, p.ID)
		}
		if err != nil {
			return err
		}
		view, err = s.see(p.Conversation)
		return err
	})
	return view, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: showChannel, Subject: ref})
}

func (s *scene) see(c parley.Conversation) (parley.ConversationView, error) {
	view := parley.ConversationView{Conversation: c}
	members, err := s.Members().List(c.ID)
	for _, m := range members {
		view.Members = append(view.Members, m.Agent)
		if m.Agent == s.me.ID && err == nil {
			view.Joined, view.ReadSeq = true, m.ReadSeq
			view.Unread, err = s.Members().Unread(m, MaxUnread)
		}
	}
	return view, err
}

func clamp(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}

// Rename gives a channel or named group another name, which may be what people type (parley.ConversationName). Its creator and
// owners may.
func (h *Hub) Rename(ctx context.Context, caller Caller, ref, name string) error {
	_, err := h.ChangeConversation(ctx, caller, ref, parley.ConversationChange{Name: &name})
	return err
}

// SetTopic sets what a conversation is about. Every member may.
func (h *Hub) SetTopic(ctx context.Context, caller Caller, ref, topic string) error {
	_, err := h.ChangeConversation(ctx, caller, ref, parley.ConversationChange{Topic: &topic})
	return err
}

// Archive hides a conversation from lists, or brings it back. Every member may; a new message
// brings it back as well.
func (h *Hub) Archive(ctx context.Context, caller Caller, ref string, archived bool) error {
	_, err := h.ChangeConversation(ctx, caller, ref, parley.ConversationChange{Archived: &archived})
	return err
}

// ChangeConversation changes several things of a conversation at once, or nothing: see Rename, SetTopic and
// Archive for who may. Who answers when several are woken, its creator and owners say.
func (h *Hub) ChangeConversation(ctx context.Context, caller Caller, ref string, to parley.ConversationChange) (view parley.ConversationView, err error) {
	if to == (parley.ConversationChange{}) { // nor is it a way to look at one
		return view, parley.Errorf(parley.BadInput, "nothing is to be changed").Suggest("give a name, a display name, a topic, archived or answers")
	}
	if to, err = nameChange(to); err != nil {
		return view, err
	}
	if to.Topic != nil {
		if err := parley.CheckTopic(*to.Topic); err != nil {
			return view, err
		}
	}
	if to.Answers != nil {
		if err := to.Answers.Check(); err != nil {
			return view, err
		}
	}
	return h.actOn(ctx, caller, opChangeConversation, conversationArgs{Conversation: ref, Act: changesConversation, Change: &to})
}

// nameChange returns a change by the names that the conversation will have. A new name is a new display name too.
func nameChange(to parley.ConversationChange) (_ parley.ConversationChange, err error) {
	switch {
	case to.Name != nil && to.DisplayName != nil:
		var display string
		if err = parley.CheckChannelName(*to.Name); err == nil {
			display, err = parley.ConversationDisplay(*to.Name, *to.DisplayName)
		}
		to.DisplayName = &display
	case to.Name != nil:
		var name, display string
		name, display, err = parley.ConversationName(*to.Name)
		to.Name, to.DisplayName = &name, &display
	case to.DisplayName != nil:
		var display string
		display, err = parley.ConversationDisplay("", *to.DisplayName)
		to.DisplayName = &display
	}
	return to, err
}

func (s *scene) alter(p *place, to parley.ConversationChange) error {
	if to.Name != nil || to.DisplayName != nil {
		if err := s.rename(p, to.Name, to.DisplayName); err != nil {
			return err
		}
	}
	if to.Answers != nil {
		if err := s.setAnswers(p, to.Answers.Stored()); err != nil {
			return err
		}
	}
	if to.Topic != nil || to.Archived != nil {
		if err := s.mustBeIn(*p); err != nil {
			return err
		}
	}
	if to.Topic != nil {
		p.Topic = *to.Topic
		if err := s.save(&p.Conversation, "topic"); err != nil {
			return err
		}
	}
	if to.Archived == nil || *to.Archived == (p.ArchivedAt != nil) {
		return nil
	}
	return s.setArchived(&p.Conversation, *to.Archived)
}

// rename gives a conversation another name, display name, or both. What is nil stays.
func (s *scene) rename(p *place, to, display *string) error {
	if p.Name == "" {
		return parley.Errorf(parley.BadInput, "a %s has no name", p.Kind).Suggest("make a channel with that name")
	}
	if err := s.mustRun(*p, "rename it"); err != nil {
		return err
	}
	name := p.Name
	if to != nil {
		name = *to
	}
	if name == broadcastChannel && name != p.Name {
		return nameTaken(name)
	}
	rank, err := s.freeRank(name, p.ID)
	if name != p.Name {
		p.Name, p.NameRank = name, rank
	}
	if display != nil {
		p.DisplayName = *display
	}
	if p.DisplayName == p.Name {
		p.DisplayName = ""
	}
	if err == nil {
		err = s.save(&p.Conversation, "name")
	}
	if errors.Is(err, parley.ErrTaken) {
		return nameTaken(name)
	}
	return err
}

// setAnswers says who answers from now on when several are woken. Who is told that it is its turn looks again.
func (s *scene) setAnswers(p *place, to parley.Answers) error {
	if p.Kind != parley.Channel && p.Kind != parley.Group {
		return parley.Errorf(parley.BadInput, "in a %s only one is woken at a time", p.Kind).Suggest("use a channel")
	}
	if err := s.mustRun(*p, "say who answers there"); err != nil || p.Answers == to {
		return err
	}
	p.Answers = to
	return s.save(&p.Conversation, "answers")
}

func (s *scene) setArchived(c *parley.Conversation, archived bool) error {
	c.ArchivedAt = nil
	if archived {
		c.ArchivedAt = &s.now
	}
	return s.save(c, "archived_at")
}

// DeleteConversation erases a conversation with everything in it. Only an owner may. It is gone
// for everybody at once; its rows are erased bit by bit afterwards.
func (h *Hub) DeleteConversation(ctx context.Context, caller Caller, ref string) error {
	err := h.update(ctx, caller, opDeleteConversation, func(s *scene) error {
		p, err := s.conversation(ref)
		if err != nil {
			return err
		}
		members, err := s.Members().List(p.ID)
		if err != nil {
			return err
		}
		for _, m := range members {
			s.note(parley.Event{Kind: parley.EventMemberLeft, Conversation: p.ID, Agent: m.Agent})
		}
		live, err := s.Runs().List(parley.RunFilter{Conversation: p.ID, Live: true, Limit: math.MaxInt32})
		if err != nil {
			return err
		}
		work, err := s.workIn(p.ID, live)
		if err == nil {
			err = s.cancelAtOnce(live, whyDeleted)
		}
		if err != nil {
			return err
		}
		asks, err := s.asksIn(p.ID)
		if err == nil {
			err = s.Conversations().Bury(p.ID)
		}
		if err == nil {
			err = s.loseAsks(asks)
		}
		if err == nil {
			err = s.endWork(work)
		}
		if err != nil {
			return err
		}
		s.note(parley.Event{Kind: parley.EventConversationDeleted, Conversation: p.ID})
		return s.audit("conversation.delete", p.ID, map[string]any{
			"title": p.Title(), "kind": p.Kind, "messages": p.Messages,
		})
	})
	if err == nil {
		h.watches.tellAll() // whoever waited for something in it waits no longer
	}
	return err
}

// save stores a changed conversation and says which field it was.
func (s *scene) save(c *parley.Conversation, field string) error {
	c.UpdatedAt = s.now
	data, err := json.Marshal(map[string]string{"field": field})
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: parley.EventConversationChanged, Conversation: c.ID, Data: data})
	return s.Conversations().Update(*c)
}

func (s *scene) mustBeIn(p place) error {
	if p.joined || s.seesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "%s does not take part in %s", s.me.ID, p.Title()).Suggest("join it first")
}

// mustRun lets a conversation's creator and owners pass.
func (s *scene) mustRun(p place, act string) error {
	if p.CreatedBy == s.me.ID && p.joined || s.seesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only the creator of %s and owners may %s", p.Title(), act).
		Suggest("ask %s", p.CreatedBy)
}
