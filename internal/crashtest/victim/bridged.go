package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var tokens = regexp.MustCompile(`(in|out)-(inbox|agentos)-[0-9]+-end`)

// checkBridges checks the home and the trees after the bridges have ended. Each document must be one message, with one task if it
// asked for a task. Each message must be one file. No document may be refused.
func checkBridges(ctx context.Context, base string, count int) error {
	b, err := openBridged(ctx, base)
	if err != nil {
		return err
	}
	messages, err := b.tokensStored(ctx)
	files, fileErr := b.tokensWritten()
	err = errors.Join(err, fileErr, b.db.Checked(ctx), checkDeep(ctx, b.db), b.db.Close())
	for n := range count {
		for _, l := range []parley.Layout{parley.LayoutInbox, parley.LayoutAgentOS} {
			in, out := token("in", l, n), token("out", l, n)
			if messages[in] != 1 || messages[out] != 1 || files[out] != 1 {
				err = errors.Join(err, fmt.Errorf("%s is %d messages, %s %d, in %d files", in, messages[in], out, messages[out], files[out]))
			}
		}
		if channel := token("in", parley.LayoutAgentOS, n); files[channel] != 1 {
			err = errors.Join(err, fmt.Errorf("%s is in %d files of its channel", channel, files[channel]))
		}
	}
	return err
}

// tokensStored counts the messages with each token. It requires that each message to the keeper has one delivery, and a task if
// the message is a request for a task.
func (b bridged) tokensStored(ctx context.Context) (map[string]int, error) {
	seen := map[string]int{}
	err := eachMessage(ctx, b.db, func(tx storage.Tx, m parley.Message) error {
		seen[tokens.FindString(m.Content.Text)]++
		if m.To != keeper {
			return nil
		}
		list, err := tx.Deliveries().OfMessage(m.ID)
		if err == nil && (len(list) != 1 || (m.Type == parley.TypeTask) != (m.Task != "")) {
			err = fmt.Errorf("message %s has %d deliveries, and the task %q", m.ID, len(list), m.Task)
		}
		return err
	})
	return seen, err
}

// tokensWritten counts the files with each token. It fails if a document was refused.
func (b bridged) tokensWritten() (map[string]int, error) {
	seen := map[string]int{}
	for _, l := range []parley.Layout{parley.LayoutInbox, parley.LayoutAgentOS} {
		err := filepath.WalkDir(b.tree(l), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if filepath.Base(filepath.Dir(path)) == "rejected" {
				return fmt.Errorf("%s was refused", entry.Name())
			}
			if filepath.Ext(path) == ".json" {
				raw, err := os.ReadFile(path)
				seen[string(tokens.Find(raw))]++
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}
