package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// wounds are kinds of damage that only a check of everything finds, and what it says.
var wounds = map[string]struct {
	statement string
	words     string
}{
	"a changed message":           {"UPDATE messages SET text = 'forged' WHERE seq = 3", "does not match its checksum"},
	"a message moved":             {"UPDATE messages SET created_at = created_at + 1 WHERE seq = 4", "does not match its checksum"},
	"a lost reference":            {"DELETE FROM artifact_refs WHERE message = 11", "names other artifacts than its stored references"},
	"a wrong count of references": {"UPDATE artifacts SET refs = refs + 5", "says that 6 messages refer to it, but 1 do"},
	"a wrong size":                {"UPDATE artifacts SET size = 99", "has 6 bytes, but its row says 99"},
	"a changed audit entry":       {"UPDATE audit SET act = 'forged' WHERE num = 1", "entry 1 of the audit log does not follow from entry 0"},
	"a lost audit entry":          {"DELETE FROM audit WHERE num = 1", "entry 2 of the audit log does not follow from entry 0"},
	"a wrong count of messages":   {"UPDATE conversations SET messages = 3", "says that it has 3 messages up to 15, but has 15 up to 15"},
	"a wrong count of an inbox":   {"INSERT INTO inboxes (agent, waking, quiet, evicted) VALUES (1, 7, 2, 0) ON CONFLICT DO UPDATE SET waking = 7, quiet = 2", "says that 7 waking, 2 quiet and"},
	"a wrong last seq":            {"UPDATE conversations SET last_seq = 3", "messages up to 3, but has 15 up to 15"},
	"a wrong inbox":               {"INSERT INTO inboxes VALUES (1, 2, 3, 0, 4)", "says that 2 waking, 3 quiet and 4 other deliveries are open, but 0, 0 and 0 are"},
	"a redaction that is none":    {"UPDATE messages SET redacted_at = 1, body_digest = x'00' WHERE seq = 3", "does not match its checksum"},
	"a wrong weight":              {"UPDATE message_weight SET seq = 2, bytes = 1", "messages up to 2 are counted as 1 bytes, but have"},
	"a token with a scope that is none": {
		"INSERT INTO tokens (id, hash, agent, kind, scopes, created_by, created_at) VALUES (zeroblob(16), x'00', 1, 'token', 'root', 1, 0)",
		`has the scopes "root", which do not exist`,
	},
	"a run that has ended and goes on": {
		`INSERT INTO runs (id, agent, conv, runtime, state, trace, attempt, hops, chain, created_at, deadline,
				input_tokens, output_tokens, cost, pid, pid_started)
			SELECT zeroblob(16), 1, num, 'script', 'failed', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM conversations LIMIT 1`,
		`is "failed", which does not agree with when it ended`,
	},
	"a task that has ended and goes on": {
		`INSERT INTO tasks (num, root, depth, requester, original, source, created_at, assignee, title, priority, trace, status, attempt, updated_at)
			VALUES (1, 1, 0, 1, 1, '', 0, 1, '', 5, '', 'failed', 1, 0)`,
		`task-1 is "failed", which does not agree with when it ended`,
	},
	"a task in another tree": {
		`INSERT INTO tasks (num, parent, root, depth, requester, original, source, created_at, assignee, title, priority, trace, status, attempt, updated_at)
			VALUES (1, NULL, 1, 0, 1, 1, '', 0, 1, '', 5, '', 'queued', 1, 0), (2, 1, 2, 1, 1, 1, '', 0, 1, '', 5, '', 'queued', 1, 0)`,
		"task-2 is stored with depth 1 under task-2, but has depth 1 under task-1",
	},
	"an approval that nobody gave": {
		`INSERT INTO approvals (id, agent, tool, args, digest, summary, rule, human, created_at, trace, hops, source, state)
			VALUES (zeroblob(16), 1, '', '', '', '', '', 0, 0, '', 0, '', 'executed')`,
		`is "executed", which does not agree with when it was decided`,
	},
	"a note that nobody wrote": {
		"INSERT INTO notes (num, agent, author, text, created_at, digest, checksum) VALUES (7, 1, 1, 'forged', 0, x'00', x'00')",
		"note note-7: it does not match its checksum",
	},
	"a task that depends on none": {"PRAGMA foreign_keys = 0; INSERT INTO task_needs VALUES (7, 8)", "task_needs"},
	"a wait for no message": {
		`PRAGMA foreign_keys = 0; INSERT INTO waits (id, message, waiter, target, ask, depth, since, state, until)
			VALUES (zeroblob(16), 999, 1, 1, 1, 0, 0, 'waiting', 0)`,
		"waits",
	},
	"a post of no run": {
		"PRAGMA foreign_keys = 0; INSERT INTO run_posts (run, message, digest) VALUES (zeroblob(16), 3, '')", "run_posts",
	},
	"a reference to no conversation": {
		"PRAGMA foreign_keys = 0; INSERT INTO participants (conv, agent, joined_at, read_seq) VALUES (99, 1, 0, 0)", "participants",
	},
}

func TestDeepCheckFindsEachWound(t *testing.T) {
	for name, wound := range wounds {
		t.Run(name, func(t *testing.T) {
			db, home, _ := rich(t)
			if err := deep(t, db); err != nil {
				t.Fatalf("before: %v", err)
			}
			raw(t, home, wound.statement)
			report, err := db.CheckDeep(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(report.Problems, "\n"), wound.words) {
				t.Errorf("problems %q do not say %q", report.Problems, wound.words)
			}
			says(t, report.Err(), "E006", "stored data is damaged")
		})
	}
}

func TestDeepCheckFindsAReferenceOfARedactedMessage(t *testing.T) {
	db, home, ids := rich(t)
	err := db.Update(t.Context(), func(tx storage.Tx) error {
		return tx.Messages().Redact(must(tx.Messages().Get(ids[10])).Redacted(time.Now()))
	})
	if err != nil {
		t.Fatal(err)
	}
	raw(t, home, "INSERT INTO artifact_refs (sha256, message) SELECT sha256, 11 FROM artifacts LIMIT 1")
	says(t, deep(t, db), "names other artifacts than its stored references")
}

// All that is wrong is listed, not only the first, and bodies too.
func TestDeepCheckListsEverything(t *testing.T) {
	db, home, _ := rich(t)
	bodies := filesIn(t, filepath.Join(home, bodiesName))
	if err := os.Remove(filepath.Join(home, bodiesName, bodies[0])); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, bodiesName, bodies[1]), []byte("forged"))
	raw(t, home, "UPDATE messages SET text = 'forged' WHERE seq IN (1, 2)", "UPDATE audit SET act = 'forged' WHERE num = 2")
	var told []parley.CheckReport
	report, err := db.CheckDeep(t.Context(), func(r parley.CheckReport) { told = append(told, r) })
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report.Problems, "\n")
	for words, times := range map[string]int{
		"does not match its checksum":              2,
		filepath.Base(bodies[0]) + " is missing":   1,
		filepath.Base(bodies[1]) + ": ":            1,
		"entry 2 of the audit log does not follow": 1,
	} {
		if got := strings.Count(all, words); got != times {
			t.Errorf("%q is said %d times, want %d:\n%s", words, got, times, all)
		}
	}
	if len(report.Problems) != 5 || report.Messages != 15 || report.Artifacts != 5 || report.Audited != 2 {
		t.Errorf("report: %+v", report)
	}
	if len(told) == 0 || told[len(told)-1].Messages != 15 {
		t.Errorf("progress: %+v", told)
	}
}

func TestDeepCheckIsBounded(t *testing.T) {
	home, _ := filled(t)
	db := opened(t, home)
	written(t, db, 200)
	raw(t, home, "UPDATE messages SET text = 'forged'")
	report, err := db.CheckDeep(t.Context(), nil)
	if err != nil || len(report.Problems) != 100 || report.Omitted != 110 {
		t.Errorf("%d problems, %d omitted: %v", len(report.Problems), report.Omitted, err)
	}
	says(t, report.Err(), "and 205 more")
}

func TestDeepCheckOfADamagedFileGoesOn(t *testing.T) {
	home, _ := filled(t)
	breakPage(t, home, "audit")
	report, err := opened(t, home).CheckDeep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(report.Problems, "\n"); !strings.Contains(all, "is damaged") || !strings.Contains(all, "the audit log cannot be read") {
		t.Errorf("problems: %s", all)
	}
}

func TestDeepCheckCanBeCancelled(t *testing.T) {
	db, _, _ := rich(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := db.CheckDeep(ctx, func(parley.CheckReport) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err = db.CheckDeep(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("from the start: %v", err)
	}
}

// An entry of the audit log that cannot be read is listed, and those behind it are looked at.
func TestDeepCheckListsAnUnreadableAuditEntryAndGoesOn(t *testing.T) {
	db, home, _ := rich(t)
	closed(t, db)
	const schema = "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, '%s', '%s') WHERE name = 'audit'"
	raw(t, home, fmt.Sprintf(schema, "NOT NULL", "DEFAULT 0"))
	raw(t, home, "UPDATE audit SET actor = NULL WHERE num = 1") // as one flipped bit may make it
	raw(t, home, fmt.Sprintf(schema, "DEFAULT 0", "NOT NULL"))
	report, err := opened(t, home).CheckDeep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(report.Problems, "\n")
	for _, words := range []string{"entry 1 of the audit log: its row cannot be read", "entry 2 of the audit log does not follow from entry 0"} {
		if !strings.Contains(all, words) {
			t.Errorf("%q is not in:\n%s", words, all)
		}
	}
	if report.Audited != 1 {
		t.Errorf("%d entries were looked at", report.Audited)
	}
}

// However many rows in a row cannot be read, those behind them are looked at.
func TestDeepCheckGoesOnBehindManyUnreadableRows(t *testing.T) {
	db, home, _ := rich(t)
	raw(t, home, `WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 1201)
		INSERT INTO tasks (num, root, depth, requester, original, source, created_at, assignee, title, priority, trace, status, result,
			attempt, updated_at)
		SELECT value, value, 0, 1, 1, '', 0, 1, '', 5, '', CASE value WHEN 1201 THEN 'failed' ELSE 'queued' END,
			CASE value WHEN 1201 THEN NULL ELSE '{' END, 1, 0 FROM n`)
	report, err := db.CheckDeep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Problems) != 100 || report.Omitted != 1101 {
		t.Errorf("%d problems, %d omitted", len(report.Problems), report.Omitted)
	}
}
