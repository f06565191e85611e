package sqlite

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// steps are this program's migrations and one more.
func steps(t *testing.T, more string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"00099_more.sql": {Data: []byte("-- +goose Up\n" + more)}}
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		raw, err := fs.ReadFile(migrationFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = &fstest.MapFile{Data: raw}
	}
	return files
}

// upgrade runs migrations on a closed home as Open would.
func upgrade(t *testing.T, home string, files fs.FS) error {
	t.Helper()
	return withDB(filepath.Join(home, "parley.db"), func(db *sql.DB) error {
		return migrateDB(t.Context(), db, files, filepath.Join(home, "backups"))
	})
}

func backupsOf(t *testing.T, home string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "backups", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// table counts the rows of a table in a file, or is -1.
func table(t *testing.T, path, name string) (rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRow("SELECT count(*) FROM " + name).Scan(&rows); err != nil {
		return -1
	}
	return rows
}

func TestPendingMigrationBacksUpFirst(t *testing.T) {
	home, ids := filled(t)
	if err := upgrade(t, home, steps(t, "CREATE TABLE more (n INTEGER) STRICT;\nDELETE FROM messages;")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "parley.db")
	if more, messages := table(t, path, "more"), table(t, path, "messages"); more != 0 || messages != 0 {
		t.Errorf("after the migration: more %d, messages %d", more, messages)
	}
	backups := backupsOf(t, home)
	if len(backups) != 1 {
		t.Fatalf("backups: %v", backups)
	}
	mode(t, filepath.Join(home, "backups"), 0o700)
	mode(t, backups[0], 0o600)
	if more, messages := table(t, backups[0], "more"), table(t, backups[0], "messages"); more != -1 || messages != len(ids) {
		t.Errorf("in the backup: more %d, messages %d", more, messages)
	}
	restored := t.TempDir()
	if err := os.Rename(backups[0], filepath.Join(restored, "parley.db")); err != nil {
		t.Fatal(err)
	}
	db := opened(t, restored)
	holds(t, db, ids)
	if err := deep(t, db); err != nil {
		t.Errorf("the backup: %v", err)
	}
}

func TestNothingPendingBacksNothingUp(t *testing.T) {
	home, _ := filled(t)
	if err := upgrade(t, home, steps(t, "CREATE TABLE more (n INTEGER) STRICT;")); err != nil {
		t.Fatal(err)
	}
	if err := upgrade(t, home, steps(t, "CREATE TABLE more (n INTEGER) STRICT;")); err != nil {
		t.Fatal(err)
	}
	if backups := backupsOf(t, home); len(backups) != 1 {
		t.Errorf("backups: %v", backups)
	}
}

// A migration that fails at every start must not fill the disk with copies, and a copy that was not
// finished must not look like one.
func TestBackupsAreWholeAndFew(t *testing.T) {
	home, ids := filled(t)
	for range 3 {
		if err := upgrade(t, home, steps(t, "CREATE TABLE broken (")); err == nil {
			t.Fatal("the migration did not fail")
		}
	}
	if backups := backupsOf(t, home); len(backups) != 1 {
		t.Fatalf("backups: %v", backups)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := withDB(filepath.Join(home, "parley.db"), func(db *sql.DB) error {
		return backUpBeforeMigration(ctx, db, filepath.Join(home, "backups"), 1, 99)
	})
	if err == nil {
		t.Error("a cancelled backup succeeded")
	}
	backups := backupsOf(t, home)
	if len(backups) != 1 || table(t, backups[0], "messages") != len(ids) {
		t.Errorf("after a cancelled backup: %v", backups)
	}
}

func TestFailingMigrationLeavesTheDatabaseAsItWas(t *testing.T) {
	home, ids := filled(t)
	before := schema(t, home)
	err := upgrade(t, home, steps(t, `CREATE TABLE more (n INTEGER) STRICT;
		DELETE FROM messages;
		UPDATE meta SET value = '9.9.9';
		INSERT INTO nowhere VALUES (1);`))
	if err == nil {
		t.Fatal("it went well")
	}
	if diff := cmp.Diff(before, schema(t, home), cmp.AllowUnexported(schemaEntry{})); diff != "" {
		t.Errorf("the schema changed:\n%s", diff)
	}
	if backups := backupsOf(t, home); len(backups) != 1 {
		t.Errorf("backups: %v", backups)
	}
	db := opened(t, home) // with the migrations it knows
	holds(t, db, ids)
	written(t, db, 1)
}

func schema(t *testing.T, home string) (entries []schemaEntry) {
	t.Helper()
	err := withDB(filepath.Join(home, "parley.db"), func(db *sql.DB) (err error) {
		entries, err = readSchema(t.Context(), db)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// A first start that failed halfway, say on a full disk, can be made again.
func TestFirstMigrationThatFailedIsMadeAgain(t *testing.T) {
	home := t.TempDir()
	if err := createFile(filepath.Join(home, "parley.db")); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"00001_core.sql": {Data: []byte("-- +goose Up\nCREATE TABLE meta (n INTEGER);\nINSERT INTO nowhere VALUES (1);")}}
	if err := upgrade(t, home, files); err == nil {
		t.Fatal("it went well")
	}
	db := opened(t, home)
	holds(t, db, written(t, db, 2))
}

func TestNewerSchemaThatLetsThisProgramInIsAccepted(t *testing.T) {
	home, ids := filled(t)
	if err := upgrade(t, home, steps(t, "CREATE TABLE more (n INTEGER) STRICT;")); err != nil {
		t.Fatal(err)
	}
	// The database is newer than this program now, and lets it in.
	db := opened(t, home)
	holds(t, db, ids)
	more := written(t, db, 1)
	holds(t, db, append(ids, more...))
	if backups := backupsOf(t, home); len(backups) != 1 {
		t.Errorf("backups: %v", backups)
	}
}

func TestDatabaseSaysWhichProgramMayUseIt(t *testing.T) {
	for _, oldest := range []string{"0.0.1", "0.0.99", parley.Version} {
		home, ids := filled(t)
		raw(t, home, "UPDATE meta SET value = '"+oldest+"' WHERE key = 'min_program'")
		holds(t, opened(t, home), ids)
	}
	for _, oldest := range []string{"0.1.1", "0.10.0", "1.0.0", "99.0.0"} {
		home, _ := filled(t)
		raw(t, home, "UPDATE meta SET value = '"+oldest+"' WHERE key = 'min_program'")
		refuses(t, home, "E002", "this database needs parley "+oldest+" or newer, this is "+parley.Version, "install parley "+oldest)
		if backups := backupsOf(t, home); len(backups) > 0 {
			t.Errorf("a refused database was backed up: %v", backups)
		}
	}
}

func TestNewerDatabaseThatNeedsANewerProgramIsRefusedBeforeAnyChange(t *testing.T) {
	home, _ := filled(t)
	if err := upgrade(t, home, steps(t, "CREATE TABLE more (n INTEGER) STRICT;\nUPDATE meta SET value = '7.0.0';")); err != nil {
		t.Fatal(err)
	}
	before := schema(t, home)
	refuses(t, home, "needs parley 7.0.0 or newer")
	if diff := cmp.Diff(before, schema(t, home), cmp.AllowUnexported(schemaEntry{})); diff != "" {
		t.Errorf("the schema changed:\n%s", diff)
	}
}

func TestDatabaseThatDoesNotSayWhichProgram(t *testing.T) {
	home, _ := filled(t)
	raw(t, home, "DELETE FROM meta")
	if _, err := Open(t.Context(), home); err == nil {
		t.Error("it was opened")
	}
}

func TestSchemaChangedFromOutsideIsNamed(t *testing.T) {
	for statement, named := range map[string]string{
		"DROP INDEX messages_reply":                                    "index messages_reply",
		"CREATE TABLE mine (n INTEGER)":                                "table mine",
		"ALTER TABLE agents ADD COLUMN mine TEXT":                      "table agents",
		"CREATE INDEX mine ON messages (text)":                         "index mine",
		"CREATE VIEW mine AS SELECT 1":                                 "view mine",
		"DROP TABLE audit":                                             "table audit",
		"CREATE TRIGGER mine AFTER INSERT ON audit BEGIN SELECT 1;END": "trigger mine",
	} {
		home, _ := filled(t)
		raw(t, home, statement)
		refuses(t, home, "changed the schema of the database: "+named, "undo that change")
	}
	home, ids := filled(t)
	raw(t, home, "ANALYZE") // statistics are no change
	holds(t, opened(t, home), ids)
}
