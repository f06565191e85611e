package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/parley-hub/parley/internal/repeatable" // see there
	"github.com/parley-hub/parley/internal/storage"
	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

// fault makes the nth statement of a kind fail, with or without its transaction.
type fault struct {
	Statement string
	Nth       int
	Ends      bool
}

var faults = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fault {
	return fault{
		Statement: rapid.SampledFrom([]string{
			"BEGIN", "COMMIT", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK TO", "INSERT INTO events", "SELECT",
		}).Draw(t, "statement"),
		Nth:  rapid.IntRange(1, 12).Draw(t, "nth"),
		Ends: rapid.Bool().Draw(t, "ends"),
	}
}), 0, 4)

// Whatever statements fail and however updates end: the acknowledged ones are stored, all others are
// not, and everybody is told something.
func TestRandomFaultsLoseNothingAndAcknowledgeNothingFalsely(t *testing.T) {
	withStore(t, func(f *fixture) {
		run := 0
		// A bubble has no deadline, so rapid must not ask for it.
		rapid.Check(struct{ testing.TB }{f.T}, func(t *rapid.T) {
			run++
			ends := rapid.SliceOfN(rapid.SampledFrom([]string{"well", "well", "hides", "error", "panic"}), 1, 10).Draw(t, "ends")
			told := f.withFaults(fmt.Sprint("run-", run), ends, faults.Draw(t, "faults"))
			if err := f.sameAsStored(fmt.Sprint("run-", run), told); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// withFaults runs updates in one batch while statements fail, and returns what each was told.
func (f *fixture) withFaults(run string, ends []string, planned []fault) map[string]error {
	gate := make(chan struct{})
	labels := []string{run + "/held"}
	f.Submit(labels[0], func(storage.Tx) error {
		<-gate
		return nil
	})
	for i, end := range ends {
		label := fmt.Sprintf("%s/%d", run, i)
		labels = append(labels, label)
		f.Submit(label, endings[end])
	}
	f.Conn.Before = inject(planned)
	close(gate)
	f.WG.Wait()
	f.Conn.Before = nil
	told := map[string]error{}
	for _, label := range labels {
		told[label] = f.Outcome(label)
	}
	return told
}

var endings = map[string]func(storage.Tx) error{
	"well":  nothing,
	"error": func(storage.Tx) error { return errors.New("the update's own error") },
	"panic": func(storage.Tx) error { panic("an end") },
	"hides": hides(func(tx storage.Tx) error {
		_, err := tx.Agents().List()
		return err
	}),
}

func inject(planned []fault) committest.Hook {
	seen := map[string]int{}
	return func(c *committest.Conn, query string) error {
		for _, kind := range []string{"BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK TO", "INSERT INTO events", "SELECT"} {
			if !strings.HasPrefix(query, kind) {
				continue
			}
			seen[kind]++
			for _, f := range planned {
				if f.Statement == kind && f.Nth == seen[kind] {
					if f.Ends {
						_ = c.Raw("ROLLBACK") // fails if no transaction is open, as at BEGIN
					}
					return committest.ErrInjected
				}
			}
		}
		return nil
	}
}

// sameAsStored compares what one run acknowledged with what is in the store.
func (f *fixture) sameAsStored(run string, told map[string]error) error {
	var want, got []string
	for label, err := range told {
		if err == nil {
			want = append(want, label)
		}
	}
	err := f.store.View(context.Background(), func(tx storage.Tx) error {
		list, err := tx.Log().Events(0, 1<<20)
		for i, e := range list {
			if e.Num != int64(i+1) {
				return fmt.Errorf("the event %s has the number %d, want %d", e.Kind, e.Num, i+1)
			}
			if strings.HasPrefix(string(e.Kind), run+"/") {
				got = append(got, string(e.Kind))
			}
		}
		return err
	})
	slices.Sort(want)
	slices.Sort(got)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("stored are %v, acknowledged were %v", got, want)
	}
	return err
}
