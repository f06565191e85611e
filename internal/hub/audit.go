package hub

import (
	"context"
	"encoding/json"

	"github.com/parley-hub/parley"
)

const auditPage = 500

// audit adds an entry to the audit log; it is written with the update.
func (s *scene) audit(act, subject string, detail any) error {
	raw, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	s.audited = true
	return s.Log().Audit(parley.AuditEntry{At: s.now, Actor: s.me.ID, Act: act, Subject: subject, Detail: raw})
}

// AuditLog returns audit entries after a number, in order. Only an owner may.
func (h *Hub) AuditLog(ctx context.Context, caller Caller, after int64, limit int) (list []parley.AuditEntry, err error) {
	err = h.view(ctx, caller, opListAudit, func(s *scene) error {
		list, err = s.Log().Audited(after, clamp(limit, 100, 1000))
		return err
	})
	return list, err
}

// VerifyAudit walks along the whole audit log, and compares it with the head that is kept outside the
// database. Only an owner may.
func (h *Hub) VerifyAudit(ctx context.Context, caller Caller) (parley.AuditReport, error) {
	return verifyAudit(h.config.AuditHead, func(after int64) (list []parley.AuditEntry, err error) {
		err = h.view(ctx, caller, opVerifyAudit, func(s *scene) error {
			list, err = s.Log().Audited(after, auditPage)
			return err
		})
		return list, err
	})
}

// VerifyAudit does the same with a store that no hub uses.
func VerifyAudit(ctx context.Context, db parley.Store, head HeadKeeper) (parley.AuditReport, error) {
	return verifyAudit(head, func(after int64) (list []parley.AuditEntry, err error) {
		err = db.View(ctx, func(tx parley.Tx) error {
			list, err = tx.Log().Audited(after, auditPage)
			return err
		})
		return list, err
	})
}

func verifyAudit(head HeadKeeper, page func(after int64) ([]parley.AuditEntry, error)) (parley.AuditReport, error) {
	report := parley.AuditReport{OK: true}
	kept := keptHead(head, &report) // before the walk: the log may grow during it
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

func keptHead(head HeadKeeper, report *parley.AuditReport) (kept parley.AuditHead) {
	if head == nil {
		return kept
	}
	kept, err := head.Load()
	if err != nil {
		report.Add("the head that is kept outside the database cannot be read: %v", err)
	}
	return kept
}

// walkAudit goes on along the log from the head the report has come to.
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
