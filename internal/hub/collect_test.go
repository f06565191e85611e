package hub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

const day = 24 * time.Hour

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// spoilBody changes the stored body of an artifact without the hub. nil removes the body.
func (w *fixture) spoilBody(sha256 string, content []byte) {
	w.T.Helper()
	w.NoError(stores.SpoilBlob(w.Place, sha256, content))
}

func TestUnusedArtifactIsKeptForADay(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	unused, renewed, used := w.putArtifactAs("arya", "unused"), w.putArtifactAs("arya", "renewed"), w.putArtifactAs("arya", "used")
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(used)})
	w.Clock.Advance(day)
	w.putArtifactAs("ned", "renewed")
	w.NoError(w.Sweep(ctx))
	same(t, "after a day", len(w.storedBodies()), 3)
	w.Clock.Advance(time.Millisecond)
	w.NoError(w.Sweep(ctx))
	same(t, "after more than a day", len(w.storedBodies()), 2)
	_, err := w.readArtifactAs("arya", unused.SHA256)
	wantError(t, err, notFoundError("artifact", unused.SHA256, storeFirst))
	got, err := w.readArtifactAs("arya", renewed.SHA256)
	w.NoError(err)
	same(t, "renewed", got, "renewed")
	w.Clock.Advance(1000 * day)
	w.NoError(w.Sweep(ctx))
	same(t, "much later", w.storedBodies(), []string{used.SHA256})
	same(t, "stored again", w.putArtifactAs("arya", "unused"), unused)
}

func TestDeletedConversationLetsGoOfItsArtifacts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	alone, shared := w.putArtifactAs("arya", "alone"), w.putArtifactAs("arya", "shared")
	conv := w.CreateChannel("arya", "plans").ID
	w.PostAs("arya", parley.Draft{Conversation: conv, Content: withArtifacts(alone, shared)})
	w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(shared)})
	w.Clock.Advance(2 * day)
	w.NoError(w.DeleteConversation(ctx, user, conv))
	w.NoError(w.Sweep(ctx))
	same(t, "bodies", w.storedBodies(), []string{shared.SHA256})
	report, err := w.Store.CheckDeep(ctx, nil)
	w.NoError(errors.Join(err, report.Err()))
}

// failing is a store in which removing a body fails after its row was removed, as after a crash.
type failing struct {
	storage.Store
	on *atomic.Bool
}

type failingBlobs struct {
	storage.Blobs
	on *atomic.Bool
}

func (s failing) Blobs() storage.Blobs { return failingBlobs{s.Store.Blobs(), s.on} }

func (b failingBlobs) Remove(ctx context.Context, sha256 string, unneeded func() (bool, error)) error {
	return b.Blobs.Remove(ctx, sha256, func() (bool, error) {
		yes, err := unneeded()
		if err == nil && b.on.Load() {
			err = errAgain
		}
		return yes, err
	})
}

func TestBodyThatACrashHasLeftIsRemovedLater(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*fixture){"by the same hub": func(*fixture) {}, "after a restart": (*fixture).Restart} {
		t.Run(name, func(t *testing.T) {
			on := &atomic.Bool{}
			w := newHub(t, func(w *fixture) {
				w.WrapStore = func(s storage.Store) storage.Store { return failing{s, on} }
			})
			w.AddAgents("arya", "ned")
			used := w.putArtifactAs("arya", "used")
			w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Content: withArtifacts(used)})
			w.putArtifactAs("arya", "unused")
			w.NoError(w.Sweep(ctx))
			w.Clock.Advance(2 * day)
			on.Store(true)
			if err := w.Sweep(ctx); !errors.Is(err, errAgain) {
				t.Fatalf("sweep: %v", err)
			}
			same(t, "the row is gone, the body is not", len(w.storedBodies()), 2)
			report, err := w.Store.CheckDeep(ctx, nil)
			w.NoError(errors.Join(err, report.Err()))
			same(t, "rows", report.Artifacts, int64(1))
			on.Store(false)
			again(w)
			w.NoError(w.Sweep(ctx))
			same(t, "bodies", w.storedBodies(), []string{used.SHA256})
		})
	}
}

// paused is a store that removes no bodies while on is true, as during a backup.
type paused struct {
	storage.Store
	on *atomic.Bool
}

type pausedBlobs struct {
	storage.Blobs
	on *atomic.Bool
}

func (s paused) Blobs() storage.Blobs { return pausedBlobs{s.Store.Blobs(), s.on} }

func (b pausedBlobs) Remove(ctx context.Context, sha256 string, unneeded func() (bool, error)) error {
	if b.on.Load() {
		return nil
	}
	return b.Blobs.Remove(ctx, sha256, unneeded)
}

// atEnd is an empty body. Reading it calls the function.
type atEnd func()

func (f atEnd) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

// A backup may be under way when a body without a row is found, or left.
func TestBodyWithoutRowIsRemovedAfterABackup(t *testing.T) {
	t.Parallel()
	on := &atomic.Bool{}
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { return paused{s, on} }
	})
	w.AddAgents("arya")
	leave := func(body string) {
		w.NoError(w.Store.Blobs().Put(ctx, strings.NewReader(body), 100, func(string, int64) error { return nil }))
	}
	on.Store(true)
	leave("found during the backup")
	w.NoError(w.Sweep(ctx))
	same(t, "during the backup", len(w.storedBodies()), 1)
	on.Store(false)
	w.NoError(w.Sweep(ctx))
	same(t, "after it", len(w.storedBodies()), 0)
	on.Store(true)
	_, err := w.PutArtifact(ctx, as("arya"), io.MultiReader(strings.NewReader("refused"), atEnd(func() { w.NoError(w.RemoveAgent(ctx, user, "arya")) })))
	same(t, "refused", parley.CodeOf(err), parley.NotPermitted)
	same(t, "left during the backup", len(w.storedBodies()), 1)
	on.Store(false)
	w.NoError(w.Sweep(ctx))
	same(t, "removed after it", len(w.storedBodies()), 0)
}

// A row whose body was lost is collected too.
func TestLostBodyDoesNotHoldCollectionUp(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	a := w.putArtifactAs("arya", "lost")
	w.putArtifactAs("arya", "other")
	w.spoilBody(a.SHA256, nil)
	w.Clock.Advance(2 * day)
	w.NoError(w.Sweep(ctx))
	same(t, "bodies", len(w.storedBodies()), 0)
	totals, err := w.ArtifactTotals(ctx, user)
	w.NoError(err)
	same(t, "rows", totals.Artifacts, int64(0))
}

// Sweeps for which everything unreferred is old enough meet puts and posts of the same few bodies.
// Whatever a post was acknowledged for must be there, and no row may be without its body.
func TestCollectionNeverTakesPostedArtifacts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	var (
		group   sync.WaitGroup
		posted  atomic.Int64
		done    = make(chan struct{})
		failure = make(chan error, 5)
	)
	for poster := range 4 {
		group.Go(func() {
			for n := range 60 {
				if err := putAndPost(w, fmt.Sprint("body ", (poster+n)%5), &posted); err != nil {
					failure <- err
					return
				}
			}
		})
	}
	go func() {
		group.Wait()
		close(done)
	}()
	sweepUntil(w, done, failure)
	select {
	case err := <-failure:
		t.Fatal(err)
	default:
	}
	if posted.Load() == 0 {
		t.Error("nothing was posted")
	}
	report, err := w.Store.CheckDeep(ctx, nil)
	w.NoError(errors.Join(err, report.Err()))
}

// putAndPost stores a body and refers to it in a message in a new conversation, which it sometimes deletes. Another goroutine moves
// the clock, so a sweep may remove the row before the post. Then the hub refuses the post, because the artifact is missing.
func putAndPost(w *fixture, body string, posted *atomic.Int64) error {
	a, err := w.PutArtifact(ctx, as("arya"), strings.NewReader(body))
	if err != nil {
		return err
	}
	r, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Ephemeral: true, Content: withArtifacts(a)})
	if parley.AsError(err) != nil && parley.AsError(err).Reason == parley.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if got, err := w.readArtifactAs("ned", a.SHA256); err != nil || got != body {
		return fmt.Errorf("posted, but got %q: %w", got, err)
	}
	if posted.Add(1)%3 == 0 {
		return nil
	}
	return w.DeleteConversation(ctx, user, r.Message.Conversation)
}

func sweepUntil(w *fixture, done chan struct{}, failure chan error) {
	for {
		select {
		case <-done:
			return
		default:
		}
		w.Clock.Advance(25 * time.Hour)
		if err := w.Sweep(ctx); err != nil {
			failure <- err
			<-done
			return
		}
	}
}
