package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var viewTests = []test{
	{"a view sees one snapshot, even if updates run meanwhile", viewIsSnapshot},
	{"a view never sees half of an update", viewSeesWholeUpdates},
	{"a view sees the old name of an agent that is renamed meanwhile", viewKeepsAgents},
	{"no method can write in a view", viewCannotWrite},
	{"an error of the function is returned unchanged", viewError},
	{"a panic is returned as E006, and the store goes on", viewPanic},
	{"a view with an ended context returns the error of the context", viewDoneContext},
	{"more views can run at once than there are connections", viewMany},
	{"a waiting view does not block updates", viewDoesNotBlock},
}

func viewIsSnapshot(f *fixture) {
	f.fillStore()
	f.view(func(tx storage.Tx) error {
		before, err := dumpAll(tx)
		if err != nil {
			return err
		}
		f.update(writeEverything)
		after, err := dumpAll(tx)
		f.same("the same view", after, before)
		return err
	})
	if got := len(f.contents().Agents); got != 3 {
		f.Errorf("a view that began afterwards sees %d agents", got)
	}
}

// viewSeesWholeUpdates runs updates that post two messages and append an event each, while readers compare the counts.
func viewSeesWholeUpdates(f *fixture) {
	f.agents("arya")
	a, b := f.channel("a", "arya"), f.channel("b", "arya")
	done := make(chan struct{})
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() { errs[i] = f.checkUntil(done) })
	}
	for range 24 {
		f.update(func(tx storage.Tx) error {
			for _, c := range []parley.Conversation{a, b} {
				if _, err := post(tx, newMessage(c.ID, "arya", "hello")); err != nil {
					return err
				}
			}
			return tx.Log().Append(parley.Event{At: at(1), Kind: "test"})
		})
	}
	close(done)
	wg.Wait()
	f.requireNoErrors(errs)
}

// checkUntil checks repeatedly that a view sees each update as a whole, until done is closed, and then once more.
func (f *fixture) checkUntil(done chan struct{}) error {
	for last := false; !last; {
		select {
		case <-done:
			last = true
		default:
		}
		err := f.store.View(f.Context(), func(tx storage.Tx) error {
			a, err := tx.Conversations().Find("a")
			if err != nil {
				return err
			}
			_, events, err := tx.Log().Bounds()
			if err != nil {
				return err
			}
			b, err := tx.Conversations().Find("b")
			if err == nil && (a.Messages != b.Messages || events != 3*a.Messages) {
				err = fmt.Errorf("half an update: %d and %d messages, number %d", a.Messages, b.Messages, events)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// viewKeepsAgents checks that a store with a cache of agents does not show newer agents to older views.
func viewKeepsAgents(f *fixture) {
	a := f.agents("arya")[0]
	f.view(func(tx storage.Tx) error {
		if _, err := tx.Agents().List(); err != nil { // the snapshot begins
			return err
		}
		renamed := a
		renamed.Name = "Renamed"
		f.update(func(tx storage.Tx) error { return tx.Agents().Put(renamed) })
		f.same("a new view", f.findAgent("arya").Name, "Renamed")
		old, err := tx.Agents().Find("arya")
		f.same("the old view", old, a)
		if _, err := tx.Agents().Find("Renamed"); !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("the new name in the old view: %v", err)
		}
		return err
	})
	f.same("a new view", f.findAgent("arya").Name, "Renamed")
}

func viewCannotWrite(f *fixture) {
	f.fillStore()
	f.addErasableRows()
	before := f.contents()
	a, c, m, r := before.Agents[0], before.Conversations[0], before.Messages[0], before.Runs[0]
	wait, task, approval, notice := before.Asks[m.ID], before.Tasks[0], before.Approvals[0], before.Notices[0]
	d := before.Deliveries[m.ID][0]
	next := newMessage(c.ID, "arya", "hello")
	next.Seq = before.NextSeq
	for name, write := range map[string]func(storage.Tx) error{
		"Agents.Insert":        func(tx storage.Tx) error { return tx.Agents().Insert(newAgent("newcomer")) },
		"Agents.Update":        func(tx storage.Tx) error { return tx.Agents().Put(a) },
		"Conversations.Insert": func(tx storage.Tx) error { return tx.Conversations().Insert(newChannel("fresh", "arya")) },
		"Conversations.Update": func(tx storage.Tx) error { return tx.Conversations().Put(c) },
		"Conversations.Delete": func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) },
		"Members.Put": func(tx storage.Tx) error {
			return tx.Members().Put(parley.Member{Conversation: c.ID, Agent: "arya", ReadSeq: 1})
		},
		"Conversations.Purge": func(tx storage.Tx) error { return errorOf(tx.Conversations().Purge(10)) },
		"Messages.AddKey":     func(tx storage.Tx) error { return tx.Messages().AddKey("arya", "key", task.ID, at(10)) },
		"Messages.ForgetKeys": func(tx storage.Tx) error { return errorOf(tx.Messages().ForgetKeys(at(10), 10)) },
		"Members.Remove":      func(tx storage.Tx) error { return tx.Members().Remove(c.ID, "arya") },
		"Messages.Insert":     func(tx storage.Tx) error { return tx.Messages().Insert(next) },
		"Deliveries.Put":      func(tx storage.Tx) error { return tx.Deliveries().Put(d, d) },
		"Deliveries.Insert":   func(tx storage.Tx) error { return errorOf(tx.Deliveries().Insert(m, reaches("arya"))) },
		"Artifacts.Keep": func(tx storage.Tx) error {
			return tx.Artifacts().Put(storage.StoredArtifact{SHA256: digest("01"), StoredAt: at(1)}, "arya")
		},
		"Artifacts.Forget": func(tx storage.Tx) error { return errorOf(tx.Artifacts().Forget(digest("00"), at(10))) },
		"Artifacts.Expire": func(tx storage.Tx) error { return errorOf(tx.Artifacts().Expire(digest("00"), at(10), at(10))) },
		"Messages.Redact":  func(tx storage.Tx) error { return tx.Messages().Redact(m.Redacted(at(1))) },
		"Retention.Erase":  func(tx storage.Tx) error { return errorOf(tx.Retention().Erase(0, before.NextSeq)) },
		"Retention.CountBytes": func(tx storage.Tx) error {
			_, _, err := tx.Retention().CountBytes(10)
			return err
		},
		"Search.Forget":    func(tx storage.Tx) error { return tx.Search().Forget(m.Seq) },
		"Search.Scrub":     func(tx storage.Tx) error { return errorOf(tx.Search().Scrub()) },
		"Agents.PutHealth": func(tx storage.Tx) error { return tx.Agents().PutHealth("arya", parley.Health{At: at(1)}) },
		"Runs.Insert":      func(tx storage.Tx) error { return tx.Runs().Insert(newRun("arya", c.ID, m.ID)) },
		"Runs.Put":         func(tx storage.Tx) error { return tx.Runs().Put(r) },
		"Runs.AddPost":     func(tx storage.Tx) error { return tx.Runs().AddPost(r.ID, storage.RunPost{Message: m.ID}) },
		"Runs.PutOutput":   func(tx storage.Tx) error { return tx.Runs().PutOutput(r.ID, []byte("other")) },
		"no output":        func(tx storage.Tx) error { return tx.Runs().PutOutput(r.ID, nil) },
		"ForgetOutputs":    func(tx storage.Tx) error { return errorOf(tx.Runs().ForgetOutputs(at(99), 9)) },
		"Tokens.Erase":     func(tx storage.Tx) error { return tx.Tokens().Erase(newID()) },
		"Loops.Put": func(tx storage.Tx) error {
			return tx.Loops().Put(storage.Exchange{A: "arya", B: "gendry", Last: "gendry", Conversation: c.ID, At: at(1)})
		},
		"Loops.Forget":       func(tx storage.Tx) error { return errorOf(tx.Loops().Forget("arya", "gendry")) },
		"Loops.ForgetIn":     func(tx storage.Tx) error { return errorOf(tx.Loops().ForgetIn(c.ID)) },
		"Waits.Insert":       func(tx storage.Tx) error { return tx.Waits().Insert(newWait(m.ID, "arya", "gendry")) },
		"Waits.Put":          func(tx storage.Tx) error { return tx.Waits().Put(wait) },
		"Waits.Erase":        func(tx storage.Tx) error { return tx.Waits().Erase(wait.ID) },
		"Sessions.Insert":    func(tx storage.Tx) error { return tx.Sessions().Insert(newSession("arya", "key", 1)) },
		"Sessions.Put":       func(tx storage.Tx) error { return tx.Sessions().Put(newSession("arya", "key", 1)) },
		"Sessions.Erase":     func(tx storage.Tx) error { return tx.Sessions().Erase(newID()) },
		"Tasks.Insert":       func(tx storage.Tx) error { return tx.Tasks().Insert(newTask(99)) },
		"Tasks.Put":          func(tx storage.Tx) error { return tx.Tasks().Put(task) },
		"Permissions.Put":    func(tx storage.Tx) error { return tx.Permissions().Put(newRule("arya", "*", parley.EffectAllow)) },
		"Permissions.Remove": func(tx storage.Tx) error { return tx.Permissions().Remove("arya", "*", parley.EffectDeny) },
		"Approvals.Insert":   func(tx storage.Tx) error { return tx.Approvals().Insert(newApproval("fresh")) },
		"Approvals.Put":      func(tx storage.Tx) error { return tx.Approvals().Put(approval) },
		"Notices.Insert":     func(tx storage.Tx) error { return tx.Notices().Insert(newNotice("fresh", 1)) },
		"Notices.Put":        func(tx storage.Tx) error { return tx.Notices().Put(notice) },
		"Notices.Forget":     func(tx storage.Tx) error { return errorOf(tx.Notices().Forget(at(99), 9)) },
		"Log.Prune":          func(tx storage.Tx) error { return errorOf(tx.Log().Prune(at(10), 10)) },
		"Log.Append":         func(tx storage.Tx) error { return tx.Log().Append(parley.Event{At: at(1), Kind: "test"}) },
		"Log.AppendAudit":    func(tx storage.Tx) error { return tx.Log().AppendAudit(parley.AuditEntry{At: at(1), Act: "test"}) },
	} {
		f.view(func(tx storage.Tx) error {
			switch err := write(tx); {
			case err == nil:
				f.Errorf("%s: a view could write", name)
			case errors.Is(err, parley.ErrNotFound) || errors.Is(err, parley.ErrTaken):
				f.Errorf("%s: %v instead of a refusal to write", name, err)
			}
			return nil
		})
	}
	f.same("after all that", f.contents(), before)
}

// addErasableRows adds rows so that every erasing method would write.
func (f *fixture) addErasableRows() {
	f.Helper()
	m := newMessage("general", "arya", "hello")
	m.Conversation, m.IdempotencyKey = f.findConversation("general").ID, "key"
	f.post(m)
	f.keepBodies("arya", digest("00"))
	f.update(func(tx storage.Tx) error { return tx.Search().Forget(1) })
	r := ended(newRun("arya", m.Conversation), 5)
	f.runs(r)
	f.putOutput(r.ID, "output")
	f.waits(newAsk(f.contents().Messages[0].ID, "arya", "gendry"))
	f.tasks(newTask(1))
	f.permit(newRule("arya", parley.Anyone, parley.EffectDeny))
	f.approvals(newApproval("digest"))
	f.notices(newNotice("key", 1))
	deleted := f.channel("deleted", "arya")
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(deleted.ID) })
}

func viewError(f *fixture) {
	if err := f.store.View(f.Context(), func(storage.Tx) error { return errOwn }); !isSameError(err, errOwn) {
		f.Errorf("got %v", err)
	}
	err := f.store.View(f.Context(), func(tx storage.Tx) error { return errorOf(tx.Agents().Find("nobody")) })
	if !errors.Is(err, parley.ErrNotFound) {
		f.Errorf("got %v", err)
	}
}

func viewPanic(f *fixture) {
	f.agents("arya")
	for range 40 { // more views than connections: the store must give each connection back
		err := f.store.View(f.Context(), func(storage.Tx) error { panic("an end") })
		if parley.CodeOf(err) != parley.Internal {
			f.Fatalf("got %v", err)
		}
	}
	f.findAgent("arya")
}

func viewDoneContext(f *fixture) {
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	for range 20 { // a wrong store could pass a single attempt by chance
		err := f.store.View(ctx, func(storage.Tx) error { return nil })
		if !errors.Is(err, context.Canceled) {
			f.Fatalf("got %v", err)
		}
	}
}

func viewMany(f *fixture) {
	f.agents("arya")
	f.requireNoErrors(concurrently(64, func(int) error {
		return f.store.View(f.Context(), func(tx storage.Tx) error { return errorOf(tx.Agents().Find("arya")) })
	}))
}

func viewDoesNotBlock(f *fixture) {
	f.fillStore()
	f.view(func(tx storage.Tx) error {
		if _, err := dumpAll(tx); err != nil {
			return err
		}
		for i := range 3 {
			f.agents(fmt.Sprintf("agent-%d", i))
		}
		return nil
	})
}
