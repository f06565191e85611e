package committest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Fixture hands updates to a writer and keeps the outcome of each. Use it within a synctest bubble: the clock of a bubble stands
// still while a goroutine runs, so a batch ends only when it has enough updates.
type Fixture[T any] struct {
	*testing.T
	Conn *Conn // the connection that writes
	WG   sync.WaitGroup

	target   Target[T]
	mu       sync.Mutex
	outcomes map[string]error // by label, for updates that have returned
	runs     map[string]int   // by label: how often the function of the update ran
}

// Target is the writer under test.
type Target[T any] struct {
	// Update is the method under test.
	Update func(ctx context.Context, fn func(T) error) error
	// Write stores the label of an update.
	Write func(tx T, label string) error
	// Writes is the beginning of the SQL statement that Write runs.
	Writes string
}

// New returns a fixture for a writer on a connection.
func New[T any](t *testing.T, conn *Conn, target Target[T]) *Fixture[T] {
	return &Fixture[T]{T: t, Conn: conn, target: target, outcomes: map[string]error{}, runs: map[string]int{}}
}

// Submit hands an update to the writer and does not wait for its outcome. The update stores its label and then calls more.
func (f *Fixture[T]) Submit(label string, more ...func(T) error) {
	f.SubmitWith(context.Background(), label, more...)
}

// SubmitWith is Submit with a context.
func (f *Fixture[T]) SubmitWith(ctx context.Context, label string, more ...func(T) error) {
	f.WG.Go(func() {
		err := f.target.Update(ctx, f.writing(label, more...))
		f.mu.Lock()
		defer f.mu.Unlock()
		f.outcomes[label] = err
	})
	synctest.Wait() // until the update runs, is in the queue or waits for room in the queue
}

func (f *Fixture[T]) writing(label string, more ...func(T) error) func(T) error {
	return func(tx T) error {
		f.mu.Lock()
		f.runs[label]++
		f.mu.Unlock()
		if err := f.target.Write(tx, label); err != nil {
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

// Hold keeps the writer busy with an update that has the label held, so that updates which are submitted meanwhile wait.
// release ends that update and waits for all updates.
func (f *Fixture[T]) Hold() (release func()) {
	gate := make(chan struct{})
	var once sync.Once
	f.Submit("held", func(T) error {
		<-gate
		return nil
	})
	return func() {
		once.Do(func() { close(gate) })
		f.WG.Wait()
	}
}

// Together submits updates while Hold keeps the writer busy. They run in one batch, after the held update.
func (f *Fixture[T]) Together(updates ...func()) {
	release := f.Hold()
	for _, submit := range updates {
		submit()
	}
	release()
}

// Plain returns a function that submits an update which only stores its label.
func (f *Fixture[T]) Plain(label string) func() { return func() { f.Submit(label) } }

// With returns a function that submits an update.
func (f *Fixture[T]) With(label string, more ...func(T) error) func() {
	return func() { f.Submit(label, more...) }
}

// CountOutcomes returns how many updates have returned.
func (f *Fixture[T]) CountOutcomes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.outcomes)
}

// Expect makes Verify expect a label that no update of the fixture has written.
func (f *Fixture[T]) Expect(label string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outcomes[label] = nil
}

// Outcome returns the error of an update, or nil if it succeeded. It ends the test if the update has not returned.
func (f *Fixture[T]) Outcome(label string) error {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ok := f.outcomes[label]
	if !ok {
		f.Fatalf("%s has not returned", label)
	}
	return err
}

// Acknowledged requires that updates succeeded.
func (f *Fixture[T]) Acknowledged(labels ...string) {
	f.Helper()
	for _, label := range labels {
		if err := f.Outcome(label); err != nil {
			f.Errorf("%s returned %v", label, err)
		}
	}
}

// Refused requires that an update returned an error.
func (f *Fixture[T]) Refused(label string, want error) {
	f.Helper()
	if err := f.Outcome(label); !errors.Is(err, want) {
		f.Errorf("%s returned %v, want %v", label, err, want)
	}
}

// Ran requires that the function of an update ran so many times.
func (f *Fixture[T]) Ran(label string, want int) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if got := f.runs[label]; got != want {
		f.Errorf("%s ran %d times, want %d", label, got, want)
	}
}

// Batches requires transactions with these numbers of updates.
func (f *Fixture[T]) Batches(want ...int) {
	f.Helper()
	if got := f.Conn.Batches(f.target.Writes); !slices.Equal(got, want) {
		f.Errorf("batches of %v, want %v", got, want)
	}
}

// Verify compares the stored labels with those of the updates that succeeded. It fails if the label of such an update is
// missing, or if the label of a failed update is stored.
func (f *Fixture[T]) Verify(stored []string) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var want []string
	for label, err := range f.outcomes {
		if err == nil {
			want = append(want, label)
		}
	}
	slices.Sort(want)
	if slices.Sort(stored); !slices.Equal(stored, want) {
		f.Errorf("stored are %v, acknowledged were %v", stored, want)
	}
}
