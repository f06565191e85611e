package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// conversationTitles are what conversations are called, each asked for once.
type conversationTitles struct {
	client *client.Client
	known  map[string]string
}

func newConversationTitles(c *client.Client) conversationTitles {
	return conversationTitles{c, map[string]string{}}
}

func (t conversationTitles) title(ctx context.Context, id string) string {
	title, known := t.known[id]
	if !known {
		title = id
		if view, err := t.client.Conversation(ctx, id); err == nil {
			title = conversationTitle(view)
		}
		t.known[id] = title
	}
	return title
}

// conversationTitle is what a person calls a conversation: by its name, or by who is in it.
func conversationTitle(v parley.ConversationView) string {
	if v.Name != "" || len(v.Members) == 0 {
		return v.Title()
	}
	return strings.Join(v.Members, " ↔ ")
}

// workText is what somebody is at: where, and for how long.
func (t conversationTitles) workText(ctx context.Context, list []parley.Work) string {
	var parts []string
	for _, w := range list {
		parts = append(parts, fmt.Sprintf("%s (%s, %s)", t.workPlace(ctx, w), w.State, formatDuration(time.Since(w.Since))))
	}
	return strings.Join(parts, ", ")
}

// workPlace is where somebody is at work, as far as one may know.
func (t conversationTitles) workPlace(ctx context.Context, w parley.Work) string {
	switch {
	case w.Channel != "":
		return "#" + w.Channel
	case w.Conversation != "":
		return t.title(ctx, w.Conversation)
	default:
		return "elsewhere"
	}
}
