package anima

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// largest is the most that a text may have here. What the hub takes is less.
const largest = 8 << 20

// mostMentions is how many a message of a hub has unless it is told otherwise.
const mostMentions = 64

// origin is what is kept of a message as it was.
type origin struct {
	ID           any    `json:"id"`
	Conversation string `json:"conversation"`
	From         string `json:"from"`
	Mentions     string `json:"mentions,omitempty"` // where they are not all in the message
}

// writeMessages writes messages in their order.
func (r *reader) writeMessages(ctx context.Context) error {
	before := time.Time{}
	return r.each(ctx, messageTable, func(row []any) error {
		words := text(row[2])
		if words == "" || text(row[1]) == "" {
			r.empty++
			return nil
		}
		if len(words) > largest {
			return parley.Errorf(parley.BadInput, "message %v has %d bytes, and the limit is %d", row[3], len(words), largest).
				Because(parley.TooLarge).Suggest("shorten it, or delete it there")
		}
		room := r.rooms[text(row[0])]
		at := present(moment(row[5], time.Time{}), before, room.created)
		before = at
		m, err := r.message(room, row, words, at)
		if err != nil {
			return err
		}
		r.end.Messages++
		return r.out.Encode(line{Message: &m})
	})
}

func (r *reader) message(o *room, row []any, words string, at time.Time) (parley.Message, error) {
	from := text(row[1])
	mentions, whole := o.mentioned(row[4])
	was := origin{ID: row[3], Conversation: o.id, From: from}
	if !whole {
		was.Mentions = text(row[4])
	}
	if raw, ok := was.ID.([]byte); ok {
		was.ID = text(raw)
	}
	metadata, err := json.Marshal(map[string]origin{"anima": was})
	return parley.Message{
		ID: newID(at, "message", o.id, fmt.Sprint(was.ID), from, words), Conversation: o.there.ID, From: agentID(from),
		Mentions: mentions, Type: parley.TypeChat, CreatedAt: at, Content: parley.Content{Text: words}, Metadata: metadata, Source: "anima",
	}, err
}

// mentioned are those of a list of mentions who take part, and whether that is all there is to know of it.
func (o *room) mentioned(value any) (ids []string, whole bool) {
	raw := text(value)
	if raw == "" {
		return nil, true
	}
	var names []string
	if err := json.Unmarshal([]byte(raw), &names); err != nil {
		return nil, false
	}
	whole = true
	for _, name := range names {
		id := agentID(name)
		_, in := o.members[id]
		switch {
		case slices.Contains(ids, id):
		case in && len(ids) < mostMentions:
			ids = append(ids, id)
		default:
			whole = false
		}
	}
	return ids, whole
}
