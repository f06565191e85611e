// Package channels holds the use cases of conversations: making, changing and deleting them, joining, adding and removing
// members.
package channels

import (
	"context"
	"errors"
	"math"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/waits"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
}

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// CreateConversation makes a channel or a private group with the caller and the named participants. It returns *parley.Held if
// that needs an approval.
func (s *Service) CreateConversation(ctx context.Context, caller unit.Caller, n parley.NewConversation) (view parley.ConversationView, err error) {
	if n, err = conversations.CheckNewConversation(n); err != nil {
		return view, err
	}
	err = s.Update(ctx, caller, unit.OpMakeConversation, func(u *unit.Unit) (err error) {
		view, err = makeConversation(u, unit.Origin{Caller: caller}, &n)
		return err
	})
	if err != nil {
		return parley.ConversationView{}, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolMakeConversation, n)
	}
	return view, nil
}

// makeConversation makes a conversation, unless the caller's mode or a rule of a member holds the call. The names in n become
// ids.
func makeConversation(u *unit.Unit, o unit.Origin, n *parley.NewConversation) (view parley.ConversationView, err error) {
	ids, err := conversations.Invited(u, n.With)
	if err != nil {
		return view, err
	}
	n.With = ids[1:]
	p, err := conversations.Create(u, conversations.NewConversation(*n), ids)
	if errors.Is(err, parley.ErrTaken) {
		err = conversations.NameTaken(n.Name).Suggest("write in that conversation: parley chat --conv %s; or choose another name, like %s", n.Name, conversations.SuggestName(n.Name, n.DisplayName))
	}
	if err == nil {
		err = policy.MayAdd(u, o, ids...)
	}
	if err == nil {
		err = policy.MustWrite(u, o, "")
	}
	if err != nil { // the update is rolled back
		return view, err
	}
	return conversations.See(u, p.Conversation)
}

// Conversations lists the caller's conversations, or with All every conversation that it may read. The one with the newest
// message comes first. The cursor leads to the next page, and is nil after the last page.
func (s *Service) Conversations(ctx context.Context, caller unit.Caller, f parley.ListFilter) (views []parley.ConversationView, next *parley.ListCursor, err error) {
	limit := unit.Clamp(f.Limit, 100, 500)
	err = s.View(ctx, caller, unit.OpListConversations, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		filter := storage.ConversationFilter{Archived: f.Archived, Limit: limit + 1}
		if !f.Ephemeral {
			filter.Kinds = []parley.ConversationKind{parley.Channel, parley.Group, parley.DM}
		}
		switch {
		case !f.All:
			filter.Member = u.Me.ID
		case !u.SeesAll():
			filter.Reader = u.Me.ID
		}
		if f.Cursor != nil {
			if !parley.IsUUID(f.Cursor.ID) {
				return parley.Errorf(parley.BadInput, "the cursor does not belong to this list").Suggest("start without a cursor")
			}
			filter.Before, filter.BeforeID = f.Cursor.LastSeq, f.Cursor.ID
		}
		list, err := u.Conversations().List(filter)
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			next = &parley.ListCursor{LastSeq: list[limit-1].LastSeq, ID: list[limit-1].ID}
		}
		for _, c := range list {
			view, err := conversations.See(u, c)
			if err != nil {
				return err
			}
			views = append(views, view)
		}
		return nil
	})
	return views, next, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListChannels, List: f})
}

// Conversation shows one conversation.
func (s *Service) Conversation(ctx context.Context, caller unit.Caller, ref string) (view parley.ConversationView, err error) {
	err = s.View(ctx, caller, unit.OpShowConversation, func(u *unit.Unit) error {
		p, err := conversations.Conversation(u, ref)
		if err == nil {
			ref = p.ID // a held call keeps this id
			err = policy.MustRead(u, unit.Origin{Caller: caller}, p.ID)
		}
		if err != nil {
			return err
		}
		view, err = conversations.See(u, p.Conversation)
		return err
	})
	return view, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ShowChannel, Subject: ref})
}

// Rename gives a channel or a named group another name. The name may be what people type: see parley.ConversationName. The
// creator and owners may call it.
func (s *Service) Rename(ctx context.Context, caller unit.Caller, ref, name string) error {
	_, err := s.ChangeConversation(ctx, caller, ref, parley.ConversationChange{Name: &name})
	return err
}

// SetTopic sets the topic of a conversation. Every member may call it.
func (s *Service) SetTopic(ctx context.Context, caller unit.Caller, ref, topic string) error {
	_, err := s.ChangeConversation(ctx, caller, ref, parley.ConversationChange{Topic: &topic})
	return err
}

// Archive hides a conversation from lists, or shows it again. Every member may call it. A new message shows the conversation
// again too.
func (s *Service) Archive(ctx context.Context, caller unit.Caller, ref string, archived bool) error {
	_, err := s.ChangeConversation(ctx, caller, ref, parley.ConversationChange{Archived: &archived})
	return err
}

// ChangeConversation makes all changes to a conversation at once, or none. See Rename, SetTopic and Archive for who may make
// which. The creator and owners may change who answers when a message wakes several agents.
func (s *Service) ChangeConversation(ctx context.Context, caller unit.Caller, ref string, to parley.ConversationChange) (view parley.ConversationView, err error) {
	if to == (parley.ConversationChange{}) { // an empty change must not show the conversation
		return view, parley.Errorf(parley.BadInput, "the change is empty").Suggest("give a name, a display name, a topic, archived or answers")
	}
	if to, err = conversations.NameChange(to); err != nil {
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
	return changeOrHold(ctx, s.Core, caller, unit.OpChangeConversation, policy.ConversationArgs{Conversation: ref, Act: policy.ChangesConversation, Change: &to})
}

// DeleteConversation erases a conversation with everything in it. Only an owner may call it. Nobody sees the conversation any
// more at once. The hub erases its rows later, in small updates.
func (s *Service) DeleteConversation(ctx context.Context, caller unit.Caller, ref string) error {
	err := s.Update(ctx, caller, unit.OpDeleteConversation, func(u *unit.Unit) error {
		p, err := conversations.Conversation(u, ref)
		if err != nil {
			return err
		}
		members, err := u.Members().List(p.ID)
		if err != nil {
			return err
		}
		for _, m := range members {
			u.Note(parley.Event{Kind: parley.EventMemberLeft, Conversation: p.ID, Agent: m.Agent})
		}
		live, err := u.Runs().List(parley.RunFilter{Conversation: p.ID, Live: true, Limit: math.MaxInt32})
		if err != nil {
			return err
		}
		workList, err := work.FindTasksIn(u, p.ID, live)
		if err == nil {
			err = turns.EndCancelledRuns(u, live, work.WhyDeleted)
		}
		if err != nil {
			return err
		}
		asks, err := waits.AsksIn(u, p.ID)
		if err == nil {
			err = u.Conversations().Delete(p.ID)
		}
		if err == nil {
			err = work.TellAsksLost(u, asks)
		}
		if err == nil {
			err = work.FailTasks(u, workList)
		}
		if err != nil {
			return err
		}
		u.Note(parley.Event{Kind: parley.EventConversationDeleted, Conversation: p.ID})
		return access.Audit(u, "conversation.delete", p.ID, map[string]any{
			"title": p.Title(), "kind": p.Kind, "messages": p.Messages,
		})
	})
	if err == nil {
		s.Watches.TellAll() // calls that wait for something in it end
	}
	return err
}
