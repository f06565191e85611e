package storetest

import (
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var runRecordTests = []test{
	{"posts of a run come by seq, each message once", runPosted},
	{"the run that posted a message is found, the first of several", runPostedBy},
	{"an output is kept, replaced and erased", runOutput},
	{"outputs of runs that ended before a time are forgotten, up to a limit", runForgetOutputs},
}

func (f *fixture) posted(run, digest string, m parley.Message) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		return tx.Runs().AddPost(run, storage.RunPost{Digest: digest, Message: m.ID})
	})
}

func (f *fixture) runPosts(run string) []storage.RunPost {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]storage.RunPost, error) { return tx.Runs().Posts(run) })
}

func (f *fixture) postedBy(message string) parley.Run {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Run, error) { return tx.Runs().PostedBy(message) })
}

func (f *fixture) putOutput(run, output string) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return tx.Runs().PutOutput(run, []byte(output)) })
}

func (f *fixture) output(run string) string {
	f.Helper()
	return string(read(f, func(tx storage.Tx) ([]byte, error) { return tx.Runs().Output(run) }))
}

func runPosted(f *fixture) {
	c, m := f.channelWithMessages(3)
	elsewhere := f.posts(1, f.channel("other", "arya").ID)[0]
	r, idle := newRun("arya", c.ID), newRun("arya", c.ID)
	f.runs(r, idle)
	f.posted(r.ID, "é", elsewhere)
	f.posted(r.ID, "", m[2])
	f.posted(r.ID, "digest", m[0])
	f.posted(r.ID, "another", m[0])
	f.same("posts", f.runPosts(r.ID), []storage.RunPost{
		{Digest: "digest", Message: m[0].ID}, {Message: m[2].ID}, {Digest: "é", Message: elsewhere.ID},
	})
	f.same("posts of another", f.runPosts(idle.ID), []storage.RunPost{})
}

func runPostedBy(f *fixture) {
	c, m := f.channelWithMessages(2)
	first, second := newRun("arya", c.ID, m[0].ID), newRun("arya", c.ID, m[0].ID)
	f.runs(first, second)
	f.missing("before", func(tx storage.Tx) error { return errorOf(tx.Runs().PostedBy(m[1].ID)) })
	f.posted(second.ID, "digest", m[1])
	f.same("by one", f.postedBy(m[1].ID), second)
	f.posted(first.ID, "digest", m[1])
	f.same("by two", f.postedBy(m[1].ID), first)
	f.missing("another", func(tx storage.Tx) error { return errorOf(tx.Runs().PostedBy(m[0].ID)) })
}

func runOutput(f *fixture) {
	c, _ := f.channelWithMessages(0)
	r, other := newRun("arya", c.ID), newRun("arya", c.ID)
	f.runs(r, other)
	f.same("none", f.output(r.ID), "")
	for _, output := range []string{"output", "\x00\xff\xfe", strings.Repeat("é", 1<<17), "", "again"} {
		f.putOutput(r.ID, output)
		f.same("kept", f.output(r.ID) == output, true)
		f.putRun(ended(r, 5)) // Put does not change the output
		f.same("kept when the run is changed", f.output(r.ID) == output, true)
	}
	f.same("of another", f.output(other.ID), "")
}

func runForgetOutputs(f *fixture) {
	c, _ := f.channelWithMessages(0)
	live, silent := newRun("arya", c.ID), ended(newRun("arya", c.ID), 1)
	f.runs(live, silent)
	f.putOutput(live.ID, "live")
	var old []parley.Run
	for i := range 4 {
		r := newRun("gendry", c.ID)
		f.runs(r)
		f.putOutput(r.ID, fmt.Sprint("output ", i))
		f.putRun(ended(r, 10*i))
		old = append(old, r)
	}
	forget := func(seconds, limit int) (n int) {
		f.Helper()
		f.update(func(tx storage.Tx) (err error) {
			n, err = tx.Runs().ForgetOutputs(at(seconds), limit)
			return err
		})
		return n
	}
	f.same("none is old enough", forget(0, 9), 0)
	f.same("up to the limit", forget(20, 1), 1)
	f.same("the oldest is gone", f.output(old[0].ID), "")
	f.same("the other", forget(20, 9), 1)
	f.same("no more", forget(20, 9), 0)
	f.same("what is younger", f.output(old[2].ID), "output 2")
	f.same("all that ended", forget(99, 9), 2)
	f.same("the live one's", f.output(live.ID), "live")
	f.same("the run is still there", f.getRun(old[0].ID), ended(old[0], 0))
	f.putOutput(old[0].ID, "again")
	f.same("one kept again is forgotten again", forget(99, 9), 1)
}
