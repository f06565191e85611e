package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/chat"
)

// chatConversation is a conversation of the hub for package chat: a named conversation, or the one of the caller and others,
// which may not exist before its first message.
type chatConversation struct {
	client *client.Client
	me     parley.Agent
	others []string // ids of the other members, if the conversation has no name

	// printNotices prints the notices for the sender of a message. It is nil on a screen, which shows them itself.
	printNotices func(notices []string)

	mu     sync.Mutex
	id     string // of the conversation; empty before its first message
	joined bool
}

// openChatConversation finds a conversation by its name, or the one of the caller and the named agents.
func openChatConversation(ctx context.Context, c *client.Client, conversation string, names []string) (*chatConversation, error) {
	self, err := c.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	opened := &chatConversation{client: c, me: self.Agent}
	if conversation != "" {
		view, err := c.Conversation(ctx, conversation)
		opened.setConversation(view.ID, view.Joined)
		return opened, err
	}
	for i, name := range names {
		agent, err := c.Agent(ctx, name)
		if i > 0 && i == len(names)-1 {
			err = suggestIfUnknown(err, "put a text of one word after --: parley chat %s -- %s", strings.Join(names[:i], " "), name)
		}
		if err != nil {
			return nil, err
		}
		opened.others = append(opened.others, agent.ID)
	}
	for _, archived := range []bool{false, true} {
		if err := opened.findDirect(ctx, archived); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// findDirect searches the caller's conversations for the one of the caller and the others.
func (c *chatConversation) findDirect(ctx context.Context, archived bool) error {
	set := parley.MemberSetKey(append(slices.Clone(c.others), c.me.ID))
	page := func(ctx context.Context, from client.PageRequest) (client.Page[parley.ConversationView], error) {
		return c.client.Conversations(ctx, client.ConversationsOptions{Archived: archived}, from)
	}
	for view, err := range client.All(ctx, page) {
		if err != nil {
			return err
		}
		direct := view.Kind == parley.DM || view.Kind == parley.Group && view.Name == ""
		if direct && parley.MemberSetKey(view.Members) == set {
			c.setConversation(view.ID, true)
			return nil
		}
	}
	return nil
}

func (c *chatConversation) setConversation(id string, joined bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id, c.joined = id, joined
}

// current returns the id of the conversation, or "" before its first message, and whether the caller has joined it.
func (c *chatConversation) current() (id string, joined bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id, c.joined
}

// Describe returns the conversation and the presence of its members.
func (c *chatConversation) Describe(ctx context.Context) (state chat.ConversationState, err error) {
	state.Me = c.me.ID
	id, _ := c.current()
	if id == "" {
		if err := c.findDirect(ctx, false); err != nil {
			return state, markUnreachable(err)
		}
		id, _ = c.current()
	}
	members := append(slices.Clone(c.others), c.me.ID)
	if id != "" {
		if state.View, err = c.client.Conversation(ctx, id); err != nil {
			return state, markUnreachable(err)
		}
		c.setConversation(id, state.View.Joined)
		members = state.View.Members
	}
	all, err := c.client.Who(ctx)
	if err != nil {
		return state, markUnreachable(err)
	}
	all = slices.DeleteFunc(all, func(p parley.Presence) bool { return p.ID == c.me.ID || p.Kind == parley.KindSystem })
	for _, p := range all {
		if slices.Contains(members, p.ID) {
			state.Present = append(state.Present, p)
		}
	}
	state.Title, state.Known = chatTitle(state), state.Present
	if state.View.ReadableByAll() {
		state.Known = all
	}
	return state, nil
}

// chatTitle returns the name of the conversation, or the names of its other members.
func chatTitle(state chat.ConversationState) string {
	if c := state.View; c.Name != "" && c.DisplayName != "" {
		return c.Title() + " (" + c.DisplayName + ")"
	} else if c.Name != "" {
		return c.Title()
	}
	var names []string
	for _, p := range state.Present {
		names = append(names, p.ID)
	}
	return cmp.Or(strings.Join(names, ", "), state.View.Title())
}

// Page returns messages, oldest first.
func (c *chatConversation) Page(ctx context.Context, page parley.Page) ([]parley.Message, error) {
	id, _ := c.current()
	if id == "" {
		return nil, nil
	}
	span := client.HistoryOptions{Before: page.Before, Limit: page.Limit}
	if page.Forward {
		span.After = max(page.After, 1) // the event that made the conversation came before its messages
	}
	list, err := c.client.History(ctx, id, span)
	return list, markUnreachable(err)
}

// Message returns a message and its deliveries.
func (c *chatConversation) Message(ctx context.Context, id string) (parley.Shown, error) {
	shown, err := c.client.Message(ctx, id)
	return shown, markUnreachable(err)
}

// Post stores a message, in this conversation unless the message replies to another one.
func (c *chatConversation) Post(ctx context.Context, draft parley.Draft) (parley.Receipt, error) {
	id, _ := c.current()
	switch {
	case draft.InReplyTo != "":
	case id != "":
		draft.Conversation = id
	default:
		draft.Direct = c.others
	}
	receipt, err := c.client.Post(ctx, draft)
	if err == nil {
		c.setConversation(receipt.Message.Conversation, true)
		if c.printNotices != nil {
			c.printNotices(receipt.Notices)
		}
	}
	return receipt, markUnreachable(err)
}

// maxMessagesPerCall is how many messages one call can name.
const maxMessagesPerCall = 500

// MarkShown tells the hub which messages the caller was shown. For a person, the hub marks them as seen, and settles
// those that need no action. For an agent, it takes and acknowledges them, and moves the read cursor.
func (c *chatConversation) MarkShown(ctx context.Context, shown []parley.Message) error {
	id, joined := c.current()
	if !joined || len(shown) == 0 {
		return nil
	}
	if c.me.Kind == parley.KindHuman {
		for ids := range slices.Chunk(c.fromOthers(shown), maxMessagesPerCall) {
			if _, err := c.client.MarkShown(ctx, ids...); err != nil {
				return markUnreachable(err)
			}
		}
		return nil
	}
	if ids := c.fromOthers(shown[max(0, len(shown)-maxMessagesPerCall):]); len(ids) > 0 && c.me.Kind == parley.KindAgent {
		if _, err := c.client.Take(ctx, parley.Take{Only: ids, Limit: len(ids), AtMostOnce: true}); err != nil {
			return markUnreachable(err)
		}
	}
	return markUnreachable(c.client.MarkRead(ctx, id, shown[len(shown)-1].Seq))
}

// fromOthers returns the ids of the messages that others sent. Only these can be delivered to the caller.
func (c *chatConversation) fromOthers(list []parley.Message) (ids []string) {
	for _, m := range list {
		if m.From != c.me.ID {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// SetTopic changes the topic of the conversation.
func (c *chatConversation) SetTopic(ctx context.Context, topic string) error {
	id, _ := c.current()
	_, err := c.client.ChangeConversation(ctx, id, parley.ConversationChange{Topic: &topic})
	return markUnreachable(err)
}

// markUnreachable adds chat.ErrUnreachable to the errors of a hub that did not answer at all. An error that the hub sent has no
// cause.
func markUnreachable(err error) error {
	e := parley.AsError(err)
	if e == nil || e.Code != parley.Unavailable && e.Code != parley.TimedOut || errors.Unwrap(e) == nil {
		return err
	}
	marked := *e
	return marked.From(errors.Join(chat.ErrUnreachable, err))
}
