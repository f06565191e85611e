package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store"
)

// postBody stores a body and a message that refers to it.
func postBody(db *DB, c parley.Conversation, text string) error {
	ctx := context.Background()
	return db.Blobs().Put(ctx, strings.NewReader(text), 1<<20, func(sha256 string, size int64) error {
		id := uuid.NewString()
		m := parley.Message{
			ID: id, TraceID: id, Conversation: c.ID, From: "arya", Type: parley.TypeChat, Priority: parley.DefaultPriority, Source: "api",
			Content: parley.Content{Text: text, Artifacts: []parley.Artifact{{SHA256: sha256, Size: size}}},
		}
		return db.Update(ctx, func(tx storage.Tx) (err error) {
			kept := storage.StoredArtifact{SHA256: sha256, Size: size, StoredAt: time.UnixMilli(1)}
			if err := tx.Artifacts().Put(kept, "arya"); err != nil {
				return err
			}
			if m.Seq, err = tx.Messages().NextSeq(); err != nil {
				return err
			}
			m.Checksum = m.Seal(m.BodyDigest())
			return tx.Messages().Insert(m)
		})
	})
}

// filled is a store with a few messages and artifacts, and its address.
func filled(t *testing.T) (*DB, parley.Conversation, string) {
	t.Helper()
	url := migrated.Copy(t)
	db := opened(t, url)
	c := prepare(t, db)
	err := db.Update(t.Context(), func(tx storage.Tx) error { return tx.Log().AppendAudit(parley.AuditEntry{Act: "begin"}) })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := postBody(db, c, fmt.Sprint("message ", i)); err != nil {
			t.Fatal(err)
		}
	}
	return db, c, url
}

func backedUp(t *testing.T) string {
	t.Helper()
	db, _, _ := filled(t)
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := db.Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ids are the messages of a store, in order.
func ids(t *testing.T, db *DB) (found []string) {
	t.Helper()
	err := db.View(t.Context(), func(tx storage.Tx) error {
		list, err := tx.Messages().Scan(0, 1<<20)
		for _, m := range list {
			found = append(found, m.ID)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if parley.AsError(err).Suggestion == "" {
		t.Errorf("%q suggests nothing", err)
	}
}

func TestBackupWhilePostingCanBeRestored(t *testing.T) {
	db, c, _ := filled(t)
	var group sync.WaitGroup
	done := make(chan struct{})
	for poster := range 4 {
		group.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if err := postBody(db, c, fmt.Sprintf("poster %d, message %d", poster, n/2)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "backup")
	m, err := db.Backup(t.Context(), dir)
	close(done)
	group.Wait()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "messages.copy"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	all := ids(t, db)
	url := pgtest.URL(t)
	if _, err := Restore(t.Context(), dir, url); err != nil {
		t.Fatal(err)
	}
	restored := opened(t, url)
	got := ids(t, restored)
	if int64(len(got)) != m.Messages || len(got) > len(all) || !slices.Equal(got, all[:len(got)]) {
		t.Errorf("%d messages are no beginning of the %d there are", len(got), len(all))
	}
	if err := postBody(restored, c, "goes on"); err != nil {
		t.Error(err)
	}
	err = restored.Update(t.Context(), func(tx storage.Tx) error {
		return tx.Conversations().Insert(parley.Conversation{
			ID: uuid.NewString(), Name: "new", Kind: parley.Channel, Visibility: parley.Public, CreatedBy: "arya",
		})
	})
	if err != nil {
		t.Errorf("a conversation after the restore: %v", err)
	}
}

func TestOneFlippedByteInABackupIsFound(t *testing.T) {
	dir := backedUp(t)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			damaged := bytes.Clone(whole)
			damaged[r.IntN(len(whole))] ^= 1 << r.IntN(8)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := store.VerifyBackup(t.Context(), dir, manifestDatabase); err == nil {
				t.Errorf("%s was changed, and nobody noticed", file.Name())
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRestoreRefusesADatabaseInUseAndLeavesIt(t *testing.T) {
	dir := backedUp(t)
	db, _, url := filled(t)
	before := ids(t, db)
	_, err := Restore(t.Context(), dir, url)
	says(t, err, "E003", "is not empty", "new database")
	if got := ids(t, db); !slices.Equal(got, before) {
		t.Error("its messages are others now")
	}
}

func TestRestoreThatFailsLeavesADatabaseToRestoreInto(t *testing.T) {
	dir, url := backedUp(t), pgtest.URL(t)
	broken := t.TempDir()
	if err := os.CopyFS(broken, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	m, err := store.ReadManifest(dir, manifestDatabase)
	if err != nil {
		t.Fatal(err)
	}
	m.Files = slices.DeleteFunc(m.Files, func(f store.ManifestFile) bool { return f.Path == "agents.copy" }) // what others refer to
	if err := errors.Join(os.Remove(filepath.Join(broken, store.ManifestName)), m.Write(broken)); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), broken, url); err == nil {
		t.Fatal("half a backup was restored")
	}
	if _, err := Restore(t.Context(), dir, url); err != nil {
		t.Errorf("the whole one afterwards: %v", err)
	}
}

func TestBackupOfNewerTablesOrAnotherStoreIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(*store.Manifest)
		words []string
	}{
		"newer":  {func(m *store.Manifest) { m.Schema, m.Program = 1000, "7.0.0" }, []string{"E002", "newer tables", "install parley 7.0.0"}},
		"sqlite": {func(m *store.Manifest) { m.Database = "sqlite" }, []string{"E003", "sqlite"}},
	} {
		dir := backedUp(t)
		m, err := store.ReadManifest(dir, manifestDatabase)
		if err != nil {
			t.Fatal(err)
		}
		c.edit(&m)
		if err := errors.Join(os.Remove(filepath.Join(dir, store.ManifestName)), m.Write(dir)); err != nil {
			t.Fatal(err)
		}
		_, err = Restore(t.Context(), dir, pgtest.URL(t))
		t.Log(name)
		says(t, err, c.words...)
	}
}

func TestBackupOfDamagedDataFailsAndLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct{ statement, words string }{
		"message": {"UPDATE messages SET text = 'forged' WHERE seq = 3", "does not match its checksum"},
		"body":    {"UPDATE artifact_chunks SET data = 'message x'", "the body of an artifact is damaged"},
		"missing": {"DELETE FROM artifact_chunks", "is missing"},
		"inbox":   {"INSERT INTO inboxes (agent, waking, quiet, evicted) SELECT num, 7, 2, 0 FROM agents LIMIT 1 ON CONFLICT (agent) DO UPDATE SET waking = 7, quiet = 2", "says that 7 waking, 2 quiet and"},
		"count":   {"UPDATE artifacts SET refs = 7", "says that 7 messages refer to it, but 1 do"},
	} {
		t.Run(name, func(t *testing.T) {
			db, _, url := filled(t)
			raw(t, url, c.statement)
			dir := filepath.Join(t.TempDir(), "backup")
			_, err := db.Backup(t.Context(), dir)
			says(t, err, c.words)
			for _, path := range []string{dir, dir + ".partial"} {
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is there: %v", path, err)
				}
			}
		})
	}
}

func TestCancelledBackupLeavesNothing(t *testing.T) {
	db, _, _ := filled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := db.Backup(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(dir + ".partial"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// A backup of an older program is loaded into the tables of its time.
func TestMigrationsCanStopAtAVersion(t *testing.T) {
	d, err := newDialer(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	known, err := programMigrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []int64{1, known.newest} {
		if err := d.migrate(t.Context(), known.upTo(version)); err != nil {
			t.Fatal(err)
		}
		c, err := d.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found, err := inspect(t.Context(), c)
		if err := errors.Join(err, c.Close(t.Context())); err != nil || found.version != version {
			t.Errorf("version %d, want %d: %v", found.version, version, err)
		}
	}
}

func TestTablesComeAfterThoseTheyReferTo(t *testing.T) {
	got, err := orderByReferences([]table{{"a", []string{"c"}}, {"b", nil}, {"c", []string{"b"}}})
	if err != nil || !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := orderByReferences([]table{{"a", []string{"b"}}, {"b", []string{"a"}}}); err == nil {
		t.Error("a cycle was put in order")
	}
}
