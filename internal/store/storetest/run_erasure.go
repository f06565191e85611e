package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var runErasureTests = []test{
	{"runs of a deleted conversation are found nowhere", runsOfDeletedConversation},
	{"purging a conversation erases its runs in portions and keeps their cost", runsErased},
	{"purging a conversation keeps runs of other conversations, without its messages", runsElsewhereKept},
	{"retention erases triggers, posts and outputs", runsAndRetention},
	{"redaction erases outputs that may repeat the message", runsAndRedaction},
}

func (f *fixture) deleteConversation(c parley.Conversation) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
}

func runsOfDeletedConversation(f *fixture) {
	c, m := f.channelWithMessages(2)
	r := newRun("arya", c.ID, m[0].ID)
	past := ended(newRun("arya", c.ID), 5)
	past.Session = "session"
	f.runs(r, past)
	f.posted(r.ID, "digest", m[1])
	f.putOutput(r.ID, "output")
	f.deleteConversation(c)
	gone := func(tx storage.Tx) error {
		for what, err := range map[string]error{
			"Get":      errorOf(tx.Runs().Get(r.ID)),
			"Posts":    errorOf(tx.Runs().Posts(r.ID)),
			"Output":   errorOf(tx.Runs().Output(r.ID)),
			"PostedBy": errorOf(tx.Runs().PostedBy(m[1].ID)),
			"Session":  errorOf(tx.Runs().Session("arya", c.ID, at(0))),
		} {
			if !errors.Is(err, parley.ErrNotFound) {
				return fmt.Errorf("%s: got %w, want ErrNotFound", what, err)
			}
		}
		var errs [4]error
		var list [4][]parley.Run
		list[0], errs[0] = tx.Runs().Live("")
		list[1], errs[1] = tx.Runs().List(parley.RunFilter{Limit: 9})
		list[2], errs[2] = tx.Runs().List(parley.RunFilter{Conversation: c.ID, Limit: 9})
		list[3], errs[3] = tx.Runs().WokenBy(m[0].ID, "arya")
		counts, err := tx.Runs().CountLive()
		if n := len(list[0]) + len(list[1]) + len(list[2]) + len(list[3]) + len(counts); n > 0 {
			return fmt.Errorf("still to be seen: %v and %v", list, counts)
		}
		return errors.Join(append(errs[:], err)...)
	}
	f.view(gone)
	f.update(gone)
	for _, write := range []func(storage.Tx) error{
		func(tx storage.Tx) error { return tx.Runs().Put(r) },
		func(tx storage.Tx) error { return tx.Runs().PutOutput(r.ID, []byte("output")) },
		func(tx storage.Tx) error { return tx.Runs().AddPost(r.ID, storage.RunPost{Message: m[0].ID}) },
		func(tx storage.Tx) error { return tx.Runs().Insert(newRun("arya", c.ID)) },
	} {
		f.fails(parley.ErrNotFound, write)
	}
}

// runsErased purges a conversation with 4 messages, an exchange and 3 runs. Each run has 2 triggers, a post and an output.
func runsErased(f *fixture) {
	c, m := f.channelWithMessages(4)
	other := f.channel("other", "arya")
	elsewhere := f.posts(1, other.ID)[0]
	kept := newRun("arya", other.ID, elsewhere.ID)
	f.runs(kept)
	f.putOutput(kept.ID, "kept")
	for range 3 {
		r := fullRun("arya", c.ID, m[0].ID, m[1].ID)
		r.Cost, r.InputTokens, r.OutputTokens = 0.5, 10, 1
		f.runs(r)
		f.posted(r.ID, "digest", elsewhere) // this message stays, without the run that posted it
		f.putOutput(r.ID, "output")
	}
	f.exchange(storage.Exchange{A: "arya", B: "gendry", Last: "gendry", Conversation: c.ID, Count: 3, At: at(5), Open: true})
	before := f.spent("arya", at(0))
	f.deleteConversation(c)
	f.same("spent when deleted", f.spent("arya", at(0)), before)
	total := 0
	for n := f.purge(2); n > 0; n = f.purge(2) {
		if total += n; n > 2 {
			f.Errorf("%d rows erased, the limit is 2", n)
		}
	}
	f.same("rows erased", total, 4+3*(1+2+1+1)+1+1)
	f.same("spent", f.spent("arya", at(0)), before)
	all := f.contents()
	f.same("runs", all.Runs, []parley.Run{kept})
	f.same("live", all.Live, map[string]int{"arya": 1})
	f.same("output", f.output(kept.ID), "kept")
	f.missing("who posted", func(tx storage.Tx) error { return errorOf(tx.Runs().PostedBy(elsewhere.ID)) })
	f.same("the exchange", f.exchanges("arya", "gendry"), storage.Exchange{A: "arya", B: "gendry", Last: "gendry", Count: 3, At: at(5), Open: true})
	f.requireExactCounts()
}

func runsElsewhereKept(f *fixture) {
	c, m := f.channelWithMessages(2)
	other := f.channel("other", "arya")
	trigger := f.posts(1, other.ID)[0]
	r := newRun("arya", other.ID, trigger.ID)
	f.runs(r)
	f.posted(r.ID, "digest", m[1])
	f.deleteConversation(c)
	check := func(when string) {
		f.same("the run "+when, f.getRun(r.ID), r)
		f.same("its posts "+when, f.runPosts(r.ID), []storage.RunPost{})
	}
	check("when deleted")
	f.same("erased", f.purge(100), 2+1+1)
	check("when erased")
	f.requireExactCounts()
}

func runsAndRetention(f *fixture) {
	c, m := f.channelWithMessages(4)
	woken, posting, other := newRun("arya", c.ID, m[0].ID, m[3].ID), newRun("arya", c.ID, m[3].ID), newRun("arya", c.ID, m[3].ID)
	f.runs(woken, posting, other)
	f.posted(posting.ID, "digest", m[1])
	f.posted(posting.ID, "digest", m[3])
	for _, r := range []parley.Run{woken, posting, other} {
		f.putOutput(r.ID, "output")
	}
	f.same("erased", f.erase(0, m[2].Seq).Messages, 3)
	woken.Triggers = []string{m[3].ID}
	f.same("the one that was woken", f.getRun(woken.ID), woken)
	f.same("posts", f.runPosts(posting.ID), []storage.RunPost{{Digest: "digest", Message: m[3].ID}})
	f.same("outputs", []string{f.output(woken.ID), f.output(posting.ID), f.output(other.ID)}, []string{"", "", "output"})
	f.requireExactCounts()
}

func runsAndRedaction(f *fixture) {
	c, m := f.channelWithMessages(1)
	elsewhere := f.channel("elsewhere", "arya")
	outputs := map[string]parley.Run{
		"that it woke":             ended(newRun("arya", c.ID, m[0].ID), 0), // the clock was set back
		"that posted it":           newRun("arya", elsewhere.ID),
		"that came later":          newRun("arya", c.ID),
		"that ended later":         ended(newRun("arya", c.ID), 2),
		"that ended before":        ended(newRun("arya", c.ID), 0),
		"that came later, far off": newRun("arya", elsewhere.ID),
	}
	for _, r := range outputs {
		f.runs(r)
		f.putOutput(r.ID, "output")
	}
	f.posted(outputs["that posted it"].ID, "digest", m[0])
	f.redact(m[0])
	for what, r := range outputs {
		want := ""
		if what == "that ended before" || what == "that came later, far off" {
			want = "output"
		}
		f.same("the output of a run "+what, f.output(r.ID), want)
		f.same("a run "+what, f.getRun(r.ID), r)
	}
}
