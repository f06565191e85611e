package committest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// Fixture hands updates to a writer and keeps what each was told. It is used within a synctest bubble, whose clock stands still
// while anything runs, so that only their number ends batches.
type Fixture[T any] struct {
	*testing.T
	Conn *Conn // the connection that writes
	WG   sync.WaitGroup

	target   Target[T]
	mu       sync.Mutex
	outcomes map[string]error // by label, once it was told
	runs     map[string]int   // how often its function ran
}

// Target is the writer under test.
type Target[T any] struct {
	// Update is the method under test.
	Update func(ctx context.Context, fn func(T) error) error
	// Write stores the label of an update.
	Write func(tx T, label string) error
	// Writes is how the statement of Write begins.
	Writes string
}

// New returns a fixture for a writer on a connection.
func New[T any](t *testing.T, conn *Conn, target Target[T]) *Fixture[T] {
	return &Fixture[T]{T: t, Conn: conn, target: target, outcomes: map[string]error{}, runs: map[string]int{}}
}

// Submit hands an update over and does not wait for it. The update stores its label and goes on with more.
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
	synctest.Wait() // it is in the queue, or waits for room in it, before the next one comes
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

// Hold keeps the writer busy with an update that is called held, so that what is submitted meanwhile waits. release ends it and waits
// for all updates.
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

// Together submits updates while the writer is held: they run in one batch, after the held one.
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

// CountOutcomes returns how many updates were told their outcome.
func (f *Fixture[T]) CountOutcomes() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.outcomes)
}

// Expect notes that a label is stored that no update of the fixture has written.
func (f *Fixture[T]) Expect(label string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.outcomes[label] = nil
}

// Outcome returns what an update was told. The test ends if it was told nothing.
func (f *Fixture[T]) Outcome(label string) error {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ok := f.outcomes[label]
	if !ok {
		f.Fatalf("%s was told nothing", label)
	}
	return err
}

// Acknowledged requires that updates succeeded.
func (f *Fixture[T]) Acknowledged(labels ...string) {
	f.Helper()
	for _, label := range labels {
		if err := f.Outcome(label); err != nil {
			f.Errorf("%s was told %v", label, err)
		}
	}
}

// Refused requires that an update was told an error.
func (f *Fixture[T]) Refused(label string, want error) {
	f.Helper()
	if err := f.Outcome(label); !errors.Is(err, want) {
		f.Errorf("%s was told %v, want %v", label, err, want)
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

// Verify compares the labels that are stored with those that were acknowledged: no acknowledged one may be lost, and no refused one may
// be stored.
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
