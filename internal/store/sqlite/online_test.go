package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// A backup made while others post is the state at one moment: all up to a seq, and nothing after it.
func TestBackupWhilePosting(t *testing.T) {
	home, _ := filled(t)
	db := opened(t, home)
	c := general(t, db)
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		errs  []error
		done  = make(chan struct{})
	)
	for poster := range 8 {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if _, err := postBody(db, c, fmt.Sprintf("poster %d, message %d", poster, n/2)); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, err)
					return
				}
			}
		})
	}
	var made []parley.Backup
	dirs := t.TempDir()
	for i := range 3 {
		m, err := db.Backup(t.Context(), filepath.Join(dirs, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, m)
	}
	close(done)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	all := scan(t, db)
	for i, m := range made {
		home := filepath.Join(t.TempDir(), "home")
		if _, err := Restore(t.Context(), filepath.Join(dirs, fmt.Sprint(i)), home); err != nil {
			t.Fatal(err)
		}
		restored := opened(t, home)
		if err := deep(t, restored); err != nil {
			t.Error(err)
		}
		got := scan(t, restored)
		if int64(len(got)) != m.Messages || !slices.Equal(got, all[:min(len(got), len(all))]) || got[len(got)-1].seq != m.Seq {
			t.Errorf("backup %d of %d messages is no beginning of the %d there are", i, len(got), len(all))
		}
	}
	if made[0].Messages >= int64(len(all)) {
		t.Error("nothing was posted meanwhile: the test shows nothing")
	}
}

type seqAndID struct {
	seq int64
	id  string
}

func scan(t *testing.T, db *DB) (found []seqAndID) {
	t.Helper()
	err := db.View(t.Context(), func(tx storage.Tx) error {
		list, err := tx.Messages().Scan(0, 1<<20)
		for _, m := range list {
			found = append(found, seqAndID{m.Seq, m.ID})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Artifacts that are collected meanwhile are in the backup, or their rows are not.
func TestBackupWhileCollecting(t *testing.T) {
	db := opened(t, madeHomes(t).empty.in(t))
	general(t, db)
	dirs := t.TempDir()
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			digest, err := putBody(db, fmt.Sprint("body ", n))
			if err == nil && n%2 == 0 {
				err = db.Blobs().Remove(context.Background(), digest, func() (yes bool, err error) {
					err = db.Update(context.Background(), func(tx storage.Tx) (err error) {
						yes, err = tx.Artifacts().Forget(digest, time.Now())
						return err
					})
					return yes, err
				})
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 8 {
		if _, err := db.Backup(t.Context(), filepath.Join(dirs, fmt.Sprint(i))); err != nil {
			t.Error(err)
		}
	}
	close(done)
	group.Wait()
}
