package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// fillDisk mounts a small disk, posts until the disk is full and beyond, frees space and posts again. Then it checks that the
// acknowledged messages are stored and the refused ones are not.
func fillDisk(ctx context.Context, dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		return fmt.Errorf("mounting a small disk: %w", err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 11<<20), 0o600); err != nil {
		return err
	}
	home := filepath.Join(dir, "home")
	h, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	var acknowledged bytes.Buffer
	refused, err := postUntilFull(ctx, h, &acknowledged)
	if err != nil {
		return err
	}
	if err := storeWhileFull(ctx, h, db, dir); err != nil {
		return err
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	for n := range 20 {
		receipt, err := h.Post(ctx, hub.Caller{Agent: agentID(n)}, parley.Draft{
			Direct: []string{agentID(n + 1)}, Content: parley.Content{Text: fmt.Sprintf("after-%d", n)},
		})
		if err != nil {
			return fmt.Errorf("there is room again, but: %w", err)
		}
		_, _ = fmt.Fprintln(&acknowledged, receipt.Message.ID, receipt.Message.Content.Text)
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := checkAbsent(ctx, home, strings.NewReader(strings.Join(refused, "\n"))); err != nil {
		return err
	}
	fmt.Printf("%d acknowledged, %d refused\n", strings.Count(acknowledged.String(), "\n"), len(refused))
	return verify(ctx, home, &acknowledged)
}

const (
	fillers      = 8
	enoughErrors = 10 // a filler stops after this many refusals
)

// postUntilFull posts large messages from several goroutines, so that the disk fills in the middle
// of a batch, and returns the texts that were refused.
func postUntilFull(ctx context.Context, h *hub.Hub, acknowledged *bytes.Buffer) (refused []string, err error) {
	var (
		mu    sync.Mutex
		group sync.WaitGroup
	)
	for w := range fillers {
		group.Go(func() {
			for n, failed := 0, 0; failed < enoughErrors && n < 10_000; n++ {
				text := fmt.Sprintf("fill-%d-%d-%s", w, n, strings.Repeat("x", 4000))
				receipt, postErr := h.Post(ctx, hub.Caller{Agent: agentID(w)}, parley.Draft{
					Direct: []string{agentID(w + 1)}, Content: parley.Content{Text: text},
				})
				mu.Lock()
				if postErr == nil {
					_, _ = fmt.Fprintln(acknowledged, receipt.Message.ID, text)
				} else {
					failed++
					refused = append(refused, text)
					if e := parley.AsError(postErr); e.Code != parley.Unavailable || e.Reason != parley.StorageFull {
						err = fmt.Errorf("a full disk was answered by: %w", postErr)
					}
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(refused) < fillers*enoughErrors {
		err = errors.Join(err, errors.New("the disk did not fill"))
	}
	return refused, err
}

// storeWhileFull tries to store an artifact and to make a backup on the full disk. Both must fail as StorageFull, and leave no
// files.
func storeWhileFull(ctx context.Context, h *hub.Hub, db *sqlite.DB, dir string) error {
	_, storeErr := h.PutArtifact(ctx, hub.Caller{Agent: agentID(0)}, bytes.NewReader(make([]byte, 4<<20)))
	_, backupErr := db.Backup(ctx, filepath.Join(dir, "backup"))
	for what, err := range map[string]error{"an artifact": storeErr, "a backup": backupErr} {
		if e := parley.AsError(err); err == nil || e.Code != parley.Unavailable || e.Reason != parley.StorageFull {
			return fmt.Errorf("%s on a full disk was answered by: %w", what, err)
		}
	}
	for _, pattern := range []string{"backup*", "home/artifacts/*"} {
		if files, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(files) > 0 {
			return fmt.Errorf("left behind: %v %w", files, err)
		}
	}
	return nil
}

// small mounts a small disk, and replaces this process by a program that runs in it.
func small(dir string, args []string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		return fmt.Errorf("mounting a small disk: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return err
	}
	return syscall.Exec(args[0], args, os.Environ())
}
