package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var keyTests = []test{
	{"a key finds its message, for its sender only", keyFound},
	{"a key is found if it was given after the given time", keyBorder},
	{"a key that is used again finds the later message", keyAgain},
	{"a key may find a task", keyOfTask},
	{"old keys are forgotten in portions, newer keys stay", keysForgotten},
	{"keys that can still be found are not forgotten", keysForgottenBorder},
}

func (f *fixture) keyed(conversation, from, key string, when time.Time) parley.Message {
	f.Helper()
	m := newMessage(conversation, from, "hello")
	m.IdempotencyKey, m.CreatedAt = key, when
	return f.post(m)
}

// key returns the id that a key finds, or "".
func (f *fixture) key(sender, key string, since time.Time) (id string) {
	f.Helper()
	f.view(func(tx storage.Tx) (err error) {
		if id, err = tx.Messages().FindByKey(sender, key, since); errors.Is(err, parley.ErrNotFound) {
			id, err = "", nil
		}
		return err
	})
	return id
}

func (f *fixture) forget(before time.Time, limit int) (n int) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		n, err = tx.Messages().ForgetKeys(before, limit)
		return err
	})
	return n
}

func keyFound(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	a := f.keyed(c.ID, "arya", "key", at(1))
	b := f.keyed(c.ID, "gendry", "key", at(1))
	f.same("arya's", f.key("arya", "key", at(0)), a.ID)
	f.same("gendry's, by name", f.key("GendryBot", "key", at(0)), b.ID)
	f.update(func(tx storage.Tx) error { // before the commit too
		m := newMessage(c.ID, "arya", "hello")
		m.IdempotencyKey = "within"
		if _, err := post(tx, m); err != nil {
			return err
		}
		id, err := tx.Messages().FindByKey("arya", "within", at(0))
		if err == nil && id != m.ID {
			err = fmt.Errorf("found %s, want %s", id, m.ID)
		}
		return err
	})
	for _, key := range []string{"", "KEY", "key ", "ke", "k%"} {
		f.missing(key, func(tx storage.Tx) error { return errorOf(tx.Messages().FindByKey("arya", key, time.Time{})) })
	}
	f.missing("a stranger's", func(tx storage.Tx) error { return errorOf(tx.Messages().FindByKey("nobody", "key", time.Time{})) })
}

func keyBorder(f *fixture) {
	f.agents("arya")
	m := f.keyed(f.channel("general", "arya").ID, "arya", "key", at(5))
	f.same("just before", f.key("arya", "key", at(5).Add(-time.Millisecond)), m.ID)
	f.same("at the moment", f.key("arya", "key", at(5)), "")
	f.same("later", f.key("arya", "key", at(6)), "")
}

func keyAgain(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.keyed(c.ID, "arya", "key", at(1))
	second := f.keyed(c.ID, "arya", "key", at(9))
	f.same("found", f.key("arya", "key", at(0)), second.ID)
	f.same("and still new", f.key("arya", "key", at(5)), second.ID)
	f.keyed(c.ID, "arya", "key", at(2))
	f.same("whatever is added of old", f.key("arya", "key", at(5)), second.ID)
}

func keyOfTask(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	key := func(key, task string, when time.Time) {
		f.update(func(tx storage.Tx) error { return tx.Messages().AddKey("arya", key, task, when) })
	}
	key("key", "task-258", at(5))
	f.same("found", f.key("arya", "key", at(0)), "task-258")
	f.same("at the moment", f.key("arya", "key", at(5)), "")
	key("key", "task-7", at(2))
	f.same("whatever is added of old", f.key("arya", "key", at(0)), "task-258")
	m := f.keyed(c.ID, "arya", "key", at(9))
	f.same("then of a message", f.key("arya", "key", at(0)), m.ID)
	key("key", "task-7", at(9))
	f.same("and of a task again", f.key("arya", "key", at(0)), "task-7")
	f.same("forgotten", f.forget(at(9), 2), 1)
	f.missing("a stranger's", func(tx storage.Tx) error { return tx.Messages().AddKey("nobody", "key", "task-7", at(1)) })
	f.missing("what is no task", func(tx storage.Tx) error { return tx.Messages().AddKey("arya", "key", "7", at(1)) })
}

func keysForgotten(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	for i, key := range []string{"a", "b", "c", "d", "e"} {
		f.keyed(c.ID, "arya", key, at(i))
	}
	f.keyed(c.ID, "gendry", "a", at(0))
	kept := f.keyed(c.ID, "arya", "young", at(100))
	for _, want := range []int{2, 2, 2, 0} {
		f.same("forgotten", f.forget(at(50), 2), want)
	}
	f.same("an old one", f.key("arya", "a", at(-9)), "")
	f.same("a young one", f.key("arya", "young", at(-9)), kept.ID)
	f.same("messages", len(f.contents().Messages), 7)
}

func keysForgottenBorder(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for i := range 5 {
		f.keyed(c.ID, "arya", string(rune('a'+i)), at(i))
	}
	f.forget(at(2), 100)
	for i := range 5 {
		if got := f.key("arya", string(rune('a'+i)), at(2)); (got != "") != (i > 2) {
			f.Errorf("the key of second %d, forgotten to second 2: %q", i, got)
		}
	}
	f.same("the oldest", f.key("arya", "a", at(-1)), "")
}
