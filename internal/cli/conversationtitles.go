package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// conversationTitles returns the titles of conversations. It asks the hub once for each conversation.
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

// conversationTitle returns the name of a conversation, or its members if it has no name.
func conversationTitle(v parley.ConversationView) string {
	if v.Name != "" || len(v.Members) == 0 {
		return v.Title()
	}
	return strings.Join(v.Members, " ↔ ")
}

// workText returns where an agent works, and for how long.
func (t conversationTitles) workText(ctx context.Context, list []parley.Work) string {
	var parts []string
	for _, w := range list {
		parts = append(parts, fmt.Sprintf("%s (%s, %s)", t.workPlace(ctx, w), w.State, formatDuration(time.Since(w.Since))))
	}
	return strings.Join(parts, ", ")
}

// workPlace returns where an agent works, or "elsewhere" if the caller may not know.
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
