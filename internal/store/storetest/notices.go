package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var noticeTests = []test{
	{"due notices are listed, the longest due first", noticeDue},
	{"notices of an approval are found until they are done", noticeAbout},
	{"replacing a notice keeps its content", noticePut},
	{"a key is used once for each person", noticeTaken},
	{"done notices are forgotten, up to a limit", noticeForget},
}

func newNotice(key string, due int) parley.Notice {
	return parley.Notice{
		ID: newID(), Person: "arya", Key: key, Kind: parley.NoticeAlert, Title: "title", Text: "text", CreatedAt: at(1), NextAt: at(due),
	}
}

func (f *fixture) notices(list ...parley.Notice) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Notices().Insert) })
}

func (f *fixture) dueNotices(seconds, limit int) []parley.Notice {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Notice, error) { return tx.Notices().Due(at(seconds), limit) })
}

func noticeDue(f *fixture) {
	f.agents("arya", "gendry")
	full := parley.Notice{
		ID: newID(), Person: "gendry", Key: "approval/é", Kind: parley.NoticeApproval, Title: "é\n", Text: "text\n", Approval: newID(), CreatedAt: at(1),
		Attempt: 2, NextAt: at(10), Sent: []string{"ntfy", "webhook"}, Failure: "refused",
	}
	late, second, done := newNotice("late", 30), newNotice("second", 20), newNotice("done", 5)
	done.Done = true
	f.notices(late, second, full, done)
	f.same("none", f.dueNotices(9, 9), []parley.Notice{})
	f.same("one", f.dueNotices(10, 9), []parley.Notice{full})
	f.same("all", f.dueNotices(30, 9), []parley.Notice{full, second, late})
	f.same("up to the limit", f.dueNotices(30, 2), []parley.Notice{full, second})
}

func noticeAbout(f *fixture) {
	f.agents("arya", "gendry")
	first, second, done, other := newNotice("one", 10), newNotice("two", 99), newNotice("three", 5), newNotice("four", 5)
	approval := newID()
	first.Approval, second.Approval, done.Approval, other.Approval = approval, approval, approval, newID()
	second.Person, done.Done = "gendry", true
	f.notices(first, second, done, other, newNotice("five", 5))
	about := func(id string) []parley.Notice {
		return read(f, func(tx storage.Tx) ([]parley.Notice, error) { return tx.Notices().About(id) })
	}
	f.same("of the approval", about(approval), []parley.Notice{first, second})
	f.same("of another", about(newID()), []parley.Notice{})
	f.same("of none", about("no uuid"), []parley.Notice{})
}

func noticePut(f *fixture) {
	f.agents("arya", "gendry")
	n, other := newNotice("one", 10), newNotice("other", 20)
	f.notices(n, other)
	changed := parley.Notice{
		ID: n.ID, Person: "gendry", Key: "changed", Kind: "changed", Title: "changed", Text: "changed", Approval: newID(), CreatedAt: at(50),
		Attempt: 3, NextAt: at(30), Sent: []string{"ntfy"}, Failure: "failure",
	}
	f.update(func(tx storage.Tx) error { return tx.Notices().Put(changed) })
	n.Attempt, n.NextAt, n.Sent, n.Failure = 3, at(30), []string{"ntfy"}, "failure"
	f.same("replaced", f.dueNotices(99, 9), []parley.Notice{other, n})
	n.Done = true
	f.update(func(tx storage.Tx) error { return tx.Notices().Put(n) })
	f.same("done", f.dueNotices(99, 9), []parley.Notice{other})
	for _, id := range []string{newID(), "no uuid"} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Notices().Put(parley.Notice{ID: id}) })
	}
}

func noticeTaken(f *fixture) {
	f.agents("arya", "gendry")
	n := newNotice("key", 10)
	f.notices(n)
	sameID, others, nobodys := newNotice("other", 10), newNotice("key", 20), newNotice("key", 10)
	sameID.ID, others.Person, nobodys.Person = n.ID, "gendry", "nobody"
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Notices().Insert(newNotice("key", 10)) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Notices().Insert(sameID) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Notices().Insert(nobodys) })
	f.notices(others)
	n.Done = true
	f.update(func(tx storage.Tx) error { return tx.Notices().Put(n) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Notices().Insert(newNotice("key", 10)) })
	f.same("left", f.dueNotices(99, 9), []parley.Notice{others})
}

func noticeForget(f *fixture) {
	f.agents("arya")
	var list []parley.Notice
	for i, made := range []int{10, 20, 30, 5} {
		n := newNotice(string(rune('a'+i)), 1)
		n.CreatedAt, n.Done = at(made), i < 3
		list = append(list, n)
	}
	f.notices(list...)
	forget := func(seconds, limit int) (n int) {
		f.update(func(tx storage.Tx) (err error) {
			n, err = tx.Notices().Forget(at(seconds), limit)
			return err
		})
		return n
	}
	f.same("none are that old", forget(10, 9), 0)
	f.same("up to the limit", forget(30, 1), 1)
	f.same("the other", forget(30, 9), 1)
	f.same("the newest", forget(99, 9), 1)
	f.same("left", f.dueNotices(99, 9), list[3:])
	f.notices(newNotice("a", 1)) // the key is free again
}
