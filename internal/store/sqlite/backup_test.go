package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
	"github.com/parley-hub/parley/internal/store/blobfs"
)

// putBody stores a body for arya and returns its digest.
func putBody(db *DB, body string) (digest string, err error) {
	err = db.Blobs().Put(context.Background(), strings.NewReader(body), 1<<20, func(sha256 string, size int64) error {
		digest = sha256
		return db.Update(context.Background(), func(tx storage.Tx) error {
			return tx.Artifacts().Put(storage.StoredArtifact{SHA256: sha256, Size: size, StoredAt: time.UnixMilli(0)}, "arya")
		})
	})
	return digest, err
}

// postBody posts a message that refers to a body of its own, and returns its id.
func postBody(db *DB, c parley.Conversation, body string) (string, error) {
	digest, err := putBody(db, body)
	if err != nil {
		return "", err
	}
	id := uuid.NewString()
	m := parley.Message{
		ID: id, TraceID: id, Conversation: c.ID, From: "arya", Type: parley.TypeChat, Priority: parley.DefaultPriority, Source: "api",
		Content: parley.Content{Text: body, Artifacts: []parley.Artifact{{SHA256: digest, Size: int64(len(body))}}},
	}
	return id, db.Update(context.Background(), func(tx storage.Tx) (err error) {
		if m.Seq, err = tx.Messages().NextSeq(); err != nil {
			return err
		}
		m.Checksum = m.Seal(m.BodyDigest())
		return tx.Messages().Insert(m)
	})
}

// rich is an open home with messages, artifacts and an audit log.
func rich(t *testing.T) (db *DB, home string, ids []string) {
	t.Helper()
	home, ids = filled(t)
	db = opened(t, home)
	c, err := prepare(db)
	for i := 0; i < 5 && err == nil; i++ {
		var id string
		id, err = postBody(db, c, fmt.Sprintf("body %d", i))
		ids = append(ids, id)
	}
	err = errors.Join(err, db.Update(t.Context(), func(tx storage.Tx) error {
		return errors.Join(tx.Log().AppendAudit(parley.AuditEntry{Act: "one"}), tx.Log().AppendAudit(parley.AuditEntry{Act: "two"}))
	}))
	if err != nil {
		t.Fatal(err)
	}
	return db, home, ids
}

// What retention has removed is no more in a backup than in the home, and neither lacks anything.
func TestBackupOfAHomeWithRemovedBodies(t *testing.T) {
	db, home, ids := rich(t)
	var gone parley.Message
	err := db.Update(t.Context(), func(tx storage.Tx) (err error) {
		if gone, err = tx.Messages().Get(ids[len(ids)-1]); err != nil {
			return err
		}
		return errors.Join(found(tx.Artifacts().Expire(gone.Content.Artifacts[0].SHA256, time.Now(), time.Now())),
			tx.Messages().Redact(must(tx.Messages().Get(ids[0])).Redacted(time.Now())))
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(home, bodiesName, blobfs.Name(gone.Content.Artifacts[0].SHA256))); err != nil {
		t.Fatal(err)
	}
	if err := deep(t, db); err != nil {
		t.Errorf("the home: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	made, err := db.Backup(t.Context(), dir)
	if err != nil || made.Messages != 15 || made.Files != 5 {
		t.Fatalf("the backup has %d messages and %d files: %v", made.Messages, made.Files, err)
	}
	if m, err := Verify(t.Context(), dir); err != nil || m.Artifacts != 4 {
		t.Errorf("the backup has %d artifacts: %v", m.Artifacts, err)
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// backedUp is a backup of such a home.
func backedUp(t *testing.T) (dir string, ids []string) {
	t.Helper()
	db, _, ids := rich(t)
	dir = filepath.Join(t.TempDir(), "backup")
	if _, err := db.Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir, ids
}

// filesIn are the files below a directory, by their path in it.
func filesIn(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			paths = append(paths, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// absentDir requires that neither a backup nor a part of it is there.
func absentDir(t *testing.T, dir string) {
	t.Helper()
	for _, path := range []string{dir, dir + ".partial"} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
}

func TestBackupHoldsEverythingAndCanBeRestored(t *testing.T) {
	db, _, ids := rich(t)
	dir := filepath.Join(t.TempDir(), "a backup?#%20")
	made, err := db.Backup(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.ReadManifest(dir, manifestDatabase)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(0)
	for _, f := range m.Files {
		size += f.Size
	}
	if want := (parley.Backup{Directory: dir, Seq: 15, Files: 6, Bytes: size, Messages: 15}); made != want {
		t.Errorf("the backup is said to be %+v, want %+v", made, want)
	}
	if m.Messages != 15 || m.Artifacts != 5 || m.Audited != 2 || m.Seq != 15 || m.Program != parley.Version || len(m.Files) != 6 {
		t.Errorf("manifest: %+v", m)
	}
	mode(t, dir, 0o700)
	for _, name := range filesIn(t, dir) {
		mode(t, filepath.Join(dir, name), 0o600)
	}
	if n := len(filesIn(t, dir)); n != 7 {
		t.Errorf("%d files: %v", n, filesIn(t, dir))
	}
	if _, err := post(db, general(t, db), "after the backup"); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "new", "home")
	if _, err := Restore(t.Context(), dir, home); err != nil {
		t.Fatal(err)
	}
	restored := opened(t, home)
	if err := restored.Checked(t.Context()); err != nil {
		t.Error(err)
	}
	holds(t, restored, ids)
	if err := deep(t, restored); err != nil {
		t.Error(err)
	}
	if _, err := post(restored, general(t, restored), "goes on"); err != nil {
		t.Error(err)
	}
	if _, err := Verify(t.Context(), dir); err != nil {
		t.Errorf("using what was restored changed the backup: %v", err)
	}
}

func general(t *testing.T, db *DB) parley.Conversation {
	t.Helper()
	c, err := prepare(db)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestBackupOfAnEmptyHome(t *testing.T) {
	dir, home := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "home")
	if _, err := opened(t, madeHomes(t).empty.in(t)).Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), dir, home); err != nil {
		t.Fatal(err)
	}
	holds(t, opened(t, home), nil)
}

func TestBackupIsNotMadeOverAnything(t *testing.T) {
	db, _, _ := rich(t)
	dir := filepath.Join(t.TempDir(), "backup")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := db.Backup(t.Context(), dir)
	says(t, err, "E003", "exists already")
	if err := os.Rename(dir, dir+".partial"); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir+".partial", "mine")
	writeFile(t, mine, nil)
	_, err = db.Backup(t.Context(), dir)
	says(t, err, "E003", "is not an interrupted backup")
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	_, err = db.Backup(t.Context(), filepath.Join(dir, "in", "nowhere"))
	says(t, err, "E003", "cannot write")
}

func TestKilledBackupLeavesNoBackup(t *testing.T) {
	home, ids := filled(t)
	dir := filepath.Join(t.TempDir(), "backup")
	for i := range 5 {
		p := startHub(t, home)
		p.line()
		p.say("backup " + dir)
		for { // until it has begun
			if _, err := os.Stat(filepath.Join(dir+".partial", []string{"", databaseName, bodiesName}[i%3])); err == nil {
				break
			}
			if _, err := os.Stat(dir); err == nil {
				break // it was faster
			}
			runtime.Gosched()
		}
		p.kill()
		if _, err := os.Stat(dir); err == nil {
			if _, err := Verify(t.Context(), dir); err != nil {
				t.Errorf("it has its name, but: %v", err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	db := opened(t, home)
	if _, err := db.Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "home")
	if _, err := Restore(t.Context(), dir, restored); err != nil {
		t.Fatal(err)
	}
	holds(t, opened(t, restored), ids)
}

func TestBackupOfDamagedDataFailsAndSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		statement string
		body      []byte
		words     []string
	}{
		"message": {statement: "UPDATE messages SET text = 'forged' WHERE seq = 3", words: []string{"does not match its checksum"}},
		"body":    {body: []byte("forged"), words: []string{"the body of an artifact is damaged"}},
	} {
		t.Run(name, func(t *testing.T) {
			db, home, _ := rich(t)
			if c.statement != "" {
				raw(t, home, c.statement)
			}
			if c.body != nil {
				writeFile(t, filepath.Join(home, bodyOf(t, home)), c.body)
			}
			dir := filepath.Join(t.TempDir(), "backup")
			_, err := db.Backup(t.Context(), dir)
			says(t, err, c.words...)
			absentDir(t, dir)
		})
	}
}

// bodyOf is the path of some body in a home.
func bodyOf(t *testing.T, home string) string {
	t.Helper()
	return filepath.Join(bodiesName, filesIn(t, filepath.Join(home, bodiesName))[0])
}

func TestCancelledBackupLeavesNothing(t *testing.T) {
	db, _, _ := rich(t)
	dir := filepath.Join(t.TempDir(), "backup")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Backup(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	absentDir(t, dir)
}
