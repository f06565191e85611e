package chat

import (
	"slices"

	"github.com/parley-hub/parley"
)

const (
	firstPage    = 50 // messages shown at the start, and added by PgUp
	maxFirstPage = 1000
	nextPage     = 200 // messages loaded after an event
)

// timeline is a part of a conversation without gaps, up to the newest known message.
type timeline struct {
	messages []parley.Message
	byID     map[string]int64 // seq by id
	complete bool             // there are no messages before it
}

// next returns the page after the messages.
func (t *timeline) next() parley.Page {
	if len(t.messages) == 0 {
		return parley.Page{Limit: firstPage}
	}
	return parley.Page{Forward: true, After: t.newest(), Limit: nextPage}
}

// older returns the page before the messages.
func (t *timeline) older() parley.Page {
	return parley.Page{Before: t.messages[0].Seq, Limit: firstPage}
}

func (t *timeline) newest() int64 {
	if len(t.messages) == 0 {
		return 0
	}
	return t.messages[len(t.messages)-1].Seq
}

// add adds a page that next or older asked for, and returns the new messages at the end.
func (t *timeline) add(page parley.Page, list []parley.Message) (fresh []parley.Message) {
	if page.Forward || len(t.messages) == 0 {
		if !page.Forward {
			t.complete = page.Last(list)
		}
		newest := t.newest()
		fresh = slices.DeleteFunc(slices.Clone(list), func(m parley.Message) bool { return m.Seq <= newest })
		t.messages = append(t.messages, fresh...)
		t.indexByID(fresh)
		return fresh
	}
	t.complete = page.Last(list)
	t.messages = append(slices.Clone(list), t.messages...)
	t.indexByID(list)
	return nil
}

func (t *timeline) indexByID(list []parley.Message) {
	if t.byID == nil {
		t.byID = map[string]int64{}
	}
	for _, m := range list {
		t.byID[m.ID] = m.Seq
	}
}

// find returns a message of the timeline.
func (t *timeline) find(id string) (*parley.Message, bool) {
	seq, ok := t.byID[id]
	if !ok {
		return nil, false
	}
	i, ok := slices.BinarySearchFunc(t.messages, seq, func(m parley.Message, seq int64) int { return int(m.Seq - seq) })
	return &t.messages[i], ok
}

// lastOfOthers returns the newest message of another participant.
func (t *timeline) lastOfOthers(me string) (parley.Message, bool) {
	for _, m := range slices.Backward(t.messages) {
		if m.From != me && m.From != parley.System {
			return m, true
		}
	}
	return parley.Message{}, false
}
