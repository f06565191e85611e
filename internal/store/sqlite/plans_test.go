package sqlite

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// spy is a driver that remembers what its writer is asked.
type spy struct {
	*driver
	asked []asked
}

type asked struct {
	query string
	args  []any
}

type spied struct {
	*conn
	spy *spy
}

func (s *spy) Writer() store.Conn { return &spied{s.writer, s} }

func (c *spied) Query(query string, args ...any) (store.Rows, error) {
	c.spy.asked = append(c.spy.asked, asked{query, args})
	return c.conn.Query(query, args...)
}

func (c *spied) Exec(query string, args ...any) (int64, error) {
	c.spy.asked = append(c.spy.asked, asked{query, args})
	return c.conn.Exec(query, args...)
}

func (c *spied) LaterOne(query string, args ...any) error {
	c.spy.asked = append(c.spy.asked, asked{query, args})
	return c.conn.LaterOne(query, args...)
}

// crowd fills a home with thousands of messages and deliveries, a few of them for each question there
// is, and does not tell SQLite how many.
func crowd(t *testing.T, home string) {
	t.Helper()
	closed(t, opened(t, home))
	raw(t, home,
		`INSERT INTO agents (num, id, uuid, name, kind, access, created_at, updated_at, profile)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
			SELECT i, 'agent-' || i, 'uuid-' || i, 'Agent' || i, 'agent', '', 0, 0, '{}' FROM n`,
		`INSERT INTO names SELECT id, num FROM agents`,
		`UPDATE counters SET agents = 20`,
		`INSERT INTO conversations (num, id, kind, visibility, topic, created_by, created_at, updated_at, messages, last_seq, buried)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
			SELECT i, unhex(printf('%032x', i)), 'group', 'private', '', 1, 0, 0, 30, 0, 0 FROM n`,
		`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
			SELECT i, unhex(printf('%032x', i)), 1 + i % 200, 1 + i % 20, 'chat', i % 11, 0, 0, 0, 'api', 'hello', x'00' FROM n`,
		`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks, lease, timer, next_at)
			SELECT seq, 1 + seq % 19, CASE WHEN seq % 7 = 0 THEN 'accepted' WHEN seq % 31 = 0 THEN 'delivered' WHEN seq % 97 = 0 THEN 'dead' ELSE 'acked' END,
				seq % 2, '', priority, seq, 1, 0, 0, 0, CASE WHEN seq % 31 = 0 THEN unhex(printf('%032x', seq % 5)) END,
				CASE WHEN seq % 31 = 0 THEN seq END, CASE WHEN seq % 7 = 0 THEN seq END
			FROM messages`,
		`INSERT INTO inboxes (agent, waking, quiet, evicted) SELECT num, 1, 1, 0 FROM agents`,
		`INSERT INTO tokens (id, hash, agent, kind, scopes, created_by, created_at, expires_at)
			SELECT id, id, 1 + seq % 20, 'token', 'read', 1, 0, CASE WHEN seq % 7 = 0 THEN seq END FROM messages`,
		`INSERT INTO runs (id, agent, conv, runtime, state, trace, attempt, hops, chain, created_at, ended_at, deadline, session,
				input_tokens, output_tokens, cost, pid, pid_started, output)
			SELECT id, 1 + seq % 19, conv, 'script', CASE WHEN seq % 400 = 0 THEN 'running' ELSE 'succeeded' END, '', 1, 0, 0, seq,
				CASE WHEN seq % 400 > 0 THEN seq END, 0, CASE WHEN seq % 5 = 0 THEN 'session' END, 1, 1, 1, 0, 0, seq % 100 = 0 FROM messages`,
		`INSERT INTO run_triggers (message, agent, run, id) SELECT seq, 1 + seq % 19, id, id FROM messages`,
		`INSERT INTO run_posts (run, message, digest) SELECT id, seq, '' FROM messages`,
		`INSERT INTO run_outputs (run, output) SELECT id, x'00' FROM messages WHERE seq % 100 = 0`,
		`INSERT INTO exchanges (low, high, last, conv, count, at, open)
			SELECT a.num, b.num, b.num, 1 + (20 * a.num + b.num) % 200, 1, 1, 1 FROM agents a JOIN agents b ON a.num < b.num`,
	)
}

// spyOnCrowd is a driver of a home with a crowd in it.
func spyOnCrowd(t *testing.T) *spy {
	t.Helper()
	return spyOn(t, crowd)
}

func spyOn(t *testing.T, fill func(*testing.T, string)) *spy {
	t.Helper()
	home := t.TempDir()
	fill(t, home)
	d, err := connect(filepath.Join(home, "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.closeConnections(); err != nil {
			t.Error(err)
		}
	})
	return &spy{driver: d}
}

// TestDeliveriesAreFoundByIndex explains every statement about deliveries: each must begin at its index,
// read nothing but rows it returns, and sort nothing.
func TestDeliveriesAreFoundByIndex(t *testing.T) {
	s := spyOnCrowd(t)
	id := uuid.UUID{15: 31}.String() // of a message, a conversation and a lease
	ready := func(q storage.QueueFilter) func(storage.Tx) error {
		q.Recipient, q.Limit = "agent-3", 5
		return func(tx storage.Tx) error { return found(tx.Queue().Ready(q)) }
	}
	for name, c := range map[string]struct {
		want string
		ask  func(storage.Tx) error
	}{
		"take what wakes":     {"deliveries_ready (agent=? AND waking=?)", ready(storage.QueueFilter{Wakes: true})},
		"take what is quiet":  {"deliveries_ready (agent=? AND waking=?)", ready(storage.QueueFilter{})},
		"take what is plain":  {"deliveries_ready (agent=? AND waking=?)", ready(storage.QueueFilter{Wakes: true, Plain: true})},
		"take what is urgent": {"deliveries_urgent (agent=?)", ready(storage.QueueFilter{Wakes: true, Urgent: true})},
		"take asks":           {"deliveries_urgent (agent=? AND rank=?)", ready(storage.QueueFilter{Wakes: true, Urgent: true, Purpose: "ask"})},
		"look at the rest":    {"deliveries_ready (agent=? AND waking=? AND place>?)", ready(storage.QueueFilter{Wakes: true, After: 3})},
		"held":                {"deliveries_held (agent=? AND place>?)", func(tx storage.Tx) error { return found(tx.Queue().LeasedOrPaused("agent-3", 1, 5)) }},
		"inbox, from the end": {"deliveries_seen (agent=? AND place<?)", func(tx storage.Tx) error {
			return found(tx.Queue().Newest(storage.InboxPage{Recipient: "agent-3", Before: 99, Limit: 5}))
		}},
		"leased": {"deliveries_lease (lease=?)", func(tx storage.Tx) error { return found(tx.Queue().Leased(id)) }},
		"left":   {"deliveries_lease (lease>?)", func(tx storage.Tx) error { return found(tx.Queue().LeasedByNode("node")) }},
		"holders": {"deliveries_timer (timer>? AND timer<?)", func(tx storage.Tx) error {
			_, err := tx.Queue().LeaseHolders()
			return err
		}},
		"lapsed":    {"deliveries_timer (timer<?)", func(tx storage.Tx) error { return found(tx.Queue().Lapsed(9, 5)) }},
		"due":       {"deliveries_next (next_at<?)", func(tx storage.Tx) error { return found(tx.Queue().Due(time.UnixMilli(9), 5)) }},
		"dead":      {"deliveries_dead (message>?)", func(tx storage.Tx) error { return found(tx.Queue().Dead(9, 5)) }},
		"inbox":     {"inboxes USING INTEGER PRIMARY KEY", func(tx storage.Tx) error { return found(tx.Queue().Inbox("agent-3")) }},
		"heartbeat": {"d USING PRIMARY KEY (message=? AND agent=?)", func(tx storage.Tx) error { return found(tx.Queue().Heartbeat("agent-3", "agent-4")) }},
		"orphaned":  {"deliveries_held (agent=?)", func(tx storage.Tx) error { return found(tx.Queue().Orphaned()) }},
		"get":       {"d USING PRIMARY KEY (message=? AND agent=?)", func(tx storage.Tx) error { return found(tx.Deliveries().Get(id, "agent-3")) }},
		"of":        {"d USING PRIMARY KEY (message=?)", func(tx storage.Tx) error { return found(tx.Deliveries().OfMessage(id)) }},
		"open":      {"d USING PRIMARY KEY (message=?)", func(tx storage.Tx) error { return found(tx.Deliveries().HasOpen(id)) }},
		"between":   {"messages_conv (conv=? AND seq>? AND seq<?)", func(tx storage.Tx) error { return found(tx.Deliveries().Between(id, "agent-3", 5, 99, 5)) }},
		"pair":      {"pairs USING PRIMARY KEY (sender=? AND recipient=?)", func(tx storage.Tx) error { return found(tx.Deliveries().PairSeq("agent-3", "agent-4")) }},
		"put": {"deliveries USING PRIMARY KEY (message=? AND agent=?)", func(tx storage.Tx) error {
			before := parley.Delivery{Seq: 7, Recipient: "agent-8", State: parley.DeliveryAccepted}
			return tx.Deliveries().Put(before, before)
		}},
	} {
		t.Run(name, func(t *testing.T) { checkPlans(t, s, c.want, c.ask) })
	}
	// The lease clock begins after the last timer, which must not cost more with every delivery.
	t.Run("start", func(t *testing.T) {
		lines := plan(t, s.writer, asked{query: lastTimer})
		if len(lines) != 1 || !strings.HasPrefix(lines[0], "SEARCH deliveries USING COVERING INDEX deliveries_timer") {
			t.Errorf("%q", lines)
		}
	})
}

// TestTokensAreFoundByIndex holds however many there are.
func TestTokensAreFoundByIndex(t *testing.T) {
	s := spyOnCrowd(t)
	id := uuid.UUID{15: 31}.String()
	list := func(f parley.TokenFilter) func(storage.Tx) error {
		f.Limit = 5
		return func(tx storage.Tx) error { return found(tx.Tokens().List(f)) }
	}
	for name, c := range map[string]struct {
		want string
		ask  func(storage.Tx) error
	}{
		"find":       {"tokens_hash (hash=?)", func(tx storage.Tx) error { return found(tx.Tokens().Find(parley.TokenHash{1})) }},
		"get":        {"t USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return found(tx.Tokens().Get(id)) }},
		"list":       {"t USING PRIMARY KEY (id<?)", list(parley.TokenFilter{Before: id})},
		"of one":     {"tokens_agent (agent=? AND id<?)", list(parley.TokenFilter{Agent: "agent-3", Before: id})},
		"put":        {"tokens USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return tx.Tokens().Put(parley.Token{ID: id}) }},
		"forget":     {"tokens_ended (kind=? AND <expr><?)", func(tx storage.Tx) error { return found(tx.Tokens().Forget("token", time.UnixMilli(9), 5)) }},
		"all of one": {"tokens_agent (agent=?)", list(parley.TokenFilter{Agent: "agent-3"})},
	} {
		t.Run(name, func(t *testing.T) { checkPlans(t, s, c.want, c.ask) })
	}
}

// TestRunsAreFoundByIndex holds however many there are, of which few are live.
func TestRunsAreFoundByIndex(t *testing.T) {
	s := spyOnCrowd(t)
	id := uuid.UUID{15: 31}.String() // of a run, a message and a conversation
	list := func(f parley.RunFilter) func(storage.Tx) error {
		f.Limit = 5
		return func(tx storage.Tx) error { return found(tx.Runs().List(f)) }
	}
	for name, c := range map[string]struct {
		want string
		ask  func(storage.Tx) error
	}{
		"get":       {"r USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return found(tx.Runs().Get(id)) }},
		"triggers":  {"run_triggers_run (run=?)", func(tx storage.Tx) error { return found(tx.Runs().Get(id)) }},
		"put":       {"runs USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return tx.Runs().Put(parley.Run{ID: id}) }},
		"live":      {"runs_live (agent=?)", func(tx storage.Tx) error { return found(tx.Runs().Live("agent-3")) }},
		"list":      {"r USING PRIMARY KEY (id<?)", list(parley.RunFilter{Before: id})},
		"of one":    {"runs_agent (agent=? AND id<?)", list(parley.RunFilter{Agent: "agent-3", Before: id})},
		"failed":    {"runs_failed (agent=?)", list(parley.RunFilter{Agent: "agent-3", Failed: true})},
		"in one":    {"runs_conv (conv=? AND id<?)", list(parley.RunFilter{Conversation: id, Before: id})},
		"of one in": {"runs_room (agent=? AND conv=? AND id<?)", list(parley.RunFilter{Agent: "agent-3", Conversation: id, Before: id})},
		"woken":     {"t USING PRIMARY KEY (message=? AND agent=?)", func(tx storage.Tx) error { return found(tx.Runs().WokenBy(id, "agent-3")) }},
		"posts":     {"p USING PRIMARY KEY (run=?)", func(tx storage.Tx) error { return found(tx.Runs().Posts(id)) }},
		"posted by": {"run_posts_message (message=?)", func(tx storage.Tx) error { return found(tx.Runs().PostedBy(id)) }},
		"session": {"runs_session (agent=? AND conv=?)", func(tx storage.Tx) error {
			return found(tx.Runs().Session("agent-3", id, time.UnixMilli(9)))
		}},
		"spent":          {"runs_spent (agent=? AND created_at>?)", func(tx storage.Tx) error { return found(tx.Runs().Spent("agent-3", time.UnixMilli(5990))) }},
		"output":         {"run_outputs USING INDEX", func(tx storage.Tx) error { return found(tx.Runs().Output(id)) }},
		"forget outputs": {"runs_output (ended_at<?)", func(tx storage.Tx) error { return found(tx.Runs().ForgetOutputs(time.UnixMilli(900), 5)) }},
		"exchange":       {"e USING PRIMARY KEY (low=? AND high=?)", func(tx storage.Tx) error { return found(tx.Loops().Get("agent-3", "agent-4")) }},
		"forget in":      {"exchanges_conv (conv=?)", func(tx storage.Tx) error { return found(tx.Loops().ForgetIn(id)) }},
		"waiting":        {"deliveries_urgent (agent>?)", func(tx storage.Tx) error { return found(tx.Queue().AgentsToWake(5)) }},
		"numbered":       {"runs_number (number=?)", func(tx storage.Tx) error { return found(tx.Names().Numbered(parley.NounRun, 5)) }},
		"an end": {"SEARCH runs USING INDEX runs_number (number>?)", func(tx storage.Tx) error {
			return found(tx.Names().Like(parley.NounRun, "abcdef", storage.IDReader{}, 5))
		}},
		"a beginning": {"SEARCH messages USING INDEX messages_id (id>? AND id<?)", func(tx storage.Tx) error {
			return found(tx.Names().Like(parley.NounMessage, "abcdef", storage.IDReader{ID: "agent-3"}, 5))
		}},
		"an end of a message": {"SEARCH messages USING INTEGER PRIMARY KEY (rowid>?)", func(tx storage.Tx) error {
			return found(tx.Names().Like(parley.NounMessage, "abcdef", storage.IDReader{ID: "agent-3"}, 5))
		}},
	} {
		t.Run(name, func(t *testing.T) { checkPlans(t, s, c.want, c.ask) })
	}
}

// TestLiveRunsAreFoundByIndex looks at the questions about all agents, whose answers are small enough to be sorted.
func TestLiveRunsAreFoundByIndex(t *testing.T) {
	s := spyOnCrowd(t)
	for name, ask := range map[string]func(storage.Tx) error{
		"live":   func(tx storage.Tx) error { return found(tx.Runs().Live("")) },
		"counts": func(tx storage.Tx) error { return found(tx.Runs().CountLive()) },
		"list":   func(tx storage.Tx) error { return found(tx.Runs().List(parley.RunFilter{Live: true, Limit: 5})) },
	} {
		t.Run(name, func(t *testing.T) {
			s.asked = nil
			if err := store.New(s).Update(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
			var plans []string
			for _, a := range s.asked {
				plans = append(plans, plan(t, s.writer, a)...)
			}
			text := strings.Join(plans, "\n")
			if !strings.Contains(text, "runs_live") {
				t.Errorf("runs_live is not used:\n%s", text)
			}
		})
	}
}

// TestTheNextNumberIsFoundByIndex holds however many runs there are. The one row of counters is scanned.
func TestTheNextNumberIsFoundByIndex(t *testing.T) {
	s := spyOnCrowd(t)
	s.asked = nil
	err := store.New(s).Update(t.Context(), func(tx storage.Tx) error {
		return errors.Join(found(tx.Runs().NextNumber()), parley.ErrNotFound) // nothing is to be committed
	})
	if !errors.Is(err, parley.ErrNotFound) || len(s.asked) == 0 {
		t.Fatalf("asked %v: %v", s.asked, err)
	}
	text := strings.Join(plan(t, s.writer, s.asked[0]), "\n")
	if !strings.Contains(text, "SEARCH runs USING COVERING INDEX runs_number") {
		t.Errorf("runs_number is not used:\n%s", text)
	}
}

func found[V any](_ V, err error) error { return err }

func checkPlans(t *testing.T, s *spy, want string, ask func(storage.Tx) error) {
	t.Helper()
	s.asked = nil
	if err := store.New(s).Update(t.Context(), ask); err != nil && !errors.Is(err, parley.ErrNotFound) {
		t.Fatal(err)
	}
	var plans []string
	for _, a := range s.asked {
		plans = append(plans, plan(t, s.writer, a)...)
	}
	text := strings.Join(plans, "\n")
	if !strings.Contains(text, want) {
		t.Errorf("%s is not used:\n%s", want, text)
	}
	for _, slow := range []string{"SCAN d", "SCAN m", "SCAN c", "SCAN t", "SCAN p", "SCAN r", "SCAN f", "SCAN n", "TEMP B-TREE", "AUTOMATIC"} {
		if strings.Contains(text, slow) {
			t.Errorf("%s in\n%s", slow, text)
		}
	}
}

var planned = regexp.MustCompile("deliveries|inboxes|pairs|tokens|runs|run_|exchanges|waits|task|permissions|approvals|notices|notes|bridge_files|departures")

// plan is what SQLite would do for a statement about deliveries, tokens, runs or work, line by line.
func plan(t *testing.T, c *conn, a asked) (lines []string) {
	t.Helper()
	if !planned.MatchString(a.query) {
		return nil
	}
	rows, err := c.Query("EXPLAIN QUERY PLAN "+a.query, a.args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int64
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
