package chat

import (
	"slices"

	"github.com/parley-hub/parley"
)

const (
	firstPage    = 50 // what is shown at the start, and what PgUp adds
	maxFirstPage = 1000
	nextPage     = 200 // what is asked for when something has come
)

// timeline is an unbroken part of a conversation, up to its end as far as it is known.
type timeline struct {
	messages []parley.Message
	byID     map[string]int64 // the seq of each
	complete bool             // there is nothing before it
}

// next is the page that follows what is there.
func (t *timeline) next() parley.Page {
	if len(t.messages) == 0 {
		return parley.Page{Limit: firstPage}
	}
	return parley.Page{Forward: true, After: t.newest(), Limit: nextPage}
}

// older is the page that goes before what is there.
func (t *timeline) older() parley.Page {
	return parley.Page{Before: t.messages[0].Seq, Limit: firstPage}
}

func (t *timeline) newest() int64 {
	if len(t.messages) == 0 {
		return 0
	}
	return t.messages[len(t.messages)-1].Seq
}

// add takes in the answer to next or older, and returns what is new at the end.
func (t *timeline) add(page parley.Page, list []parley.Message) (fresh []parley.Message) {
	if page.Forward || len(t.messages) == 0 {
		if !page.Forward {
			t.complete = page.Last(list)
		}
		newest := t.newest()
		fresh = slices.DeleteFunc(slices.Clone(list), func(m parley.Message) bool { return m.Seq <= newest })
		t.messages = append(t.messages, fresh...)
		t.note(fresh)
		return fresh
	}
	t.complete = page.Last(list)
	t.messages = append(slices.Clone(list), t.messages...)
	t.note(list)
	return nil
}

func (t *timeline) note(list []parley.Message) {
	if t.byID == nil {
		t.byID = map[string]int64{}
	}
	for _, m := range list {
		t.byID[m.ID] = m.Seq
	}
}

// find returns a message that is shown.
func (t *timeline) find(id string) (*parley.Message, bool) {
	seq, ok := t.byID[id]
	if !ok {
		return nil, false
	}
	i, ok := slices.BinarySearchFunc(t.messages, seq, func(m parley.Message, seq int64) int { return int(m.Seq - seq) })
	return &t.messages[i], ok
}

// lastOfOthers is the newest message that somebody else wrote.
func (t *timeline) lastOfOthers(me string) (parley.Message, bool) {
	for _, m := range slices.Backward(t.messages) {
		if m.From != me && m.From != parley.System {
			return m, true
		}
	}
	return parley.Message{}, false
}
