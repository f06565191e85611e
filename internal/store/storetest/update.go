package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var updateTests = []test{
	{"all changes of an update are stored", updateWrites},
	{"an update sees its own changes", updateSeesItself},
	{"an error of the function is returned unchanged, and nothing is stored", updateErrorLeavesNothing},
	{"a panic is returned as E006, and nothing is stored", updatePanicLeavesNothing},
	{"a wrapped refusal can be recognized", updatePassesRefusal},
	{"seq and event numbers of a failed update are used again", updateFailureReusesNumbers},
	{"agents of a failed update are not found", updateFailureForgetsAgents},
	{"conversations and messages of a failed update do not exist", updateFailureForgetsTheRest},
	{"an update with an ended context stores nothing", updateDoneContext},
	{"an update that is cancelled while it waits stores nothing", updateCancelledWaiting},
	{"cancelling the context of a running update has no effect", updateCancelledRunning},
}

// fillStore adds a few rows and returns the contents of the store.
func (f *fixture) fillStore() contents {
	f.Helper()
	f.agents("arya", "gendry")
	c := f.channel("general", "arya", "arya", "gendry")
	f.deliver(f.post(newMessage(c.ID, "arya", "hello")), "gendry")
	f.update(func(tx storage.Tx) error {
		if err := tx.Log().Append(parley.Event{At: at(1), Kind: parley.EventAgentAdded, Agent: "arya"}); err != nil {
			return err
		}
		return tx.Log().AppendAudit(parley.AuditEntry{At: at(1), Actor: "arya", Act: "begin", Subject: "all"})
	})
	return f.contents()
}

func updateWrites(f *fixture) {
	before := f.fillStore()
	f.update(writeEverything)
	after := f.contents()
	if len(after.Agents) != 3 || after.Agents[0].Name != "Renamed" || after.Agents[2].ID != "newcomer" {
		f.Errorf("agents: %+v", after.Agents)
	}
	if len(after.Conversations) != 2 || len(after.Messages) != 2 || after.NextSeq != before.NextSeq+2 {
		f.Errorf("conversations %d, messages %d, next seq %d", len(after.Conversations), len(after.Messages), after.NextSeq)
	}
	c, m := after.Conversations[0], after.Messages[1]
	if c.Name != "fresh" || len(after.Members[c.ID]) != 1 || len(after.Deliveries[m.ID]) != 1 {
		f.Errorf("conversation %+v, members %v, deliveries %v", c, after.Members[c.ID], after.Deliveries[m.ID])
	}
	if len(after.Events) != 4 || len(after.Audit) != 2 {
		f.Errorf("events %d, audit %d", len(after.Events), len(after.Audit))
	}
}

func updateSeesItself(f *fixture) {
	f.fillStore()
	var inside contents
	f.update(func(tx storage.Tx) (err error) {
		if err = writeEverything(tx); err == nil {
			inside, err = dumpAll(tx)
		}
		return err
	})
	f.same("what the update saw", inside, f.contents())
}

func updateErrorLeavesNothing(f *fixture) {
	before := f.fillStore()
	err := f.store.Update(f.Context(), func(tx storage.Tx) error {
		return errors.Join(writeEverything(tx), errOwn)
	})
	if !errors.Is(err, errOwn) || errors.Is(err, parley.ErrNotFound) {
		f.Fatalf("got %v", err)
	}
	own := parley.Errorf(parley.BadInput, "the sender is unknown").Suggest("add it")
	err = f.store.Update(f.Context(), func(tx storage.Tx) error {
		if err := writeEverything(tx); err != nil {
			return err
		}
		return own
	})
	if !isSameError(err, own) {
		f.Fatalf("got %v, want the very same error", err)
	}
	f.same("after failed updates", f.contents(), before)
	f.missing("the key of a failed update", func(tx storage.Tx) error {
		return errorOf(tx.Messages().FindByKey("arya", "fresh-key", time.Time{}))
	})
}

func updatePanicLeavesNothing(f *fixture) {
	before := f.fillStore()
	for _, value := range []any{"a word", errOwn, nil} {
		f.panics(func(tx storage.Tx) error {
			if err := writeEverything(tx); err != nil {
				return err
			}
			panic(value)
		})
	}
	f.same("after panics", f.contents(), before)
	f.update(writeEverything) // the store still works
}

func updatePassesRefusal(f *fixture) {
	f.agents("arya")
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return fmt.Errorf("adding: %w", tx.Agents().Insert(newAgent("arya")))
	})
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error {
		return fmt.Errorf("looking: %w", errorOf(tx.Agents().Find("nobody")))
	})
}

func updateFailureReusesNumbers(f *fixture) {
	f.fillStore()
	for i := range 3 {
		f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(writeEverything(tx), errOwn) })
		f.panics(func(tx storage.Tx) error { panic(writeEverything(tx)) })
		c := f.findConversation("general")
		f.post(newMessage(c.ID, "arya", "hello"))
		f.update(func(tx storage.Tx) error { return tx.Log().Append(parley.Event{At: at(i), Kind: "test"}) })
	}
	all := f.contents()
	f.requireOneOrder(all)
	if len(all.Messages) != 4 || len(all.Events) != 8 || all.NextSeq != 9 {
		f.Errorf("%d messages and %d events, the next is %d; want 4, 8 and 9", len(all.Messages), len(all.Events), all.NextSeq)
	}
}

// requireOneOrder requires that messages and other events share one sequence of numbers, from 1 and without gaps, and that the
// log has an event with the same number for each message.
func (f *fixture) requireOneOrder(all contents) {
	f.Helper()
	posted := map[string]parley.Event{}
	for i, e := range all.Events {
		if e.Num != int64(i+1) {
			f.Errorf("event %d has number %d", i, e.Num)
		}
		if e.Kind == parley.EventMessagePosted {
			posted[e.Message] = e
		}
	}
	for _, m := range all.Messages {
		f.same("the event of a message", posted[m.ID], parley.Event{
			Num: m.Seq, At: m.CreatedAt, Kind: parley.EventMessagePosted, Conversation: m.Conversation, Agent: m.From, By: m.From, Message: m.ID,
		})
		delete(posted, m.ID)
	}
	f.same("events of messages that are not there", len(posted), 0)
}

// isSameError reports whether two errors are the same value. An error that wraps the other is not the same.
func isSameError(a, b any) bool { return a == b }

// updateFailureForgetsAgents checks that a store with a cache of agents removes agents of failed updates from the cache.
func updateFailureForgetsAgents(f *fixture) {
	f.agents("arya")
	before := f.findAgent("arya")
	for name, end := range map[string]func() error{
		"an error": func() error { return errOwn },
		"a panic":  func() error { panic("an end") },
	} {
		err := f.store.Update(f.Context(), func(tx storage.Tx) error {
			if err := writeWithoutLog(tx); err != nil {
				return fmt.Errorf("too early: %w", err)
			}
			return end()
		})
		if err == nil || errors.Is(err, parley.ErrNotFound) || errors.Is(err, parley.ErrTaken) {
			f.Fatalf("%s: got %v", name, err)
		}
		for _, name := range []string{"newcomer", "NewcomerBot", "Renamed"} {
			f.missing(name, func(tx storage.Tx) error { return errorOf(tx.Agents().Find(name)) })
		}
		f.same("the agent after "+name, f.findAgent("AryaBot"), before)
		f.update(func(tx storage.Tx) error {
			again, err := tx.Agents().Find("arya")
			if err == nil && again.Name != before.Name {
				err = fmt.Errorf("the writer still has the name %s", again.Name)
			}
			return err
		})
	}
	f.agents("newcomer") // the names of the agent are free
}

// writeWithoutLog changes agents and finds them again, so that a store with a cache would cache them.
func writeWithoutLog(tx storage.Tx) error {
	first, err := tx.Agents().Find("arya")
	if err != nil {
		return err
	}
	first.Name = "Renamed"
	if err := tx.Agents().Put(first); err != nil {
		return err
	}
	if err := tx.Agents().Insert(newAgent("newcomer")); err != nil {
		return err
	}
	for _, name := range []string{"arya", "Renamed", "newcomer", "NewcomerBot"} {
		if _, err := tx.Agents().Find(name); err != nil {
			return err
		}
	}
	return nil
}

// updateFailureForgetsTheRest checks that a store with a cache removes the conversations of failed updates from the cache.
func updateFailureForgetsTheRest(f *fixture) {
	f.agents("arya", "gendry")
	c := newChannel("lost", "arya")
	m := newMessage(c.ID, "arya", "hello")
	f.fails(errOwn, func(tx storage.Tx) (err error) {
		if err := tx.Conversations().Insert(c); err != nil {
			return err
		}
		if _, err := tx.Conversations().Find(c.ID); err != nil {
			return err
		}
		if m, err = post(tx, m); err != nil {
			return err
		}
		return errOwn
	})
	for name, call := range map[string]func(storage.Tx) error{
		"a message":  func(tx storage.Tx) error { return errorOf(post(tx, newMessage(c.ID, "arya", "hello"))) },
		"a member":   func(tx storage.Tx) error { return tx.Members().Put(parley.Member{Conversation: c.ID, Agent: "arya"}) },
		"a delivery": func(tx storage.Tx) error { return errorOf(tx.Deliveries().Insert(m, reaches("gendry"))) },
	} {
		if err := f.store.Update(f.Context(), call); !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("%s of what was never stored: got %v, want ErrNotFound", name, err)
		}
	}
}

func updateDoneContext(f *fixture) {
	before := f.fillStore()
	cancelled, cancel := context.WithCancel(f.Context())
	cancel()
	late, cancel := context.WithDeadline(f.Context(), time.Unix(0, 0))
	defer cancel()
	for range 20 { // a wrong store could pass a single attempt by chance
		for ctx, want := range map[context.Context]error{cancelled: context.Canceled, late: context.DeadlineExceeded} {
			if err := f.store.Update(ctx, writeEverything); !errors.Is(err, want) {
				f.Fatalf("got %v, want %v", err, want)
			}
		}
	}
	f.same("afterwards", f.contents(), before)
}

func updateCancelledWaiting(f *fixture) {
	before := f.fillStore()
	release := f.holdWriter()
	ctx, cancel := context.WithCancel(f.Context())
	result := make(chan error)
	go func() { result <- f.store.Update(ctx, writeEverything) }()
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) { // the update returns while the other update still runs
		f.Errorf("got %v", err)
	}
	release()
	f.same("afterwards", f.contents(), before)
}

// holdWriter keeps the store busy with an update until the caller calls release.
func (f *fixture) holdWriter() (release func()) {
	f.Helper()
	running, gate, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- f.store.Update(context.Background(), func(storage.Tx) error {
			close(running)
			<-gate
			return nil
		})
	}()
	<-running
	return func() {
		f.Helper()
		close(gate)
		if err := <-done; err != nil {
			f.Errorf("the update that was held: %v", err)
		}
	}
}

func updateCancelledRunning(f *fixture) {
	f.agents("arya")
	ctx, cancel := context.WithCancel(f.Context())
	err := f.store.Update(ctx, func(tx storage.Tx) error {
		cancel()
		return tx.Agents().Insert(newAgent("gendry"))
	})
	if err != nil {
		f.Errorf("got %v, though it was written", err)
	}
	f.findAgent("gendry")
	ctx, cancel = context.WithCancel(f.Context())
	err = f.store.Update(ctx, func(storage.Tx) error {
		cancel()
		return errOwn
	})
	if !errors.Is(err, errOwn) {
		f.Errorf("got %v, want the update's own error", err)
	}
}
