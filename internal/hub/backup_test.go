package hub_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func whole(w *fixture) { w.WrapStore = func(s storage.Store) storage.Store { return s } }

func TestBackup(t *testing.T) {
	w := newHub(t, whole)
	w.AddAgents("arya")
	w.SendDM("user", "arya", "hello")
	dir := filepath.Join(t.TempDir(), "backup")
	made := resultOf[parley.Backup](w)(w.Backup(ctx, user, dir))
	if made.Directory != dir || made.Messages != 1 || made.Files == 0 || made.Bytes == 0 || made.Seq == 0 {
		t.Errorf("the backup is said to be %+v", made)
	}
	last := w.AuditEntries()[len(w.AuditEntries())-1]
	same(t, "the audit log", []string{last.Actor, last.Act, last.Subject}, []string{"user", "hub.backup", dir})
	_, err := w.Backup(ctx, user, dir)
	wantError(t, err, refusalError(parley.BadInput, parley.Conflict, dir+" exists already", "name a directory that does not exist"))
}

func TestBackupRefuses(t *testing.T) {
	w := newHub(t, whole)
	w.AddAgents("arya")
	dir := filepath.Join(t.TempDir(), "backup")
	w.assertRefusals(t, []refusal{
		{
			"an agent", func() error { _, err := w.Backup(ctx, as("arya"), dir); return err },
			refusalError(parley.NotPermitted, "", "only an owner may make a backup", "ask an owner of this hub"),
		},
		{
			"a relative directory", func() error { _, err := w.Backup(ctx, user, "backup"); return err },
			refusalError(parley.BadInput, "", `the directory "backup" is not absolute`, "give an absolute path: the hub does not know your current directory"),
		},
		{
			"an agent who checks", func() error { _, err := w.CheckDeep(ctx, as("arya"), nil); return err },
			refusalError(parley.NotPermitted, "", "only an owner may check what is stored", "ask an owner of this hub"),
		},
	})
	bare := newHub(t)
	_, err := bare.CheckDeep(ctx, user, nil)
	wantError(t, err, refusalError(parley.Unavailable, "", "this store cannot check what is stored", "use the database's own tools"))
}

// slowKeeper makes a backup that ends when it is told to.
type slowKeeper struct {
	storage.Store
	begun, end chan struct{}
}

func (k slowKeeper) Backup(context.Context, string) (parley.Backup, error) {
	close(k.begun)
	<-k.end
	return parley.Backup{}, nil
}

func (k slowKeeper) CheckDeep(context.Context, func(parley.CheckReport)) (parley.CheckReport, error) {
	return parley.CheckReport{}, nil
}

func TestOneBackupAtATime(t *testing.T) {
	keeper := slowKeeper{begun: make(chan struct{}), end: make(chan struct{})}
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { keeper.Store = s; return keeper }
	})
	first := make(chan error)
	go func() { _, err := w.Backup(ctx, user, "/backup"); first <- err }()
	<-keeper.begun
	_, err := w.Backup(ctx, user, "/another")
	wantError(t, err, refusalError(parley.Unavailable, "", "another backup is in progress", "wait until it has ended"))
	close(keeper.end)
	w.NoError(<-first)
}

func TestCheckDeep(t *testing.T) {
	w := newHub(t, whole)
	w.AddAgents("arya")
	w.SendDM("user", "arya", "hello")
	told := 0
	report := resultOf[parley.CheckReport](w)(w.CheckDeep(ctx, user, func(parley.CheckReport) { told++ }))
	w.NoError(report.Err())
	if report.Messages != 1 || told == 0 {
		t.Errorf("%d messages were checked, and progress told %d times", report.Messages, told)
	}
	same(t, "the audit log", w.AuditEntries()[len(w.AuditEntries())-1].Act, "hub.check")
}
