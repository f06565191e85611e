package hub

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

func (s *scene) owner() bool {
	return s.me.Kind == parley.KindHuman && s.me.Access == parley.AccessOwner
}

// seesAll holds for owners and the hub itself: they read everything, and may do what owners may.
func (s *scene) seesAll() bool { return s.owner() || s.me.Kind == parley.KindSystem }

// mustOwn refuses everybody but owners and the hub itself.
func (s *scene) mustOwn(act string) error {
	if s.seesAll() {
		return nil
	}
	return parley.Errorf(parley.NotPermitted, "only an owner may %s", act).Suggest("ask an owner of this hub")
}

// unknown is a name that stands for nothing the caller may see. What does not exist and what is
// not the caller's to see are the same. The names that may have been meant are looked up after
// the transaction, which is not held up for it.
type unknown struct{ noun, name string }

func (u unknown) Error() string { return "no " + u.noun + " " + u.name }

// agent finds a participant that has not been removed.
func (s *scene) agent(name string) (parley.Agent, error) {
	a, err := s.Agents().Find(name)
	if errors.Is(err, parley.ErrNotFound) {
		return a, unknown{"agent", name}
	}
	if err == nil && a.RemovedAt != nil {
		return a, wasRemoved(a.Name)
	}
	return a, err
}

func wasRemoved(name string) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s was removed", name).Because(parley.Gone).Suggest("write to somebody else")
}

// place is a conversation and the caller's part in it.
type place struct {
	parley.Conversation
	joined bool // else it only reads
	made   bool // for what is posted there
}

// conversation finds a conversation the caller may read.
func (s *scene) conversation(ref string) (place, error) {
	c, err := s.findConversation(ref)
	if errors.Is(err, parley.ErrNotFound) {
		return place{}, unknown{"conversation", ref}
	}
	if err != nil {
		return place{}, err
	}
	p := place{Conversation: c}
	if p.joined, err = s.takesPart(c, s.me.ID); err != nil {
		return p, err
	}
	if !p.joined && !c.ReadableByAll() && !s.seesAll() {
		return p, unknown{"conversation", ref}
	}
	return p, nil
}

func (s *scene) takesPart(c parley.Conversation, id string) (bool, error) {
	if c.FixedMembers() {
		return slices.Contains(c.SetMembers(), id), nil
	}
	_, err := s.Members().Get(c.ID, id)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func conversationKey(ref string) string { return strings.ToLower(strings.TrimPrefix(ref, "#")) }

// message finds a message the caller may read.
func (s *scene) message(id string) (parley.Message, place, error) {
	m, err := s.Messages().Get(id)
	if errors.Is(err, parley.ErrNotFound) {
		return m, place{}, unknown{"message", id}
	}
	if err != nil {
		return m, place{}, err
	}
	p, err := s.conversation(m.Conversation)
	if _, hidden := errors.AsType[unknown](err); hidden {
		return parley.Message{}, p, unknown{"message", id}
	}
	return m, p, err
}

// explain gives an error the form its receiver sees.
func (h *Hub) explain(ctx context.Context, caller Caller, err error) error {
	u, ok := errors.AsType[unknown](err)
	_, held := errors.AsType[heldBy](err)
	switch {
	case err == nil:
		return nil
	case held:
		return err // the use case goes on with it
	case ok:
		return h.explainUnknown(ctx, caller, u)
	case errors.Is(err, errOvertaken):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return parley.Errorf(parley.TimedOut, "the call was given up before it began: %w", err)
	}
	shown := parley.AsError(err)
	if shown.Code == parley.Internal {
		h.config.Log.Error("internal failure", "caller", caller.Agent, "error", err) // with what the caller is spared
	}
	return shown
}

const maxSuggested = 1000 // names looked at for a suggestion

func (h *Hub) explainUnknown(ctx context.Context, caller Caller, u unknown) error {
	var names []string
	otherwise := "list what there is, and check the name"
	err := h.store.View(ctx, func(tx parley.Tx) error {
		var err error
		switch u.noun {
		case "agent":
			names, err = tx.Agents().Names()
			otherwise = "see who there is: parley agent list"
		case "conversation":
			s := &scene{Tx: tx, hub: h}
			if err = s.enter(caller); err == nil {
				names, err = s.conversationNames()
			}
			otherwise = "see which there are: parley conv list"
		case "bridge": // for which only owners ask
			names, err = bridgeNames(tx)
			otherwise = "see which there are: parley bridge list"
		case "artifact":
			otherwise = "store it first, then refer to it"
		}
		return err
	})
	if err != nil {
		names = nil // the suggestion is a courtesy, the error stands without it
	}
	name := u.name
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80]) + "…"
	}
	hint := parley.DidYouMean(parley.Nearest(strings.TrimPrefix(u.name, "#"), names), otherwise)
	if u.noun == "bridge" && hint != otherwise { // few know their ids by heart
		hint += " S" + otherwise[1:]
	}
	return parley.Errorf(parley.BadInput, "there is no %s %q", u.noun, name).Because(parley.NotFound).Suggest("%s", hint)
}

func bridgeNames(tx parley.Tx) (names []string, err error) {
	all, err := tx.Bridges().List()
	for _, b := range all {
		names = append(names, b.ID)
	}
	return names, err
}

func (s *scene) conversationNames() ([]string, error) {
	filter := parley.ConversationFilter{Kinds: []parley.ConversationKind{parley.Channel, parley.Group}, Limit: maxSuggested}
	if !s.seesAll() {
		filter.Reader = s.me.ID
	}
	list, err := s.Conversations().List(filter)
	var names []string
	for _, c := range list {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return names, err
}
