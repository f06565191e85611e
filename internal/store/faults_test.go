package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

// fault makes the nth statement of a kind fail, with or without its transaction.
type fault struct {
	Statement string
	Nth       int
	Gone      bool
}

var faults = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fault {
	return fault{
		Statement: rapid.SampledFrom([]string{
			"BEGIN", "COMMIT", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK TO", "INSERT INTO events", "SELECT",
		}).Draw(t, "statement"),
		Nth:  rapid.IntRange(1, 12).Draw(t, "nth"),
		Gone: rapid.Bool().Draw(t, "gone"),
	}
}), 0, 4)

// Whatever statements fail and however updates end: the acknowledged ones are stored, all others are
// not, and everybody is told something.
func TestRandomFaultsLoseNothingAndAcknowledgeNothingFalsely(t *testing.T) {
	play(t, func(s *scene) {
		run := 0
		// A bubble has no deadline, so rapid must not ask for it.
		rapid.Check(struct{ testing.TB }{s.T}, func(t *rapid.T) {
			run++
			ends := rapid.SliceOfN(rapid.SampledFrom([]string{"well", "well", "hides", "error", "panic"}), 1, 10).Draw(t, "ends")
			told := s.withFaults(fmt.Sprint("run-", run), ends, faults.Draw(t, "faults"))
			if err := s.sameAsStored(fmt.Sprint("run-", run), told); err != nil {
				t.Fatal(err)
			}
			for label, err := range told {
				s.told[label] = err
			}
		})
	})
}

// withFaults runs updates in one batch while statements fail, and returns what each was told.
func (s *scene) withFaults(run string, ends []string, planned []fault) map[string]error {
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		told = map[string]error{}
		gate = make(chan struct{})
	)
	update := func(label string, fn func(storage.Tx) error) {
		wg.Go(func() {
			err := s.store.Update(context.Background(), s.writing(label, fn))
			mu.Lock()
			defer mu.Unlock()
			told[label] = err
		})
		synctest.Wait()
	}
	update(run+"/held", func(storage.Tx) error {
		<-gate
		return nil
	})
	for i, end := range ends {
		update(fmt.Sprintf("%s/%d", run, i), endings[end])
	}
	s.driver.writer.before = inject(planned)
	close(gate)
	wg.Wait()
	s.driver.writer.before = nil
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

func inject(planned []fault) func(*testConn, string) error {
	seen := map[string]int{}
	return func(c *testConn, query string) error {
		for _, kind := range []string{"BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK TO", "INSERT INTO events", "SELECT"} {
			if !strings.HasPrefix(query, kind) {
				continue
			}
			seen[kind]++
			for _, f := range planned {
				if f.Statement == kind && f.Nth == seen[kind] {
					if f.Gone {
						_ = c.raw("ROLLBACK") // fails where none was open, as at BEGIN
					}
					return errInjected
				}
			}
		}
		return nil
	}
}

// sameAsStored compares what one run acknowledged with what is in the store.
func (s *scene) sameAsStored(run string, told map[string]error) error {
	var want, got []string
	for label, err := range told {
		if err == nil {
			want = append(want, label)
		}
	}
	err := s.store.View(context.Background(), func(tx storage.Tx) error {
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
