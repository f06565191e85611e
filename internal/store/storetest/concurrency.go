package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var concurrencyTests = []test{
	{"updates run one after the other", serialUpdates},
	{"an acknowledged update is seen by every later view", readYourWrites},
	{"seq has no gaps although some updates fail and panic", gapFreeUnderFailure},
	{"of several inserts with one name one succeeds", nameTakenOnce},
	{"of several inserts with one set one succeeds", setTakenOnce},
	{"pair_seq counts without gap or repetition", pairSeqUnderConcurrency},
	{"the audit chain verifies", auditUnderConcurrency},
}

// concurrently runs fn n times at once and returns the errors.
func concurrently(n int, fn func(i int) error) []error {
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
		errs  = make([]error, n)
	)
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func (f *fixture) requireNoErrors(errs []error) {
	f.Helper()
	if err := errors.Join(errs...); err != nil {
		f.Fatal(err)
	}
}

func serialUpdates(f *fixture) {
	const n = 24
	f.agents("arya")
	f.conversation(parley.Conversation{
		ID: newID(), Name: "count", Kind: parley.Channel, Visibility: parley.Public, Topic: "0",
		CreatedBy: "arya", CreatedAt: at(0), UpdatedAt: at(0),
	})
	f.requireNoErrors(concurrently(n, func(int) error {
		return f.store.Update(f.Context(), func(tx storage.Tx) error {
			c, err := tx.Conversations().Find("count")
			if err != nil {
				return err
			}
			count, err := strconv.Atoi(c.Topic)
			if err != nil {
				return err
			}
			c.Topic = strconv.Itoa(count + 1)
			return tx.Conversations().Put(c)
		})
	}))
	if got := f.findConversation("count").Topic; got != strconv.Itoa(n) {
		f.Errorf("%d updates counted to %s", n, got)
	}
}

func readYourWrites(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.requireNoErrors(concurrently(6, func(int) error {
		for range 8 {
			m := newMessage(c.ID, "arya", "hello")
			err := f.store.Update(f.Context(), func(tx storage.Tx) error { return errorOf(post(tx, m)) })
			if err != nil {
				return err
			}
			err = f.store.View(f.Context(), func(tx storage.Tx) error { return errorOf(tx.Messages().Get(m.ID)) })
			if err != nil {
				return fmt.Errorf("a message that was stored: %w", err)
			}
		}
		return nil
	}))
}

// gapFreeUnderFailure runs updates that draw numbers. Of each three updates, one then fails and one panics.
func gapFreeUnderFailure(f *fixture) {
	const n = 48
	f.agents("arya")
	c := f.channel("general", "arya")
	ids := make([]string, n)
	errs := concurrently(n, func(i int) error {
		m := newMessage(c.ID, "arya", "hello")
		ids[i] = m.ID
		return f.store.Update(f.Context(), func(tx storage.Tx) error {
			if _, err := post(tx, m); err != nil {
				return err
			}
			if err := tx.Log().Append(parley.Event{At: at(i), Kind: "test", Message: m.ID}); err != nil {
				return err
			}
			switch i % 3 {
			case 1:
				return errOwn
			case 2:
				panic("an end")
			default:
				return nil
			}
		})
	})
	for i, err := range errs {
		if isExpected := isOutcome[i%3]; !isExpected(err) {
			f.Errorf("update %d returned %v", i, err)
		}
	}
	all := f.contents()
	f.requireOneOrder(all)
	f.same("events", len(all.Events), 2*len(all.Messages))
	stored := []string{}
	for _, m := range all.Messages {
		stored = append(stored, m.ID)
	}
	want := acknowledged(ids, errs)
	slices.Sort(stored)
	slices.Sort(want)
	f.same("acknowledged messages", stored, want)
}

var isOutcome = [3]func(error) bool{
	func(err error) bool { return err == nil },
	func(err error) bool { return errors.Is(err, errOwn) },
	func(err error) bool { return parley.CodeOf(err) == parley.Internal && !errors.Is(err, errOwn) },
}

func acknowledged(ids []string, errs []error) (yes []string) {
	for i, err := range errs {
		if err == nil {
			yes = append(yes, ids[i])
		}
	}
	return yes
}

// requireOneWinner requires that exactly one of several concurrent calls succeeded and that the others returned ErrTaken.
func (f *fixture) requireOneWinner(errs []error) (winner int) {
	f.Helper()
	winner = -1
	for i, err := range errs {
		switch {
		case err == nil && winner < 0:
			winner = i
		case err == nil:
			f.Fatalf("%d and %d both succeeded", winner, i)
		case !errors.Is(err, parley.ErrTaken):
			f.Fatalf("%d: got %v, want ErrTaken", i, err)
		}
	}
	if winner < 0 {
		f.Fatal("nobody succeeded")
	}
	return winner
}

func nameTakenOnce(f *fixture) {
	spellings := []string{"Zoë", "ZOË", "zoe\u0308", "ｚoë"}
	errs := concurrently(12, func(i int) error {
		a := newAgent(fmt.Sprintf("agent-%d", i))
		a.Name = spellings[i%len(spellings)]
		return f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Agents().Insert(a) })
	})
	winner := f.requireOneWinner(errs)
	all := f.contents()
	if len(all.Agents) != 1 || all.Agents[0].ID != fmt.Sprintf("agent-%d", winner) {
		f.Errorf("agent-%d won, stored are %+v", winner, all.Agents)
	}
}

func setTakenOnce(f *fixture) {
	f.agents("arya", "gendry")
	made := make([]parley.Conversation, 12)
	errs := concurrently(len(made), func(i int) error {
		made[i] = newDM("arya", "gendry")
		return f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Conversations().Insert(made[i]) })
	})
	winner := f.requireOneWinner(errs)
	f.same("the DM", read(f, allConversations), []parley.Conversation{made[winner]})
}

func pairSeqUnderConcurrency(f *fixture) {
	const n = 16
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	seen := make([]int64, n)
	f.requireNoErrors(concurrently(n, func(i int) error {
		m := newMessage(c.ID, "arya", "hello")
		return f.store.Update(f.Context(), func(tx storage.Tx) error {
			m, err := post(tx, m)
			if err != nil {
				return err
			}
			made, err := tx.Deliveries().Insert(m, reaches("gendry"))
			if err == nil {
				seen[i] = made[0].PairSeq
			}
			return err
		})
	}))
	slices.Sort(seen)
	for i, n := range seen {
		if n != int64(i+1) {
			f.Fatalf("pair_seq are %v", seen)
		}
	}
}

func auditUnderConcurrency(f *fixture) {
	const n = 16
	errs := concurrently(n, func(i int) error {
		return f.store.Update(f.Context(), func(tx storage.Tx) error {
			err := tx.Log().AppendAudit(parley.AuditEntry{At: at(i), Actor: "user", Act: "test", Subject: strconv.Itoa(i)})
			if err == nil && i%4 == 3 {
				err = errOwn
			}
			return err
		})
	})
	var want []string
	for i, err := range errs {
		if failed := errors.Is(err, errOwn); failed != (i%4 == 3) {
			f.Errorf("update %d returned %v", i, err)
		} else if !failed {
			want = append(want, strconv.Itoa(i))
		}
	}
	var got []string
	for _, e := range f.auditChain() {
		got = append(got, e.Subject)
	}
	slices.Sort(got)
	slices.Sort(want)
	f.same("audited", got, want)
}
