package access

import (
	"context"
	"encoding/json"

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
	return u.Log().Audit(parley.AuditEntry{At: u.Now, Actor: u.Me.ID, Act: act, Subject: subject, Detail: raw})
}

// AuditLog returns the audit entries after a number, in order. Only an owner may call it.
func (s *Service) AuditLog(ctx context.Context, caller unit.Caller, after int64, limit int) (list []parley.AuditEntry, err error) {
	err = s.View(ctx, caller, unit.OpListAudit, func(u *unit.Unit) error {
		list, err = u.Log().Audited(after, unit.Clamp(limit, 100, 1000))
		return err
	})
	return list, err
}

// VerifyAudit checks the hash chain of the whole audit log, and compares its end with the head that is kept outside the
// database. Only an owner may call it.
func (s *Service) VerifyAudit(ctx context.Context, caller unit.Caller) (parley.AuditReport, error) {
	return checkAudit(s.Config.AuditHead, func(after int64) (list []parley.AuditEntry, err error) {
		err = s.View(ctx, caller, unit.OpVerifyAudit, func(u *unit.Unit) error {
			list, err = u.Log().Audited(after, auditPage)
			return err
		})
		return list, err
	})
}

// VerifyAudit does the same with a store that no hub uses.
func VerifyAudit(ctx context.Context, db storage.Store, head unit.HeadKeeper) (parley.AuditReport, error) {
	return checkAudit(head, func(after int64) (list []parley.AuditEntry, err error) {
		err = db.View(ctx, func(tx storage.Tx) error {
			list, err = tx.Log().Audited(after, auditPage)
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
		report.Add("the log ends with entry %d, but it had entry %d: what came last was cut off", report.Head.Num, kept.Num)
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
		report.Add("the head that is kept outside the database cannot be read: %v", err)
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
			report.Add("entry %d is not the one whose hash is kept outside the database", e.Num)
		}
		report.Entries++
		report.Head = parley.AuditHead{Num: e.Num, Hash: e.Hash}
	}
}
