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
	before := time.Time{}
	return r.each(ctx, messageTable, func(row []any) error {
		words := textOf(row[2])
		if words == "" || textOf(row[1]) == "" {
			r.empty++
			return nil
		}
		content, err := r.content(ctx, words)
		if err != nil && parley.CodeOf(err) == parley.BadInput {
			r.skipped = append(r.skipped, fmt.Sprintf("message %s of %d bytes: %s", textOf(row[3]), len(words), parley.AsError(err).Message))
			return nil
		}
		if err != nil {
			return err
		}
		conversation := r.conversations[textOf(row[0])]
		at := firstKnown(parseTime(row[5], time.Time{}), before, conversation.created)
		before = at
		m, err := r.message(conversation, row, words, at)
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
func (r *reader) content(ctx context.Context, words string) (parley.Content, error) {
	if len(words) <= maxText {
		return parley.Content{Text: words}, nil
	}
	whole, err := r.store(ctx, strings.NewReader(words))
	if err != nil {
		return parley.Content{}, err
	}
	whole.Name, whole.MediaType = wholeText, "text/plain; charset=utf-8"
	begin := strings.ToValidUTF8(words[:shownText], "") // the cut may split a character
	return parley.Content{Text: begin + "…", Artifacts: []parley.Artifact{whole}}, nil
}

func (r *reader) message(o *sourceConversation, row []any, words string, at time.Time) (parley.Message, error) {
	from := textOf(row[1])
	mentions, whole := o.mentioned(r.hub.agentID, row[4])
	was := origin{ID: row[3], Conversation: o.id, From: from}
	if !whole {
		was.Mentions = textOf(row[4])
	}
	if raw, ok := was.ID.([]byte); ok {
		was.ID = textOf(raw)
	}
	metadata, err := json.Marshal(map[string]origin{"anima": was})
	return parley.Message{
		ID: newID(at, "message", o.id, fmt.Sprint(was.ID), from, words), Conversation: o.target.ID, From: r.hub.agentID(from),
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
