package postgres

import (
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/storetest"
)

func dumped(t *testing.T, db *DB) (all any) {
	t.Helper()
	err := db.View(t.Context(), func(tx storage.Tx) (err error) {
		all, err = storetest.Dump(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A backup has what a store can be asked for, whatever noun it belongs to.
func TestBackupHoldsEveryNoun(t *testing.T) {
	db := opened(t, migrated.Copy(t))
	if err := db.Update(t.Context(), storetest.Fill); err != nil {
		t.Fatal(err)
	}
	dir, url := filepath.Join(t.TempDir(), "backup"), pgtest.URL(t)
	if _, err := db.Backup(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), dir, url); err != nil {
		t.Fatal(err)
	}
	if diff := storetest.Diff(dumped(t, db), dumped(t, opened(t, url))); diff != "" {
		t.Errorf("restored (-was +is):\n%s", diff)
	}
}

// What was there before there were tasks goes on: a run is nested in no ask, and what was asked counts.
func TestWorkIsAddedToASchemaWithRuns(t *testing.T) {
	url := pgtest.URL(t)
	known, err := programMigrations()
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDialer(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.migrate(t.Context(), known.upTo(7)); err != nil {
		t.Fatal(err)
	}
	raw(t, url,
		`INSERT INTO agents (num, id, uuid, name, kind, access, created_at, updated_at, profile) VALUES (1, 'arya', 'uuid-1', 'Arya', 'agent', '', 5, 5, '{}')`,
		`INSERT INTO names SELECT id, num FROM agents`,
		`INSERT INTO conversations (num, id, name, kind, visibility, topic, created_by, created_at, updated_at, messages, last_seq, buried)
			VALUES (1, decode(repeat('01', 16), 'hex'), 'general', 'channel', 'public', '', 1, 5, 5, 1, 1, 0)`,
		`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
			VALUES (1, decode(repeat('01', 16), 'hex'), 1, 1, 'request', 5, 1001, 0, 0, 'api', 'one', '\x00')`,
		`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks)
			VALUES (1, 1, 'accepted', 1, 'ask', 11, 1, 1, 0, 0, 0)`,
		`INSERT INTO runs (id, agent, conv, task, runtime, state, trace, attempt, hops, chain, created_at, deadline, input_tokens, output_tokens, cost, pid, pid_started)
			VALUES (decode(repeat('01', 16), 'hex'), 1, 1, 'task-1', 'script', 'running', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
		`UPDATE counters SET agents = 1`,
	)
	storetest.Upgraded(t, opened(t, url))
}

// Runs and approvals from before they had numbers get them by age.
func TestRunsAndApprovalsOfAnOlderProgramAreNumberedByAge(t *testing.T) {
	url := pgtest.URL(t)
	known, err := programMigrations()
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDialer(url)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.migrate(t.Context(), known.upTo(19)); err != nil {
		t.Fatal(err)
	}
	raw(t, url,
		`INSERT INTO agents (num, id, uuid, name, kind, access, created_at, updated_at, profile) VALUES (1, 'arya', 'uuid-1', 'Arya', 'agent', '', 5, 5, '{}')`,
		`INSERT INTO names SELECT id, num FROM agents`,
		`INSERT INTO conversations (num, id, name, kind, visibility, topic, created_by, created_at, updated_at, messages, last_seq, buried)
			VALUES (1, decode(repeat('01', 16), 'hex'), 'general', 'channel', 'public', '', 1, 5, 5, 0, 0, 0)`,
		`INSERT INTO runs (id, agent, conv, runtime, state, trace, attempt, hops, chain, created_at, deadline, input_tokens, output_tokens, cost, pid, pid_started)
			SELECT decode(lpad(n::text, 32, '0'), 'hex'), 1, 1, 'script', 'lost', '', 1, 0, 0, CASE n WHEN 3 THEN 10 ELSE 20 END, 0, 0, 0, 0, 0, 0
			FROM generate_series(1, 3) n`,
		`INSERT INTO approvals (id, agent, tool, args, digest, summary, rule, human, created_at, trace, hops, source, state)
			SELECT decode(lpad(n::text, 32, '0'), 'hex'), 1, 'reply', '{}', n::text, '', '', 0, CASE n WHEN 3 THEN 10 ELSE 20 END, '', 0, '', 'denied'
			FROM generate_series(1, 3) n`,
		`UPDATE counters SET agents = 1`,
	)
	storetest.NumberedByAge(t, opened(t, url))
}
