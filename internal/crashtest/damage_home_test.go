package crashtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// sampleHome holds the files of an undamaged home, and the messages, artifacts and conversations stored in it.
type sampleHome struct {
	files         map[string][]byte
	messages      map[string]parley.Message
	artifacts     map[string][]byte
	conversations []string
	seq           int64 // of the newest message
}

var readers = []string{"arya", "ned", parley.Owner}

// sampleHomes makes two homes with the same content: the hub of one was closed, the hub of the other was killed.
func sampleHomes(t *testing.T) map[string]sampleHome {
	t.Helper()
	home := t.TempDir()
	db, err := sqlite.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.New(t.Context(), db, hub.Config{Log: slog.New(slog.DiscardHandler), Rate: hub.Rate{PerSecond: -1}})
	if err != nil {
		t.Fatal(err)
	}
	h.Start(t.Context())
	s := sampleHome{messages: map[string]parley.Message{}, artifacts: map[string][]byte{}}
	if err := errors.Join(s.fill(t.Context(), h), s.recordStored(t.Context(), db)); err != nil {
		t.Fatal(err)
	}
	crashed, closed := s, s
	crashed.files = filesOf(t, home)
	h.Stop()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	closed.files = filesOf(t, home)
	return map[string]sampleHome{"killed": crashed, "closed": closed}
}

// fill posts messages of all sizes, some with artifacts, to two agents and a channel. Then each agent takes ten messages.
func (s *sampleHome) fill(ctx context.Context, h *hub.Hub) error {
	user := hub.Caller{Agent: parley.Owner, Source: "test"}
	for _, id := range readers[:2] {
		if _, err := h.AddAgent(ctx, user, parley.NewAgent{ID: id}); err != nil {
			return err
		}
	}
	if _, err := h.CreateConversation(ctx, user, parley.NewConversation{Name: "hall", With: readers[:2]}); err != nil {
		return err
	}
	for i := range 60 {
		if err := s.post(ctx, h, i); err != nil {
			return err
		}
	}
	for _, id := range readers[:2] {
		if _, err := h.Take(ctx, hub.Caller{Agent: id, Source: "test"}, parley.Take{Limit: 10, AtMostOnce: true}); err != nil {
			return err
		}
	}
	_, err := h.Search(ctx, user, parley.SearchRequest{Query: "words"}) // the search waits for the index
	return err
}

func (s *sampleHome) post(ctx context.Context, h *hub.Hub, i int) error {
	from, to := readers[i%3], readers[(i+1)%3]
	caller := hub.Caller{Agent: from, Source: "test"}
	d := parley.Draft{
		To: to, Content: parley.Content{Text: fmt.Sprintf("words %d %s", i, strings.Repeat("and more ", i*i))},
		IdempotencyKey: fmt.Sprintf("key-%d", i),
	}
	if d.Conversation = "hall"; i%2 == 0 {
		d.Conversation, d.Direct = "", []string{to}
	}
	if i%10 == 0 {
		body := bytes.Repeat(fmt.Appendf(nil, "body %d ", i), 1+i*i*10)
		a, err := h.PutArtifact(ctx, caller, bytes.NewReader(body))
		if err != nil {
			return err
		}
		s.artifacts[a.SHA256] = body
		d.Content.Artifacts = []parley.Artifact{a}
	}
	_, err := h.Post(ctx, caller, d)
	return err
}

// recordStored records all conversations and messages, before the test damages the home.
func (s *sampleHome) recordStored(ctx context.Context, db storage.Store) error {
	return db.View(ctx, func(tx storage.Tx) error {
		conversations, err := tx.Conversations().Scan("", 1000)
		for _, c := range conversations {
			s.conversations = append(s.conversations, c.ID)
		}
		if err != nil {
			return err
		}
		list, err := tx.Messages().Scan(0, 1000)
		for _, m := range list {
			s.messages[m.ID], s.seq = m, max(s.seq, m.Seq)
		}
		return err
	})
}

func filesOf(t *testing.T, home string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, ".lock") {
			return err
		}
		name, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		found[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// writeHome writes files to a new home. It leaves out the files that are nil.
func writeHome(t *testing.T, files map[string][]byte) string {
	t.Helper()
	home := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] == nil {
			continue
		}
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, files[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}
