package hub_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// headKeeper keeps a head in memory.
type headKeeper struct {
	mu     sync.Mutex
	head   parley.AuditHead
	saved  []int64
	broken error
}

func (k *headKeeper) Load() (parley.AuditHead, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.head, k.broken
}

func (k *headKeeper) Save(head parley.AuditHead) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.head, k.saved = head, append(k.saved, head.Num)
	return k.broken
}

func keptBy(k *headKeeper) func(*fixture) { return func(w *fixture) { w.Config.AuditHead = k } }

func (w *fixture) auditHead() parley.AuditHead {
	w.T.Helper()
	last := w.AuditEntriesWithRefusals()
	return parley.AuditHead{Num: last[len(last)-1].Num, Hash: last[len(last)-1].Hash}
}

func TestAuditLogIsForOwners(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.AddPerson("sansa", parley.AccessMember)
	all := resultOf[[]parley.AuditEntry](w)(w.AuditLog(ctx, user, 0, 0))
	same(t, "all", all, w.AuditEntriesWithRefusals())
	same(t, "a part", resultOf[[]parley.AuditEntry](w)(w.AuditLog(ctx, user, 1, 1)), all[1:2])
	var table []refusal
	for _, who := range []string{"arya", "sansa"} {
		table = append(table,
			refusal{who + " reads", func() error { _, err := w.AuditLog(ctx, as(who), 0, 0); return err }, onlyOwner("read the audit log")},
			refusal{who + " verifies", func() error { _, err := w.VerifyAudit(ctx, as(who)); return err }, onlyOwner("verify the audit log")})
	}
	w.assertRefusals(t, table)
}

func TestAuditVerifiesWhileItGrows(t *testing.T) {
	t.Parallel()
	w := newHub(t, keptBy(&headKeeper{}))
	w.Start(ctx)
	w.AddAgents("arya")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 30 {
			_, err := w.ActAs(ctx, user, "arya", "test")
			w.NoError(err)
		}
	}()
	for !isClosed(done) {
		report := resultOf[parley.AuditReport](w)(w.VerifyAudit(ctx, user))
		same(t, "problems", report.Problems, []string{})
	}
	report := resultOf[parley.AuditReport](w)(w.VerifyAudit(ctx, user))
	same(t, "report", report, parley.AuditReport{Entries: 31, Head: w.auditHead(), OK: true})
}

// TestAuditTampering changes a closed store. The head is kept outside it.
func TestAuditTampering(t *testing.T) {
	t.Parallel()
	const cut = "the log ends with entry 7, but it had entry 8: its last entries are missing"
	for name, c := range map[string]struct {
		statement string
		problems  []string
	}{
		"nothing":           {"SELECT 1", nil},
		"an edited act":     {"UPDATE audit SET act = 'agent.change' WHERE num = 3", []string{"entry 3 does not follow from entry 2"}},
		"an edited time":    {"UPDATE audit SET at = at + 1 WHERE num = 3", []string{"entry 3 does not follow from entry 2"}},
		"an edited detail":  {"UPDATE audit SET detail = NULL WHERE num = 8", []string{"entry 8 does not follow from entry 7"}},
		"a deleted entry":   {"DELETE FROM audit WHERE num = 3", []string{"entry 4 does not follow from entry 2"}},
		"the first deleted": {"DELETE FROM audit WHERE num = 1", []string{"entry 2 does not follow from entry 0"}},
		"reordered entries": {
			"UPDATE audit SET num = CASE num WHEN 3 THEN -4 ELSE -3 END WHERE num IN (3, 4); UPDATE audit SET num = -num WHERE num < 0",
			[]string{"entry 3 does not follow from entry 2", "entry 4 does not follow from entry 3", "entry 5 does not follow from entry 4"},
		},
		"the newest cut off": {"DELETE FROM audit WHERE num = 8", []string{cut}},
		"all of it cut off":  {"DELETE FROM audit", []string{strings.Replace(cut, "entry 7", "entry 0", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := &headKeeper{}
			w := newHub(t, keptBy(k))
			w.Start(ctx)
			w.AddAgents("a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8")
			w.Close() // the head is saved then at the latest
			same(t, "the kept entry", k.head.Num, int64(8))
			w.NoError(stores.Tamper(w.Place, c.statement))
			w.Open()
			report := resultOf[parley.AuditReport](w)(w.VerifyAudit(ctx, user))
			same(t, "problems", report.Problems, c.problems)
			same(t, "all is well", report.OK, len(c.problems) == 0)
		})
	}
}

// Who cuts the log and lets the hub go on is found out too, before and after the log is as long again.
func TestKeptHeadIsNotReplacedAfterTheLogWasCut(t *testing.T) {
	t.Parallel()
	k := &headKeeper{}
	w := newHub(t, keptBy(k))
	w.Start(ctx)
	w.AddAgents("a1", "a2", "a3")
	w.Close()
	kept := k.head
	w.NoError(stores.Tamper(w.Place, "DELETE FROM audit WHERE num >= 2"))
	w.Open()
	w.Start(ctx)
	for _, words := range []string{"the log ends with entry 2, but it had entry 3", "entry 3 does not match the hash outside", "entry 3 does not"} {
		_, err := w.ActAs(ctx, user, "a1", "test")
		w.NoError(err)
		report := resultOf[parley.AuditReport](w)(w.VerifyAudit(ctx, user))
		if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], words) || report.OK {
			t.Errorf("problems %q", report.Problems)
		}
	}
	w.Restart()
	w.Start(ctx)
	w.Stop()
	same(t, "the kept head", k.head, kept)
}

func TestAuditHeadIsKeptInOrderAndOffTheHotPath(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		k := &headKeeper{}
		w := openFixture(t, place, keptBy(k))
		w.AddAgents("arya", "ned") // not kept while nothing runs
		w.Start(ctx)
		synctest.Wait()
		same(t, "kept at the start", k.saved, []int64{2})
		w.AddAgents("bran")
		synctest.Wait()
		w.SendDM("arya", "ned", "posts write no audit entry")
		w.NoError(w.RemoveAgent(ctx, user, "bran"))
		synctest.Wait()
		same(t, "kept", k.saved, []int64{2, 3, 4})
		same(t, "the head", k.head, w.auditHead())
	})
}

func TestUnreadableHeadIsAProblem(t *testing.T) {
	t.Parallel()
	w := newHub(t, keptBy(&headKeeper{broken: errors.New("it is gone")}))
	w.Start(ctx)
	w.AddAgents("arya")
	report := resultOf[parley.AuditReport](w)(w.VerifyAudit(ctx, user))
	same(t, "problems", report.Problems, []string{"cannot read the newest hash from outside the database: it is gone"})
	same(t, "all is well", report.OK, false)
}

var _ hub.HeadKeeper = (*headKeeper)(nil)
