package storetest

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var pageTests = []test{
	{"pages of every size begin and end at the right messages", pageBorders},
	{"walking forward and back shows each message once", pageWalk},
	{"a conversation without messages has empty pages", pageEmpty},
	{"an unknown conversation has no pages", pageUnknown},
}

const pageMessages = 6

// paged posts messages to a conversation, with messages of another conversation between them, so that their seqs have gaps.
func (f *fixture) paged() (parley.Conversation, []parley.Message) {
	f.Helper()
	f.agents("arya")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	var stored []parley.Message
	for range pageMessages {
		f.posts(1, other.ID)
		stored = append(stored, f.posts(1, c.ID)...)
	}
	return c, stored
}

func (f *fixture) page(conversation string, p parley.Page) []parley.Message {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Page(conversation, p) })
}

// pageBorders compares pages with a simple implementation, for every border and size.
func pageBorders(f *fixture) {
	c, all := f.paged()
	for limit := 1; limit <= pageMessages+1; limit++ {
		for border := range int64(2*pageMessages + 3) {
			f.same("forward", f.page(c.ID, parley.Page{Forward: true, After: border, Limit: limit}), firstAfter(all, border, limit))
			f.same("back", f.page(c.ID, parley.Page{Before: border, Limit: limit}), lastBefore(all, border, limit))
		}
	}
	f.same("by name", f.page("general", parley.Page{Limit: 2}), all[pageMessages-2:])
}

func firstAfter(all []parley.Message, after int64, limit int) []parley.Message {
	page := []parley.Message{}
	for _, m := range all {
		if m.Seq > after && len(page) < limit {
			page = append(page, m)
		}
	}
	return page
}

func lastBefore(all []parley.Message, before int64, limit int) []parley.Message {
	page := []parley.Message{}
	for _, m := range all {
		if m.Seq < before || before == 0 {
			page = append(page, m)
		}
	}
	return page[max(0, len(page)-limit):]
}

func pageWalk(f *fixture) {
	c, all := f.paged()
	for limit := 1; limit <= pageMessages+1; limit++ {
		var forward, back []parley.Message
		next := parley.Page{Forward: true, Limit: limit}
		for page := f.page(c.ID, next); len(page) > 0; page = f.page(c.ID, next) {
			forward = append(forward, page...)
			next.After = page[len(page)-1].Seq
		}
		next = parley.Page{Limit: limit}
		for page := f.page(c.ID, next); len(page) > 0; page = f.page(c.ID, next) {
			back = append(page, back...)
			next.Before = page[0].Seq
		}
		f.same("forward", forward, all)
		f.same("back", back, all)
	}
}

func pageEmpty(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.same("forward", len(f.page(c.ID, parley.Page{Forward: true, Limit: 5})), 0)
	f.same("back", len(f.page(c.ID, parley.Page{Limit: 5})), 0)
}

func pageUnknown(f *fixture) {
	err := f.store.View(f.Context(), func(tx storage.Tx) error {
		return errorOf(tx.Messages().Page(newID(), parley.Page{Limit: 5}))
	})
	if !errors.Is(err, parley.ErrNotFound) {
		f.Errorf("got %v, want ErrNotFound", err)
	}
}
