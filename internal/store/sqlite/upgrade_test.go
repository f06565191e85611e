package sqlite

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store/storetest"
)

// only is this program's migrations up to one.
func only(t *testing.T, names ...string) fs.FS {
	t.Helper()
	all := steps(t, "")
	files := fstest.MapFS{}
	for _, name := range names {
		if files[name] = all[name]; files[name] == nil {
			t.Fatalf("there is no migration %s", name)
		}
	}
	return files
}

// beforeDeliveries is a home that the first schema's program has left: three agents, a channel, and four
// messages with deliveries, one of them to two.
func beforeDeliveries(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := createFile(filepath.Join(home, "parley.db")); err != nil {
		t.Fatal(err)
	}
	if err := upgrade(t, home, only(t, "00001_core.sql")); err != nil {
		t.Fatal(err)
	}
	raw(t, home,
		`INSERT INTO agents (num, id, uuid, name, kind, access, created_at, updated_at, profile) VALUES
			(1, 'arya', 'uuid-1', 'Arya', 'agent', '', 5, 5, '{}'), (2, 'gendry', 'uuid-2', 'Gendry', 'agent', '', 5, 5, '{}'),
			(3, 'sansa', 'uuid-3', 'Sansa', 'agent', '', 5, 5, '{}')`,
		`INSERT INTO names SELECT id, num FROM agents`,
		`INSERT INTO conversations (num, id, name, kind, visibility, topic, created_by, created_at, updated_at, messages, last_seq, buried)
			VALUES (1, unhex(printf('%032x', 1)), 'general', 'channel', 'public', '', 1, 5, 5, 4, 4, 0)`,
		`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, expires_at, requires_ack, hops, source, text, checksum)
			VALUES (1, unhex(printf('%032x', 1)), 1, 1, 'chat', 5, 1001, NULL, 0, 0, 'api', 'one', x'00'),
				(2, unhex(printf('%032x', 2)), 1, 1, 'chat', 10, 1002, 9000, 0, 0, 'api', 'two', x'00'),
				(3, unhex(printf('%032x', 3)), 1, 1, 'status', 5, 1003, NULL, 0, 0, 'api', 'three', x'00'),
				(4, unhex(printf('%032x', 4)), 1, 1, 'chat', 8, 1004, NULL, 0, 0, 'api', 'four', x'00')`,
		`INSERT INTO pairs (sender, recipient, count) VALUES (1, 2, 3), (1, 3, 2)`,
		`INSERT INTO deliveries (message, agent, state, waking, pair_seq, attempt, accepted_at) VALUES
			(1, 2, 'accepted', 1, 1, 0, 1001), (2, 2, 'accepted', 1, 2, 0, 1002), (2, 3, 'accepted', 1, 1, 0, 1002),
			(3, 2, 'accepted', 0, 3, 0, 1003), (4, 3, 'accepted', 1, 2, 0, 1004)`,
		`UPDATE counters SET agents = 3`,
	)
	return home
}

// old is a delivery as it is found after the migration.
func old(t *testing.T, seq, pair int64, recipient string, wakes bool, level int) parley.Delivery {
	t.Helper()
	priority, err := parley.PriorityOf(level)
	if err != nil {
		t.Fatal(err)
	}
	d := parley.Delivery{
		Message: uuid.UUID{15: byte(seq)}.String(), Seq: seq, Conversation: uuid.UUID{15: 1}.String(), From: "arya", Recipient: recipient,
		State: parley.DeliveryAccepted, Waking: wakes, Priority: priority, PairSeq: pair, AcceptedAt: time.UnixMilli(1000 + seq).UTC(),
	}
	if seq == 2 {
		expires := time.UnixMilli(9000).UTC()
		d.ExpiresAt = &expires
	}
	return d
}

func TestDeliveriesOfTheFirstSchemaAreKept(t *testing.T) {
	db := opened(t, beforeDeliveries(t))
	want := []parley.Delivery{
		old(t, 1, 1, "gendry", true, 5), old(t, 2, 2, "gendry", true, 10), old(t, 2, 1, "sansa", true, 10),
		old(t, 3, 3, "gendry", false, 5), old(t, 4, 2, "sansa", true, 8),
	}
	var (
		all, urgent []parley.Delivery
		inboxes     [3]parley.Inbox
	)
	err := db.Update(t.Context(), func(tx storage.Tx) (err error) {
		for seq := range 4 {
			list, err := tx.Deliveries().OfMessage(uuid.UUID{15: byte(seq + 1)}.String())
			if err != nil {
				return err
			}
			all = append(all, list...)
		}
		for i, agent := range []string{"arya", "gendry", "sansa"} {
			if inboxes[i], err = tx.Queue().Inbox(agent); err != nil {
				return err
			}
		}
		urgent, err = tx.Queue().Ready(storage.QueueFilter{Recipient: "gendry", Wakes: true, Urgent: true, Limit: 9})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want any) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(parley.Priority{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	same("deliveries", all, want)
	same("inboxes", inboxes, [3]parley.Inbox{{}, {Waking: 2, Quiet: 1}, {Waking: 2}})
	same("by priority", urgent, []parley.Delivery{want[1], want[0]})
	report, err := db.CheckDeep(t.Context(), nil)
	if err != nil {
		t.Error(err)
	}
	for _, problem := range report.Problems {
		if !strings.Contains(problem, "checksum") { // these messages have none
			t.Error(problem)
		}
	}
}

// What came later has no value in what was there before: nobody is halted, and everybody answers.
func TestRunsAreAddedToTheFirstSchema(t *testing.T) {
	db := opened(t, beforeDeliveries(t))
	err := db.View(t.Context(), func(tx storage.Tx) error {
		a, err := tx.Agents().Find("arya")
		if err != nil || a.Paused != nil || a.Stopped != nil {
			t.Errorf("an agent of the first schema: %+v, %v", a, err)
		}
		c, err := tx.Conversations().Find("general")
		if err != nil || c.Answers != "" {
			t.Errorf("a conversation of the first schema: %+v, %v", c, err)
		}
		waiting, err := tx.Queue().AgentsToWake(9)
		if diff := cmp.Diff([]string{"gendry", "sansa"}, waiting); diff != "" {
			t.Errorf("waiting (-want +got):\n%s", diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What was there before there were tasks goes on: a run is nested in no ask, and what was asked counts.
func TestWorkIsAddedToASchemaWithRuns(t *testing.T) {
	home := beforeDeliveries(t)
	before := only(t, "00001_core.sql", "00002_delivery.sql", "00003_search.sql", "00004_artifacts.sql", "00005_retention.sql",
		"00006_tokens.sql", "00007_runs.sql")
	if err := upgrade(t, home, before); err != nil {
		t.Fatal(err)
	}
	raw(t, home,
		`UPDATE deliveries SET agent = 1, purpose = 'ask' WHERE message = 1`,
		`INSERT INTO runs (id, agent, conv, task, runtime, state, trace, attempt, hops, chain, created_at, deadline, input_tokens, output_tokens,
				cost, pid, pid_started)
			VALUES (unhex(printf('%032x', 1)), 1, 1, 'task-1', 'script', 'running', '', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
	)
	storetest.Upgraded(t, opened(t, home))
}

// Runs and approvals from before they had numbers get them by age.
func TestRunsAndApprovalsOfAnOlderProgramAreNumberedByAge(t *testing.T) {
	home := beforeDeliveries(t)
	var before []string
	for name := range steps(t, "") {
		if strings.HasSuffix(name, ".sql") && name < "00020" {
			before = append(before, name)
		}
	}
	if err := upgrade(t, home, only(t, before...)); err != nil {
		t.Fatal(err)
	}
	for i, created := range []int{20, 20, 10} { // of the rows 1, 2 and 3
		raw(t, home, fmt.Sprintf(
			`INSERT INTO runs (id, agent, conv, runtime, state, trace, attempt, hops, chain, created_at, deadline, input_tokens, output_tokens,
				cost, pid, pid_started)
			VALUES (unhex(printf('%%032x', %d)), 1, 1, 'script', 'lost', '', 1, 0, 0, %d, 0, 0, 0, 0, 0, 0)`, i+1, created), fmt.Sprintf(
			`INSERT INTO approvals (id, agent, tool, args, digest, summary, rule, human, created_at, trace, hops, source, state)
			VALUES (unhex(printf('%%032x', %d)), 1, 'reply', '{}', '%d', '', '', 0, %d, '', 0, '', 'denied')`, i+1, i, created))
	}
	storetest.NumberedByAge(t, opened(t, home))
}

// Heartbeats are frequent: they leave what is remembered of the agents as it is.
func TestHealthIsNoChangeToAnAgent(t *testing.T) {
	home := beforeDeliveries(t)
	db := opened(t, home)
	err := db.Update(t.Context(), func(tx storage.Tx) error {
		return tx.Agents().PutHealth("arya", parley.Health{Health: "healthy", At: time.UnixMilli(7)})
	})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	if n := table(t, filepath.Join(home, "parley.db"), "counters WHERE agents = 3"); n != 1 {
		t.Error("the version of the agents has changed")
	}
}

// What is due is not known to SQL: all are looked at once, and what is due for each is set then.
func TestDeliveriesOfTheFirstSchemaAreLookedAtOnce(t *testing.T) {
	db := opened(t, beforeDeliveries(t))
	due := func(moment int64) (list []parley.Delivery) {
		t.Helper()
		err := db.View(t.Context(), func(tx storage.Tx) (err error) {
			list, err = tx.Queue().Due(time.UnixMilli(moment), 9)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first := due(2000)
	if len(first) != 5 {
		t.Errorf("%d of 5 are looked at", len(first))
	}
	for _, d := range first {
		if err := db.Update(t.Context(), func(tx storage.Tx) error { return tx.Deliveries().Put(d, d) }); err != nil {
			t.Fatal(err)
		}
	}
	for moment, want := range map[int64]int{2000: 0, 6002: 2, 9000: 2, 301_004: 3, 1_801_001: 4} {
		if n := len(due(moment)); n != want {
			t.Errorf("%d are due at %d, want %d", n, moment, want)
		}
	}
}

func TestUpgradeOfTheFirstSchemaIsBackedUp(t *testing.T) {
	home := beforeDeliveries(t)
	closed(t, opened(t, home))
	backups := backupsOf(t, home)
	if len(backups) != 1 || !strings.HasPrefix(filepath.Base(backups[0]), "schema-1-before-") {
		t.Fatalf("backups: %v", backups)
	}
	if n := table(t, backups[0], "deliveries"); n != 5 {
		t.Errorf("the backup has %d deliveries", n)
	}
	if n := table(t, backups[0], "inboxes"); n != -1 {
		t.Error("the backup has been brought up to date")
	}
}

// Conversations of a home from before there were display names have none, and can get one.
func TestOldConversationsHaveNoDisplayName(t *testing.T) {
	db := opened(t, beforeDeliveries(t))
	err := db.Update(t.Context(), func(tx storage.Tx) error {
		c, err := tx.Conversations().Find("general")
		if err != nil {
			return err
		}
		if c.DisplayName != "" {
			t.Errorf("it has the display name %q", c.DisplayName)
		}
		c.DisplayName = "For all"
		if err := tx.Conversations().Put(c); err != nil {
			return err
		}
		list, err := tx.Conversations().WithDisplayName("FOR ALL", c.CreatedBy, true, 2)
		if len(list) != 1 || list[0].ID != c.ID {
			t.Errorf("found %v", list)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
