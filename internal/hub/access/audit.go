package access

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const auditPage = 500

// Audit adds an entry to the audit log. The update writes it.
func Audit(u *unit.Unit, act, subject string, detail any) error {
	raw, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	u.Audited = true
	return u.Log().AppendAudit(parley.AuditEntry{At: u.Now, Actor: u.Me.ID, Act: act, Subject: subject, Detail: raw})
}

// AuditLog returns the audit entries after a number, in order. Only an owner may call it.
func (s *Service) AuditLog(ctx context.Context, caller unit.Caller, after int64, limit int) (list []parley.AuditEntry, err error) {
	err = s.View(ctx, caller, unit.OpListAudit, func(u *unit.Unit) error {
		list, err = u.Log().AuditEntries(after, unit.Clamp(limit, 100, 1000))
		return err
	})
	return list, err
}

// VerifyAudit checks the hash chain of the whole audit log, and compares its end with the head that is kept outside the
// database. Only an owner may call it.
func (s *Service) VerifyAudit(ctx context.Context, caller unit.Caller) (parley.AuditReport, error) {
	return checkAudit(s.Config.AuditHead, func(after int64) (list []parley.AuditEntry, err error) {
		err = s.View(ctx, caller, unit.OpVerifyAudit, func(u *unit.Unit) error {
			list, err = u.Log().AuditEntries(after, auditPage)
			return err
		})
		return list, err
	})
}

// VerifyAudit does the same with a store that no hub uses.
func VerifyAudit(ctx context.Context, db storage.Store, head unit.HeadKeeper) (parley.AuditReport, error) {
	return checkAudit(head, func(after int64) (list []parley.AuditEntry, err error) {
		err = db.View(ctx, func(tx storage.Tx) error {
			list, err = tx.Log().AuditEntries(after, auditPage)
			return err
		})
		return list, err
	})
}

// checkAudit checks the entries that page returns, one page after another, against the head that the keeper has.
func checkAudit(head unit.HeadKeeper, page func(after int64) ([]parley.AuditEntry, error)) (parley.AuditReport, error) {
	report := parley.AuditReport{OK: true}
	kept := keptHead(head, &report) // read first, because the log may grow during the check
	for more := true; more; {
		list, err := page(report.Head.Num)
		if err != nil {
			return parley.AuditReport{}, err
		}
		walkAudit(&report, list, kept)
		more = len(list) > 0
	}
	if kept.Num > report.Head.Num {
		report.Add("the log ends with entry %d, but it had entry %d: its last entries are missing", report.Head.Num, kept.Num)
	}
	return report, nil
}

// keptHead returns the head that is kept outside the database, or the zero value if none is. It reports a head that cannot
// be read.
func keptHead(head unit.HeadKeeper, report *parley.AuditReport) (kept parley.AuditHead) {
	if head == nil {
		return kept
	}
	kept, err := head.Load()
	if err != nil {
		report.Add("cannot read the newest hash from outside the database: %v", err)
	}
	return kept
}

// walkAudit checks the next entries of the log, from the head that the report has reached.
func walkAudit(report *parley.AuditReport, list []parley.AuditEntry, kept parley.AuditHead) {
	for _, e := range list {
		last := report.Head
		if e.Num != last.Num+1 || e.Chain(last.Hash) != e.Hash {
			report.Add("entry %d does not follow from entry %d", e.Num, last.Num)
		}
		if e.Num == kept.Num && e.Hash != kept.Hash {
			report.Add("entry %d does not match the hash outside the database", e.Num)
		}
		report.Entries++
		report.Head = parley.AuditHead{Num: e.Num, Hash: e.Hash}
	}
}

// headSaver saves the head of the audit log with its keeper after each update that moved it. It never replaces a saved head that
// the log does not contain, because that head proves that the log was changed.
type headSaver struct {
	store  storage.Store
	keeper unit.HeadKeeper
	log    *slog.Logger
	wake   chan struct{}
}

func newHeads(store storage.Store, keeper unit.HeadKeeper, log *slog.Logger) *headSaver {
	return &headSaver{store: store, keeper: keeper, log: log, wake: make(chan struct{}, 1)}
}

// poke tells that the head moved.
func (k *headSaver) poke() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

func (k *headSaver) run(ctx context.Context, started func()) {
	started()
	if k.keeper == nil {
		return
	}
	for {
		k.keep(ctx)
		select {
		case <-ctx.Done():
			k.keep(context.WithoutCancel(ctx)) // the last entries of the other services
			return
		case <-k.wake:
		}
	}
}

func (k *headSaver) keep(ctx context.Context) {
	if err := k.advance(ctx); err != nil && ctx.Err() == nil {
		k.log.Error("cannot store the newest hash of the audit log outside the database; retrying with the next entry", "error", err)
	}
}

func (k *headSaver) advance(ctx context.Context) error {
	kept, err := k.keeper.Load()
	if err != nil {
		return err
	}
	var head parley.AuditHead
	err = k.store.View(ctx, func(tx storage.Tx) error {
		if err := isInLog(tx, kept); err != nil {
			return err
		}
		head, err = tx.Log().AuditHead()
		return err
	})
	if err != nil || head == kept {
		return err
	}
	return k.keeper.Save(head)
}

// isInLog returns an error if the log does not contain a head.
func isInLog(tx storage.Tx, kept parley.AuditHead) error {
	if kept.Num == 0 {
		return nil
	}
	list, err := tx.Log().AuditEntries(kept.Num-1, 1)
	if err != nil {
		return err
	}
	if len(list) == 0 || list[0].Num != kept.Num || list[0].Hash != kept.Hash {
		return parley.Errorf(parley.Internal, "the audit log was changed: its entry %d is missing or differs from the hash outside the database", kept.Num).
			Suggest("verify the audit log: parley audit verify")
	}
	return nil
}
