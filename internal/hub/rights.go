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
	a, err := s.findAgent(name)
	if errors.Is(err, parley.ErrNotFound) {
		return a, unknown{"agent", name}
	}
	if err == nil && a.RemovedAt != nil {
		return a, wasRemoved(a.Name)
	}
	return a, err
}

// findAgent finds a participant, also one that was removed, by what a caller has written: a name, or @name as lists show it.
// parley.ErrNotFound if there is none.
func (s *scene) findAgent(name string) (parley.Agent, error) {
	a, err := s.Agents().Find(name)
	if rest, at := strings.CutPrefix(name, "@"); at && errors.Is(err, parley.ErrNotFound) {
		return s.Agents().Find(rest)
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
	p, seen, err := s.placeOf(c)
	if err != nil || seen {
		return p, err
	}
	// A name that the caller does not see is none, so it may be a display name.
	if c, err = s.displayed(parley.ParseConversationRef(ref).Name); errors.Is(err, parley.ErrNotFound) {
		return place{}, unknown{"conversation", ref}
	}
	if err == nil {
		p, _, err = s.placeOf(c)
	}
	return p, err
}

// placeOf is the caller's part in a conversation, and whether the caller may read it.
func (s *scene) placeOf(c parley.Conversation) (p place, seen bool, err error) {
	p.Conversation = c
	p.joined, err = s.takesPart(c, s.me.ID)
	return p, p.joined || c.ReadableByAll() || s.seesAll(), err
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

// conversationKey is the name in a #name.
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
	var hint string
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		s := h.newScene(tx)
		hint, err = h.hooks.hint(s, caller, u)
		return err
	})
	if err != nil || hint == "" { // the suggestion is a courtesy, the error stands without it
		hint = "list what there is, and check the name"
	}
	return parley.Errorf(parley.BadInput, "there is no %s %q", u.noun, clipped(u.name)).Because(parley.NotFound).Suggest("%s", hint)
}

// hintFor says what an unknown name may have been meant as, or how to see all there are. Nothing where nobody can say.
func (s *scene) hintFor(caller Caller, u unknown) (string, error) {
	if len(u.name) > longestRef {
		return "", nil
	}
	switch u.noun {
	case "agent":
		names, err := s.Agents().Names()
		return parley.DidYouMean(parley.Nearest(strings.TrimLeft(u.name, "#@"), names), "see who there is: parley agent list"), err
	case "conversation":
		if err := s.enter(caller); err != nil {
			return "", err
		}
		return s.conversationHint(parley.ParseConversationRef(u.name))
	case "bridge": // for which only owners ask
		names, err := bridgeNames(s.Tx)
		all := "see which there are: parley bridge list"
		near := parley.Nearest(u.name, names)
		if len(near) == 0 {
			return all, err
		}
		return parley.DidYouMean(near, "") + " S" + all[1:], err // few know their ids by heart
	case "artifact":
		return "store it first, then refer to it", nil
	default:
		return otherwiseNamed(u), nil
	}
}

// conversationHint says which conversation may have been meant, or how to begin one.
func (s *scene) conversationHint(ref parley.ConversationRef) (string, error) {
	const all = "see which there are: parley conv list"
	if ref.Mine {
		return s.directHint(ref.Members, all)
	}
	names, err := s.conversationNames()
	wrong := ref.Name
	if name, whole := parley.Slug(wrong); whole { // only names are suggested: a display name is somebody's text
		wrong = name
	}
	return parley.DidYouMean(parley.Nearest(wrong, names), all), err
}

// directHint is conversationHint for the members of a conversation without a name.
func (s *scene) directHint(members []string, all string) (string, error) {
	var ids []string
	for _, name := range members {
		a, err := s.agent(name)
		if _, missing := errors.AsType[unknown](err); missing {
			names, err := s.Agents().Names()
			near := parley.Nearest(name, names)
			for i := range near {
				near[i] = "@" + near[i]
			}
			return parley.DidYouMean(near, "see who there is: parley agent list"), err
		}
		if err != nil || a.ID == s.me.ID {
			return all, nil
		}
		ids = append(ids, a.ID)
	}
	return "begin it: parley chat " + strings.Join(ids, " "), nil
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
