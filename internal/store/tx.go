package store

import (
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// tx implements storage.Tx on one connection inside a transaction.
type tx struct {
	conn     Conn
	explain  func(error) error
	clock    func(Conn) (int64, error) // the lease clock
	locks    Locks
	text     TextIndex
	writable bool
	broken   error // the database error after which no more statements may run

	counters counters
	saved    counters
	lastConv conversationKey // the conversation that was read last

	lastInbox agentInbox // the inbox that a new delivery was added to last

	byteLimit *byteLimit // nil: no limit
	damages   *damages   // where to note damage
	// unreadable is set by SkipUnreadable and gets each row that cannot be read. If it is nil, a query fails at such a row.
	unreadable func(parley.Damage)
	verifier   parley.Verifier

	undelivered string // the message that this update inserted last, until it has a delivery

	// The directory of agents in use is own. A reader uses the shared directory if that has the version of its snapshot. The
	// writer has its own directory, because it sees changes that are not committed.
	shared *atomic.Pointer[directory]
	own    *directory
}

type agentInbox struct {
	agent int64
	parley.Inbox
}

// counters are numbers that rise by one: seq with each message and event; task, run and approval with each task, run and
// approval; version with each change of an agent. A batch reads each counter once, when it first needs it. Only version is
// written back, because the others can be read from the rows.
type counters struct {
	seq        int64
	seqLoaded  bool
	task       int64
	taskLoaded bool
	run        numberCounter
	approval   numberCounter
	version    int64 // of the agents table
	verLoaded  bool
	verChanged bool
}

// numberCounter is the last number drawn for a table.
type numberCounter struct {
	number int64
	loaded bool
}

func (t *tx) Agents() storage.AgentStore               { return agents{t} }
func (t *tx) Conversations() storage.ConversationStore { return conversations{t} }
func (t *tx) Members() storage.MemberStore             { return members{t} }
func (t *tx) Messages() storage.MessageStore           { return messages{t} }
func (t *tx) Deliveries() storage.DeliveryStore        { return deliveries{t} }
func (t *tx) Queue() storage.QueueStore                { return queue{deliveries{t}} }
func (t *tx) Search() storage.SearchStore              { return search{t} }
func (t *tx) Artifacts() storage.ArtifactStore         { return artifacts{t} }
func (t *tx) Tokens() storage.TokenStore               { return tokens{t} }
func (t *tx) Runs() storage.RunStore                   { return runs{t} }
func (t *tx) Loops() storage.LoopStore                 { return loops{t} }
func (t *tx) Sessions() storage.SessionStore           { return sessions{t} }
func (t *tx) Waits() storage.WaitStore                 { return waits{t} }
func (t *tx) Tasks() storage.TaskStore                 { return tasks{t} }
func (t *tx) Permissions() storage.PermissionStore     { return permissions{t} }
func (t *tx) Approvals() storage.ApprovalStore         { return approvals{t} }
func (t *tx) Notices() storage.NoticeStore             { return notices{t} }
func (t *tx) Bridges() storage.BridgeStore             { return bridges{t} }
func (t *tx) Cursors() storage.CursorStore             { return cursors{t} }
func (t *tx) Log() storage.LogStore                    { return log{t} }
func (t *tx) Retention() storage.RetentionStore        { return retention{t} }
func (t *tx) Counts() storage.CountStore               { return counts{t} }
func (t *tx) Names() storage.NameStore                 { return names{t} }
func (t *tx) Notes() storage.NoteStore                 { return notes{t} }

var errReadOnly = parley.Errorf(parley.Internal, "a view cannot write")

func (t *tx) exec(query string, args ...any) (int64, error) {
	if t.broken != nil {
		return 0, t.broken
	}
	if !t.writable {
		return 0, errReadOnly
	}
	n, err := t.conn.Exec(query, args...)
	return n, t.note(err)
}

// write runs a statement like exec, but does not return how many rows it changed. Its error may come from a later statement, or
// from the commit.
func (t *tx) write(query string, args ...any) error {
	if t.broken != nil {
		return t.broken
	}
	if !t.writable {
		return errReadOnly
	}
	return t.note(t.conn.Later(query, args...))
}

// writeOne does what write does for a statement that must change exactly one row.
func (t *tx) writeOne(query string, args ...any) error {
	if t.broken != nil {
		return t.broken
	}
	if !t.writable {
		return errReadOnly
	}
	return t.note(t.conn.LaterOne(query, args...))
}

// note remembers an error of the database, so that no statement runs after it. The database may have ended the transaction, and a
// further statement would commit by itself.
func (t *tx) note(err error) error {
	if err == nil {
		return nil
	}
	t.broken = t.explain(err)
	return t.broken
}

// row scans the only row of a query. It returns parley.ErrNotFound if there is none.
func (t *tx) row(query string, args, dest []any) error {
	found := false
	err := t.each(query, args, func(r Rows) error {
		found = true
		return r.Scan(dest...)
	})
	if err == nil && !found {
		return parley.ErrNotFound
	}
	return err
}

// errEnough ends a query before its last row.
var errEnough = errors.New("enough")

// each calls scan for every row of a query, until scan returns errEnough or another error.
func (t *tx) each(query string, args []any, scan func(Rows) error) error {
	if t.broken != nil {
		return t.broken
	}
	rows, err := t.conn.Query(query, args...)
	if err != nil {
		return t.note(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return t.note(err)
		}
	}
	return t.note(rows.Err())
}

// lastSeq returns the number of the newest message or event.
func (t *tx) lastSeq() (int64, error) {
	c := &t.counters
	if c.seqLoaded {
		return c.seq, nil
	}
	var message, event int64
	if err := t.row("SELECT "+lastSeqs+" FROM counters", nil, []any{&c.seq, &message, &event}); err != nil {
		return 0, err
	}
	c.seq, c.seqLoaded = max(c.seq, message, event), true
	return c.seq, nil
}

const lastSeqs = "seq, (SELECT coalesce(max(seq), 0) FROM messages), (SELECT coalesce(max(num), 0) FROM events)"

// draw draws the next number of a table. The caller also writes an event, so draw reads the seq with the last number, in one
// round trip.
func (t *tx) draw(d *numberCounter, table string) (int64, error) {
	c := &t.counters
	if !d.loaded {
		last, dest := "(SELECT coalesce(max(number), 0) FROM "+table+")", []any{&d.number}
		var message, event int64
		if !c.seqLoaded {
			last, dest = last+", "+lastSeqs, append(dest, &c.seq, &message, &event)
		}
		if err := t.row("SELECT "+last+" FROM counters", nil, dest); err != nil {
			return 0, err
		}
		c.seq, c.seqLoaded, d.loaded = max(c.seq, message, event), true, true
	}
	d.number++
	return d.number, nil
}

// saveSeq stores the last seq in the counters, before the rows that have it may be erased.
func (t *tx) saveSeq() error {
	seq, err := t.lastSeq()
	if err != nil {
		return err
	}
	return t.write("UPDATE counters SET seq = $1", seq)
}

// agentsVersion returns the version of the agents, which rises with every change of an agent.
func (t *tx) agentsVersion() (int64, error) {
	c := &t.counters
	if c.verLoaded {
		return c.version, nil
	}
	if err := t.row("SELECT agents FROM counters", nil, []any{&c.version}); err != nil {
		return 0, err
	}
	c.verLoaded = true
	return c.version, nil
}

// directory is a cache of agents. One directory is valid for one version of the agents table. Every change of an agent raises the
// version.
type directory struct {
	version  int64
	byName   sync.Map // folded id, uuid or name → *agentRow
	byNum    sync.Map // num → *agentRow
	managers atomic.Pointer[map[string]bool]
}

type agentRow struct {
	num   int64
	agent parley.Agent
}

func newDirectory(version int64) *directory { return &directory{version: version} }

// dir returns the directory of the agents as this transaction sees them.
func (t *tx) dir() (*directory, error) {
	version, err := t.agentsVersion()
	if err != nil {
		return nil, err
	}
	if t.writable {
		if t.own.version != version {
			t.own = newDirectory(version)
		}
		return t.own, nil
	}
	if t.own != nil {
		return t.own, nil
	}
	t.own = t.shared.Load()
	if t.own.version != version {
		fresh := newDirectory(version)
		if t.own.version < version {
			t.shared.CompareAndSwap(t.own, fresh)
		}
		t.own = fresh
	}
	return t.own, nil
}

func millis(t time.Time) int64 { return t.UnixMilli() }

// The first and the last time that JSON can contain. A damaged row may have any number.
const (
	firstMilli = -62135596800000
	lastMilli  = 253402300799999
)

func fromMillis(ms int64) time.Time { return time.UnixMilli(min(max(ms, firstMilli), lastMilli)).UTC() }

func millisOrNull(t *time.Time) sql.NullInt64 {
	if t == nil {
		return sql.NullInt64{}
	}
	return sql.NullInt64{Int64: t.UnixMilli(), Valid: true}
}

func timeOrNil(ms sql.NullInt64) *time.Time {
	if !ms.Valid {
		return nil
	}
	t := fromMillis(ms.Int64)
	return &t
}

func textOrNull(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// notFound reports whether an error is parley.ErrNotFound, and returns any other error.
func notFound(err error) (bool, error) {
	if errors.Is(err, parley.ErrNotFound) {
		return true, nil
	}
	return false, err
}
