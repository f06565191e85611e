package postgres

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// spy is a driver that remembers what its writer is asked.
type spy struct {
	*driver
	asked []statement
}

type spied struct {
	*conn
	spy *spy
}

func (s *spy) Writer() store.Conn { return &spied{s.writer, s} }

func (c *spied) Query(query string, args ...any) (store.Rows, error) {
	c.spy.asked = append(c.spy.asked, statement{query: query, args: args})
	return c.conn.Query(query, args...)
}

const (
	crowded        = 20_000 // messages, each with a delivery
	maxRowsTouched = 200    // rows that a question may touch in one step
)

// crowd fills a database. Agent 3 has more than half of all deliveries, and every fifth agent is removed.
func crowd(t *testing.T, c *pgx.Conn) {
	t.Helper()
	for _, statement := range []string{
		`INSERT INTO agents (num, id, uuid, name, kind, access, created_at, updated_at, removed_at, profile)
			SELECT i, 'agent-' || i, 'uuid-' || i, 'Agent' || i, 'agent', '', 0, 0, CASE WHEN i % 5 = 0 THEN 1 END, '{}'
			FROM generate_series(1, 100) i`,
		`INSERT INTO names SELECT id, num FROM agents`,
		`UPDATE counters SET agents = 100`,
		`INSERT INTO conversations (num, id, kind, visibility, topic, created_by, created_at, updated_at, messages, last_seq, buried)
			SELECT i, decode(lpad(to_hex(i), 32, '0'), 'hex'), 'group', 'private', '', 1, 0, 0, 40, 0, 0 FROM generate_series(1, 500) i`,
		fmt.Sprintf(`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
			SELECT i, decode(lpad(to_hex(i), 32, '0'), 'hex'), 1 + i %% 500, 1 + i %% 100, 'chat', i %% 11, 0, 0, 0, 'api', 'hello', '\x00'
			FROM generate_series(1, %d) i`, crowded),
		`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks, lease, timer, next_at)
			SELECT seq, CASE WHEN seq % 3 = 0 THEN 1 + seq % 4 ELSE 3 END, CASE WHEN seq % 331 = 0 THEN 'delivered' ELSE 'accepted' END,
				seq % 2, '', priority, seq, 1, 0, 0, 0, CASE WHEN seq % 331 = 0 THEN decode(lpad(to_hex(seq % 50), 32, '0'), 'hex') END,
				CASE WHEN seq % 331 = 0 THEN seq END, CASE WHEN seq % 7 = 0 THEN seq END
			FROM messages`,
		`INSERT INTO tokens (id, hash, agent, kind, scopes, created_by, created_at, expires_at)
			SELECT id, id, 1 + seq % 100, 'token', 'read', 1, 0, CASE WHEN seq % 7 = 0 THEN seq END FROM messages`,
		`INSERT INTO runs (id, agent, conv, runtime, state, trace, attempt, hops, chain, created_at, ended_at, deadline, session,
				input_tokens, output_tokens, cost, pid, pid_started, output)
			SELECT m.id, d.agent, m.conv, 'script', CASE WHEN seq % 400 = 0 THEN 'running' ELSE 'succeeded' END, '', 1, 0, 0, seq,
				CASE WHEN seq % 400 > 0 THEN seq END, 0, CASE WHEN seq % 5 = 0 THEN 'session' END, 1, 1, 1, 0, 0,
				CASE WHEN seq % 100 = 0 THEN 1 ELSE 0 END
			FROM messages m JOIN deliveries d ON d.message = m.seq`,
		`INSERT INTO run_triggers (message, agent, run, id) SELECT message, agent, m.id, m.id FROM deliveries JOIN messages m ON m.seq = message`,
		`INSERT INTO run_posts (run, message, digest) SELECT id, seq, '' FROM messages`,
		`INSERT INTO run_outputs (run, output) SELECT id, '\x00' FROM messages WHERE seq % 100 = 0`,
		`INSERT INTO exchanges (low, high, last, conv, count, at, open)
			SELECT a.num, b.num, b.num, 1 + (100 * a.num + b.num) % 500, 1, 1, 1 FROM agents a JOIN agents b ON a.num < b.num`,
	} {
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestQuestionsAreAnsweredByIndex explains, as PostgreSQL runs it once it is prepared, every statement
// that is asked all the time. None may touch many more rows than it returns, with statistics or without,
// or with old ones: a hub writes much before the first are made, and before the next.
func TestQuestionsAreAnsweredByIndex(t *testing.T) {
	url := migrated.Copy(t)
	c, err := pgx.Connect(t.Context(), url+"&plan_cache_mode=force_generic_plan&jit=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	crowd(t, c)
	busy(t, c)
	d, err := newDialer(url)
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{driver: newDriver(d)}
	asked := store.New(s)
	t.Cleanup(func() { _ = asked.Close() })
	for _, stage := range []struct{ statistics, before string }{
		{"without", "SELECT"},
		{"with", "ANALYZE"},
		{"with old", fmt.Sprintf("UPDATE deliveries SET state = 'acked', timer = NULL, lease = NULL, next_at = NULL WHERE message < %d",
			crowded*9/10)},
	} {
		if _, err := c.Exec(t.Context(), stage.before); err != nil {
			t.Fatal(err)
		}
		all := questions()
		maps.Copy(all, runQuestions())
		maps.Copy(all, workQuestions())
		for name, question := range all {
			t.Run(name+" "+stage.statistics+" statistics", func(t *testing.T) {
				s.asked = nil
				if err := asked.Update(t.Context(), question); err != nil && !errors.Is(err, parley.ErrNotFound) {
					t.Fatal(err)
				}
				for _, statement := range s.asked {
					checkTouched(t, c, statement)
				}
			})
		}
	}
}

func questions() map[string]func(storage.Tx) error {
	id := uuid.UUID{15: 31}.String() // of a message, a conversation and a lease
	ready := func(q storage.QueueFilter) func(storage.Tx) error {
		q.Recipient, q.Limit = "agent-3", 5
		return func(tx storage.Tx) error { return found(tx.Queue().Ready(q)) }
	}
	return map[string]func(storage.Tx) error{
		"take what wakes":     ready(storage.QueueFilter{Wakes: true}),
		"take what is quiet":  ready(storage.QueueFilter{}),
		"take what is plain":  ready(storage.QueueFilter{Wakes: true, Plain: true}),
		"take what is urgent": ready(storage.QueueFilter{Wakes: true, Urgent: true}),
		"take asks":           ready(storage.QueueFilter{Wakes: true, Urgent: true, Purpose: parley.PurposeAsk}),
		"look at the rest":    ready(storage.QueueFilter{Wakes: true, After: 3}),
		"inbox, from the end": func(tx storage.Tx) error {
			return found(tx.Queue().Newest(storage.InboxPage{Recipient: "agent-3", Before: 99, Limit: 5}))
		},
		"held":   func(tx storage.Tx) error { return found(tx.Queue().LeasedOrPaused("agent-3", 1, 5)) },
		"leased": func(tx storage.Tx) error { return found(tx.Queue().Leased(id)) },
		"lease holders": func(tx storage.Tx) error {
			_, err := tx.Queue().LeaseHolders()
			return err
		},
		"lapsed":       func(tx storage.Tx) error { return found(tx.Queue().Lapsed(crowded, 5)) },
		"due":          func(tx storage.Tx) error { return found(tx.Queue().Due(time.UnixMilli(crowded), 5)) },
		"dead":         func(tx storage.Tx) error { return found(tx.Queue().Dead(9, 5)) },
		"heartbeat":    func(tx storage.Tx) error { return found(tx.Queue().Heartbeat("agent-3", "agent-4")) },
		"damaged work": func(tx storage.Tx) error { return found(tx.Queue().DamagedWork()) },
		"damaged quiet deliveries": func(tx storage.Tx) error {
			_, _, err := tx.Queue().DamagedQuiet(storage.QuietMark{Agent: 3, Place: 9}, 5)
			return err
		},
		"messages of a trace": func(tx storage.Tx) error {
			_, _, err := tx.Messages().InTrace("winter", 9, 5)
			return err
		},
		"orphaned": func(tx storage.Tx) error { return found(tx.Queue().Orphaned()) },
		"get":      func(tx storage.Tx) error { return found(tx.Deliveries().Get(id, "agent-3")) },
		"get all": func(tx storage.Tx) error {
			return found(tx.Deliveries().GetAll("agent-3", []string{id, uuid.UUID{15: 32}.String()}))
		},
		"seqs of messages": func(tx storage.Tx) error {
			_, err := tx.Messages().Seqs([]string{id, uuid.UUID{15: 32}.String()})
			return err
		},
		"get messages": func(tx storage.Tx) error {
			return found(tx.Messages().GetAll([]string{id, uuid.UUID{15: 32}.String()}))
		},
		"unread": func(tx storage.Tx) error {
			return found(tx.Members().Unread(parley.Member{Conversation: id, Agent: "agent-3"}, 9))
		},
		"last seq": func(tx storage.Tx) error { return found(tx.Messages().NextSeq()) },
		"of":       func(tx storage.Tx) error { return found(tx.Deliveries().OfMessage(id)) },
		"between":  func(tx storage.Tx) error { return found(tx.Deliveries().Between(id, "agent-3", 5, crowded, 5)) },
		"message":  func(tx storage.Tx) error { return found(tx.Messages().Get(id)) },
		"replies":  func(tx storage.Tx) error { return found(tx.Messages().Replies(id, 5)) },
		"token":    func(tx storage.Tx) error { return found(tx.Tokens().Find(parley.TokenHash{1})) },
		"tokens": func(tx storage.Tx) error {
			return found(tx.Tokens().List(parley.TokenFilter{Agent: "agent-3", Limit: 5}))
		},
		"events": func(tx storage.Tx) error { return found(tx.Log().Events(9, 5)) },
	}
}

func runQuestions() map[string]func(storage.Tx) error {
	id := uuid.UUID{15: 31}.String() // of a run, a message and a conversation
	late := uuid.UUID{14: 0x40}.String()
	list := func(f parley.RunFilter) func(storage.Tx) error {
		f.Limit = 5
		return func(tx storage.Tx) error { return found(tx.Runs().List(f)) }
	}
	ready := func(q storage.QueueFilter) func(storage.Tx) error {
		q.Recipient, q.Wakes, q.Limit = "agent-3", true, 5
		return func(tx storage.Tx) error { return found(tx.Queue().Ready(q)) }
	}
	return map[string]func(storage.Tx) error{
		"run":            func(tx storage.Tx) error { return found(tx.Runs().Get(id)) },
		"live runs":      func(tx storage.Tx) error { return found(tx.Runs().Live("agent-3")) },
		"all live runs":  func(tx storage.Tx) error { return found(tx.Runs().Live("")) },
		"count runs":     func(tx storage.Tx) error { return found(tx.Runs().CountLive()) },
		"runs":           list(parley.RunFilter{Before: late}),
		"runs of one":    list(parley.RunFilter{Agent: "agent-3", Before: late}),
		"runs of few":    list(parley.RunFilter{Agent: "agent-4", Before: late}),
		"failed runs":    list(parley.RunFilter{Agent: "agent-3", Failed: true}),
		"runs in one":    list(parley.RunFilter{Conversation: id, Before: late}),
		"runs of one in": list(parley.RunFilter{Agent: "agent-3", Conversation: id}),
		"woken by":       func(tx storage.Tx) error { return found(tx.Runs().WokenBy(id, "agent-3")) },
		"posts of a run": func(tx storage.Tx) error { return found(tx.Runs().Posts(id)) },
		"posted by":      func(tx storage.Tx) error { return found(tx.Runs().PostedBy(id)) },
		"session":        func(tx storage.Tx) error { return found(tx.Runs().Session("agent-3", id, time.UnixMilli(9))) },
		"spent":          func(tx storage.Tx) error { return found(tx.Runs().Spent("agent-3", time.UnixMilli(crowded-50))) },
		"output":         func(tx storage.Tx) error { return found(tx.Runs().Output(id)) },
		"exchange":       func(tx storage.Tx) error { return found(tx.Loops().Get("agent-3", "agent-4")) },
		"numbered":       func(tx storage.Tx) error { return found(tx.Names().Numbered(parley.NounRun, 5)) },
		"next number":    func(tx storage.Tx) error { return found(tx.Runs().NextNumber()) },
		"exchanges":      func(tx storage.Tx) error { return found(tx.Loops().ForgetIn(id)) },
		"waiting":        func(tx storage.Tx) error { return found(tx.Queue().AgentsToWake(5)) },
		"take elsewhere": ready(storage.QueueFilter{NotIn: []string{id, late}}),
		"urgent, not in": ready(storage.QueueFilter{Urgent: true, NotIn: []string{id, late}}),
	}
}

func found[V any](_ V, err error) error { return err }

// touched is what a line of a plan says about the rows it has given, each time it was run.
var touched = regexp.MustCompile(`(Filter|rows)[=:] ?(\d+)(?: loops=(\d+))?`)

func checkTouched(t *testing.T, c *pgx.Conn, s statement) {
	t.Helper()
	for _, line := range planOf(t, c, s) {
		if strings.Contains(line, " on conversations") || strings.Contains(line, " on agents") {
			continue // of the few there are here, reading all may be best
		}
		_, actual, _ := strings.Cut(line, "(actual ")
		if strings.Contains(line, "Removed") {
			actual = line
		}
		if n := touched.FindStringSubmatch(actual); n != nil {
			rows, _ := strconv.Atoi(n[2])
			loops, _ := strconv.Atoi(n[3])
			if rows*max(loops, 1) > maxRowsTouched {
				t.Errorf("%s\n%s", s.query, line)
			}
		}
	}
}

// planOf is how PostgreSQL has run a statement, line by line.
func planOf(t *testing.T, c *pgx.Conn, s statement) []string {
	t.Helper()
	if _, err := c.Prepare(t.Context(), "question", s.query); err != nil {
		t.Fatal(err)
	}
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		switch arg := arg.(type) {
		case []byte:
			args[i] = fmt.Sprintf(`'\x%x'`, arg)
		default:
			args[i] = fmt.Sprintf("'%v'", arg)
		}
	}
	call := "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE question"
	if len(args) > 0 {
		call += "(" + strings.Join(args, ", ") + ")"
	}
	rows, err := c.Query(t.Context(), call, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Deallocate(t.Context(), "question"); err != nil {
		t.Fatal(err)
	}
	return lines
}
