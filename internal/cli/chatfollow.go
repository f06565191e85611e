package cli

import (
	"context"
	"sync"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/chat"
)

// Follow reports the events of the conversation, and those of agents. If the conversation does not exist yet, it first
// waits for it.
func (c *chatConversation) Follow(ctx context.Context, report func(chat.Signal)) error {
	if id, _ := c.current(); id == "" {
		if err := c.awaitOpening(ctx, report); err != nil || ctx.Err() != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var agents sync.WaitGroup
	defer func() { cancel(); agents.Wait() }()
	agents.Go(func() {
		for e, err := range c.client.Events(ctx, client.EventsOptions{Kinds: []string{"agent"}}) {
			if err == nil {
				report(chat.Signal{Event: e})
			}
		}
	})
	id, _ := c.current()
	return c.follow(ctx, client.EventsOptions{Conversation: id}, report, func(parley.Event) bool { return true })
}

// awaitOpening waits until the conversation has been created.
func (c *chatConversation) awaitOpening(ctx context.Context, report func(chat.Signal)) error {
	opened := func(parley.Event) bool {
		id, _ := c.current()
		if id == "" && c.findDirect(ctx, false) == nil {
			id, _ = c.current()
		}
		return id == ""
	}
	return c.follow(ctx, client.EventsOptions{Kinds: []string{string(parley.EventConversationCreated), "agent"}}, report, opened)
}

// follow reports the events of one stream as long as more returns true. It returns the last error of the stream.
func (c *chatConversation) follow(ctx context.Context, o client.EventsOptions, report func(chat.Signal), more func(parley.Event) bool) (last error) {
	for e, err := range c.client.Events(ctx, o) {
		switch last = err; {
		case err != nil:
			report(chat.Signal{Kind: chat.Disconnected, Err: err})
			continue
		case e.Kind == client.EventReady || e.Kind == client.EventReset:
			report(chat.Signal{Kind: chat.Connected})
		default:
			report(chat.Signal{Event: e})
		}
		if !more(e) {
			return nil
		}
	}
	return last
}
