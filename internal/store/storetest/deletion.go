package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var deletionTests = []test{
	{"a deleted conversation is found nowhere", deleteHides},
	{"its name and set are free at once", deleteFreesNames},
	{"a missing conversation cannot be deleted", deleteUnknown},
	{"a failed update deletes nothing", deleteUndone},
	{"purging erases rows in portions and keeps the rows of other conversations", purgePortions},
	{"without deleted conversations there is nothing to purge", purgeNothing},
	{"purging changes neither seq, pair_seq nor the logs", purgeKeepsNumbers},
}

func deleteHides(f *fixture) {
	f.agents("arya", "gendry")
	c := f.conversation(newDM("arya", "gendry"), "arya", "gendry")
	m := f.post(newMessage(c.ID, "arya", "hello"))
	f.deliver(m, "gendry")
	reply := newMessage(c.ID, "gendry", "hi")
	reply.InReplyTo = m.ID
	f.post(reply)
	f.update(func(tx storage.Tx) error {
		if _, err := tx.Conversations().Find(c.ID); err != nil {
			return err
		}
		if err := tx.Conversations().Delete(c.ID); err != nil {
			return err
		}
		return requireHidden(tx, c, m) // in the rest of the update too
	})
	f.view(func(tx storage.Tx) error { return requireHidden(tx, c, m) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return errorOf(post(tx, newMessage(c.ID, "arya", "again"))) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Conversations().Put(c) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Members().Put(parley.Member{Conversation: c.ID, Agent: "arya"}) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Members().Remove(c.ID, "arya") })
}

// requireHidden returns an error if any method of the store still shows a deleted conversation.
func requireHidden(tx storage.Tx, c parley.Conversation, m parley.Message) error {
	for name, err := range map[string]error{
		"Find":         errorOf(tx.Conversations().Find(c.ID)),
		"FindSet":      errorOf(tx.Conversations().FindSet(c.Set)),
		"Members.Get":  errorOf(tx.Members().Get(c.ID, "arya")),
		"Members.List": errorOf(tx.Members().List(c.ID)),
		"Messages.Get": errorOf(tx.Messages().Get(m.ID)),
		"Page":         errorOf(tx.Messages().Page(c.ID, parley.Page{Limit: 9})),
		"Open":         errorOf(tx.Deliveries().HasOpen(c.ID)),
	} {
		if !errors.Is(err, parley.ErrNotFound) {
			return fmt.Errorf("%s: got %w, want ErrNotFound", name, err)
		}
	}
	all, err := dumpAll(tx)
	if err != nil {
		return err
	}
	replies, err := tx.Messages().Replies(m.ID, 9)
	if err != nil {
		return err
	}
	deliveries, err := tx.Deliveries().OfMessage(m.ID)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	mine, err := tx.Conversations().List(storage.ConversationFilter{Member: "arya", Limit: 9})
	if n := len(all.Conversations) + len(all.Messages) + len(replies) + len(deliveries) + len(mine); n > 0 {
		return fmt.Errorf("still to be seen: %d conversations, %d of arya's, %d messages, %d replies, %d deliveries",
			len(all.Conversations), len(mine), len(all.Messages), len(replies), len(deliveries))
	}
	return err
}

func deleteFreesNames(f *fixture) {
	f.agents("arya", "gendry")
	channel, dm := f.channel("general", "arya"), f.conversation(newDM("arya", "gendry"))
	again, dmAgain := newChannel("general", "gendry"), newDM("arya", "gendry")
	f.update(func(tx storage.Tx) error {
		return errors.Join(tx.Conversations().Delete(channel.ID), tx.Conversations().Delete(dm.ID),
			tx.Conversations().Insert(again), tx.Conversations().Insert(dmAgain))
	})
	f.same("the new channel", f.findConversation("general"), again)
	f.same("the new DM", read(f, func(tx storage.Tx) (parley.Conversation, error) {
		return tx.Conversations().FindSet(dm.Set)
	}), dmAgain)
}

func deleteUnknown(f *fixture) {
	f.agents("arya")
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Conversations().Delete(newID()) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Conversations().Delete("") })
}

func deleteUndone(f *fixture) {
	before := f.fillStore()
	f.fails(errOwn, func(tx storage.Tx) error {
		return errors.Join(tx.Conversations().Delete(before.Conversations[0].ID), errOwn)
	})
	f.same("afterwards", f.contents(), before)
	f.same("erased", f.purge(10), 0)
}

func (f *fixture) purge(limit int) (n int) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		n, err = tx.Conversations().Purge(limit)
		return err
	})
	return n
}

// purgePortions purges two conversations, each with 6 messages, 12 deliveries and 2 members.
func purgePortions(f *fixture) {
	before := f.fillStore()
	f.agents("sansa")
	for _, name := range []string{"one", "two"} {
		c := f.channel(name, "arya", "arya", "gendry")
		for _, m := range f.posts(6, c.ID) {
			f.deliver(m, "gendry", "sansa")
		}
		f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	}
	total := 0
	for n := f.purge(5); n > 0; n = f.purge(5) {
		if n > 5 {
			f.Errorf("%d rows erased, the limit is 5", n)
		}
		total += n
	}
	f.same("rows erased", total, 2*(6+12+2+1))
	after := f.contents()
	f.same("conversations", after.Conversations, before.Conversations)
	f.same("members", after.Members, before.Members)
	f.same("messages", after.Messages, before.Messages)
	f.same("deliveries", after.Deliveries, before.Deliveries)
}

func purgeNothing(f *fixture) {
	before := f.fillStore()
	f.same("erased", f.purge(100), 0)
	f.same("afterwards", f.contents(), before)
}

func purgeKeepsNumbers(f *fixture) {
	before := f.fillStore()
	c := before.Conversations[0]
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	for f.purge(100) > 0 {
		continue
	}
	after := f.contents()
	f.same("events", after.Events, before.Events[1:]) // all events but that of the message
	f.same("audit", after.Audit, before.Audit)
	f.same("next seq", after.NextSeq, before.NextSeq)
	again := f.channel("general", "arya")
	m := f.post(newMessage(again.ID, "arya", "hello"))
	f.same("seq", m.Seq, before.NextSeq)
	f.same("pair_seq", f.deliver(m, "gendry")[0].PairSeq, int64(2))
}
