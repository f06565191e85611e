package hub

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// conversationTools are the approvable calls that make or change conversations.
func conversationTools() map[string]heldTool {
	return map[string]heldTool{
		toolMakeConversation: tool(makeWords, prepareMake),
		toolConversation:     tool(actWords, prepareAct),
	}
}

// conversationArgs are the arguments of a change to an existing conversation, by ids.
type conversationArgs struct {
	Conversation string                     `json:"conversation"`
	Act          string                     `json:"act"`
	Agent        string                     `json:"agent,omitempty"` // who is added or removed
	Change       *parley.ConversationChange `json:"change,omitempty"`
}

// The acts.
const (
	joinsConversation   = "join"
	leavesConversation  = "leave"
	addsMember          = "add"
	removesMember       = "remove"
	changesConversation = "change"
)

// actOn changes a conversation or its members. *parley.Held if that needs an approval.
func (h *Hub) actOn(ctx context.Context, caller Caller, do op, args conversationArgs) (view parley.ConversationView, err error) {
	err = h.update(ctx, caller, do, func(s *scene) (err error) {
		view, err = s.actOn(origin{caller: caller}, &args)
		return err
	})
	if err != nil {
		return parley.ConversationView{}, h.heldOr(ctx, caller, err, toolConversation, args)
	}
	return view, nil
}

// actOn makes a change and then asks whether the caller's mode holds it: a call that would be refused, or would change
// nothing, needs no approval. If the call is held, the update is rolled back. The names in args become ids.
func (s *scene) actOn(o origin, args *conversationArgs) (view parley.ConversationView, err error) {
	p, err := s.conversation(args.Conversation)
	if err != nil {
		return view, err
	}
	args.Conversation = p.ID
	before := len(s.events)
	switch args.Act {
	case joinsConversation:
		err = s.joinIn(p)
	case leavesConversation:
		err = s.leaveFrom(p)
	case addsMember:
		err = s.addMember(o, p, &args.Agent)
	case removesMember:
		err = s.removeMember(p, &args.Agent)
	default:
		err = s.alter(&p, *args.Change)
	}
	if err == nil && len(s.events) > before {
		err = s.mustWrite(o, "")
	}
	if why, held := errors.AsType[heldBy](err); held && args.Act == addsMember {
		why.target = args.Agent
		return view, why
	}
	if err != nil || args.Act != changesConversation {
		return parley.ConversationView{Conversation: p.Conversation}, err
	}
	return s.see(p.Conversation)
}

// mayAdd refuses or holds adding participants to a conversation, because that is contacting them. A refusal comes before an
// approval, and an approval that only a person may give comes before any other.
func (s *scene) mayAdd(o origin, ids ...string) error {
	var needed error
	for _, id := range ids {
		if id == s.me.ID {
			continue
		}
		target, err := s.Agents().Find(id)
		if err != nil {
			return err
		}
		v, err := s.rules(target)
		if err == nil {
			err = s.obeyVerdict(o, v, target)
		}
		why, held := errors.AsType[heldBy](err)
		if err != nil && !held {
			return err
		}
		if held && (needed == nil || why.verdict.RequiresHuman) {
			needed = err
		}
	}
	return needed
}

func actWords(s *scene, _ string, args conversationArgs) (words, error) {
	where, err := s.titleOf(args.Conversation)
	if err != nil {
		return words{}, err
	}
	who, err := s.nameOf(args.Agent)
	w := words{action: args.Act}
	switch args.Act {
	case joinsConversation:
		w.wants, w.doing = "join "+where, "joining "+where
	case leavesConversation:
		w.wants, w.doing = "leave "+where, "leaving "+where
	case addsMember:
		w.wants, w.doing = "add "+who+" to "+where, "adding "+who+" to "+where
	case removesMember:
		w.wants, w.doing = "remove "+who+" from "+where, "removing "+who+" from "+where
	default:
		w.wants, w.doing = "change "+where, "changing "+where
		w.action, w.parts = args.Change.ApprovalParts()
	}
	return w, err
}

// titleOf is what a conversation is called, or its id once it is deleted.
func (s *scene) titleOf(id string) (string, error) {
	c, err := s.Conversations().Find(id)
	if err != nil {
		return id, ignoreNotFound(err)
	}
	return c.Title(), nil
}

func prepareAct(_ context.Context, as Caller, args conversationArgs) (execution, error) {
	return func(s *scene, a parley.Approval) (returned, error) {
		args := args // this may run again
		view, err := s.actOn(origin{caller: as, approved: &a}, &args)
		return returned{text: "Done: " + args.Act + ", conversation " + args.Conversation + " (" + view.Title() + ")."}, err
	}, nil
}

func makeWords(s *scene, _ string, n parley.NewConversation) (words, error) {
	c, names := newConversation(n), []string{}
	for _, id := range n.With {
		name, err := s.nameOf(id)
		if err != nil {
			return words{}, err
		}
		names = append(names, name)
	}
	what := "make the " + string(c.Visibility) + " " + string(c.Kind) + " " + c.Title()
	return words{
		wants: what, doing: "making" + strings.TrimPrefix(what, "make"), action: toolMakeConversation,
		parts: []parley.ApprovalPart{
			{Label: "Display name", Text: n.DisplayName},
			{Label: "With", Text: strings.Join(names, ", ")},
			{Label: "Topic", Text: n.Topic},
			{Label: "Answers", Text: string(n.Answers)},
		},
	}, nil
}

func prepareMake(_ context.Context, as Caller, n parley.NewConversation) (execution, error) {
	n, err := checkNewConversation(n)
	if err != nil {
		return nil, err
	}
	return func(s *scene, a parley.Approval) (returned, error) {
		n := n // this may run again
		n.With = slices.Clone(n.With)
		view, err := s.makeConversation(origin{caller: as, approved: &a}, &n)
		return returned{text: "Made " + view.Title() + ", conversation " + view.ID + "."}, err
	}, nil
}
