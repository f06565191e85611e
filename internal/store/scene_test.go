package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// scene is a store and the updates that were handed to it at once. It runs in a bubble, whose clock
// stands still while anything works, so that batches are cut by number alone.
type scene struct {
	*testing.T
	driver *testDriver
	store  *Store
	told   map[string]error // by label, once it was told
	runs   map[string]int   // how often its function ran
	mu     sync.Mutex
	wg     sync.WaitGroup
	closed bool
}

// play runs a scene and requires at its end that what was acknowledged is exactly what is stored.
func play(t *testing.T, act func(*scene)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		driver := openDriver(t, filepath.Join(t.TempDir(), "test.db"))
		driver.createSchema(t)
		s := &scene{T: t, driver: driver, store: New(driver), told: map[string]error{}, runs: map[string]int{}}
		defer s.close() // also where the act fails
		act(s)
		s.wg.Wait()
		s.close()
		s.verify()
	})
}

func (s *scene) close() {
	if s.closed {
		return
	}
	s.closed = true
	if err := s.store.Close(); err != nil {
		s.Errorf("closing: %v", err)
	}
}

// submit hands an update over and does not wait for it. Its label is stored as an event.
func (s *scene) submit(label string, more ...func(storage.Tx) error) {
	s.submitWith(context.Background(), label, more...)
}

func (s *scene) submitWith(ctx context.Context, label string, more ...func(storage.Tx) error) {
	s.wg.Go(func() {
		err := s.store.Update(ctx, s.writing(label, more...))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.told[label] = err
	})
	synctest.Wait() // it is in the queue, or waits for room in it, before the next one comes
}

// writing stores the label and goes on with more.
func (s *scene) writing(label string, more ...func(storage.Tx) error) func(storage.Tx) error {
	return func(tx storage.Tx) error {
		s.mu.Lock()
		s.runs[label]++
		s.mu.Unlock()
		if err := tx.Log().Append(parley.Event{Kind: parley.EventKind(label)}); err != nil {
			return err
		}
		for _, fn := range more {
			if err := fn(tx); err != nil {
				return err
			}
		}
		return nil
	}
}

// hold keeps the writer busy until it is released, so that what is submitted meanwhile waits.
func (s *scene) hold() (release func()) {
	gate := make(chan struct{})
	var once sync.Once
	s.submit("held", func(storage.Tx) error {
		<-gate
		return nil
	})
	return func() {
		once.Do(func() { close(gate) })
		s.wg.Wait()
	}
}

// together submits updates while the writer is held: they are run in one batch, after the held one.
func (s *scene) together(updates ...func()) {
	release := s.hold()
	for _, submit := range updates {
		submit()
	}
	release()
}

// plain submits an update that only stores its label.
func (s *scene) plain(label string) func() { return func() { s.submit(label) } }

func (s *scene) with(label string, more ...func(storage.Tx) error) func() {
	return func() { s.submit(label, more...) }
}

// outcome is what an update was told, which must have happened.
func (s *scene) outcome(label string) error {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	err, ok := s.told[label]
	if !ok {
		s.Fatalf("%s was told nothing", label)
	}
	return err
}

func (s *scene) acknowledged(labels ...string) {
	s.Helper()
	for _, label := range labels {
		if err := s.outcome(label); err != nil {
			s.Errorf("%s was told %v", label, err)
		}
	}
}

func (s *scene) refused(label string, want error) {
	s.Helper()
	if err := s.outcome(label); !errors.Is(err, want) {
		s.Errorf("%s was told %v, want %v", label, err, want)
	}
}

func (s *scene) ran(label string, want int) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.runs[label]; got != want {
		s.Errorf("%s ran %d times, want %d", label, got, want)
	}
}

func (s *scene) batches(want ...int) {
	s.Helper()
	if got := s.driver.writer.batches(); !slices.Equal(got, want) {
		s.Errorf("batches of %v, want %v", got, want)
	}
}

// verify opens the file anew and compares: neither may an acknowledged update be lost, nor a refused
// one be there, and the numbers have no gaps.
func (s *scene) verify() {
	s.Helper()
	var want []string
	for label, err := range s.told {
		if err == nil {
			want = append(want, label)
		}
	}
	got, err := storedLabels(s.driver.path)
	if err != nil {
		s.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Errorf("stored are %v, acknowledged were %v", got, want)
	}
}

func storedLabels(path string) (labels []string, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.Query("SELECT num, kind FROM events ORDER BY num")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var num int
		var label string
		if err := rows.Scan(&num, &label); err != nil {
			return nil, err
		}
		labels = append(labels, label)
		if num != len(labels) {
			return nil, fmt.Errorf("%s has the number %d, want %d", label, num, len(labels))
		}
	}
	return labels, rows.Err()
}
