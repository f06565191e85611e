package anima

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// The default limits of a hub.
var (
	maxText     = parley.DefaultLimits().Body
	maxMentions = parley.DefaultLimits().Mentions
)

const (
	shownText = 16 << 10 // bytes of a long text that the message shows
	wholeText = "message.txt"
)

// origin is the original data of a message, which its metadata keeps.
type origin struct {
	ID           any    `json:"id"`
	Conversation string `json:"conversation"`
	From         string `json:"from"`
	Mentions     string `json:"mentions,omitempty"` // the original list, if the message does not have all of it
}

// writeMessages writes messages in their order.
func (r *reader) writeMessages(ctx context.Context) error {
	previous := time.Time{}
	return r.each(ctx, messageTable, func(row []any) error {
		text := textOf(row[2])
		if text == "" || textOf(row[1]) == "" {
			r.empty++
			return nil
		}
		content, err := r.content(ctx, text)
		if err != nil && parley.CodeOf(err) == parley.BadInput {
			r.skipped = append(r.skipped, fmt.Sprintf("message %s of %d bytes: %s", textOf(row[3]), len(text), parley.AsError(err).Message))
			return nil
		}
		if err != nil {
			return err
		}
		conversation := r.conversations[textOf(row[0])]
		at := firstKnown(parseTime(row[5], time.Time{}), previous, conversation.created)
		previous = at
		m, err := r.message(conversation, row, text, at)
		if err != nil {
			return err
		}
		m.Content = content
		r.end.Messages++
		return r.out.Encode(exportLine{Message: &m})
	})
}

// content returns the content of a message. If the text is too long, the message has its beginning, and an artifact has
// all of it.
func (r *reader) content(ctx context.Context, text string) (parley.Content, error) {
	if len(text) <= maxText {
		return parley.Content{Text: text}, nil
	}
	whole, err := r.store(ctx, strings.NewReader(text))
	if err != nil {
		return parley.Content{}, err
	}
	whole.Name, whole.MediaType = wholeText, "text/plain; charset=utf-8"
	begin := strings.ToValidUTF8(text[:shownText], "") // the cut may split a character
	return parley.Content{Text: begin + "…", Artifacts: []parley.Artifact{whole}}, nil
}

func (r *reader) message(o *sourceConversation, row []any, text string, at time.Time) (parley.Message, error) {
	from := textOf(row[1])
	mentions, whole := o.mentioned(r.hub.agentID, row[4])
	original := origin{ID: row[3], Conversation: o.id, From: from}
	if !whole {
		original.Mentions = textOf(row[4])
	}
	if raw, ok := original.ID.([]byte); ok {
		original.ID = textOf(raw)
	}
	metadata, err := json.Marshal(map[string]origin{"anima": original})
	return parley.Message{
		ID: newID(at, "message", o.id, fmt.Sprint(original.ID), from, text), Conversation: o.target.ID, From: r.hub.agentID(from),
		Mentions: mentions, Type: parley.TypeChat, CreatedAt: at, Metadata: metadata, Source: "anima",
	}, err
}

// mentioned returns the members in a list of mentions, and reports whether the list has nothing else.
func (c *sourceConversation) mentioned(idOf func(string) string, value any) (ids []string, whole bool) {
	raw := textOf(value)
	if raw == "" {
		return nil, true
	}
	var names []string
	if err := json.Unmarshal([]byte(raw), &names); err != nil {
		return nil, false
	}
	whole = true
	for _, name := range names {
		id := idOf(name)
		_, in := c.members[id]
		switch {
		case slices.Contains(ids, id):
		case in && len(ids) < maxMentions:
			ids = append(ids, id)
		default:
			whole = false
		}
	}
	return ids, whole
}
