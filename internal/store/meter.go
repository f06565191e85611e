package store

import (
	"strings"
	"sync/atomic"
)

// Meter counts what a database does for the store. Tests and measurements attach one to a database that they have just
// opened. A database without a meter counts nothing. It is safe for concurrent use.
type Meter struct{ reads, writes, rows, trips atomic.Int64 }

// Cost is what a Meter has counted.
type Cost struct {
	Reads  int64 // statements that return rows and change none
	Writes int64 // statements that change rows
	Rows   int64 // rows that these statements changed
	Trips  int64 // round trips to a database server
}

// Cost returns what was counted since the meter was made.
func (m *Meter) Cost() Cost {
	return Cost{m.reads.Load(), m.writes.Load(), m.rows.Load(), m.trips.Load()}
}

// Minus returns the difference of two costs.
func (c Cost) Minus(other Cost) Cost {
	return Cost{c.Reads - other.Reads, c.Writes - other.Writes, c.Rows - other.Rows, c.Trips - other.Trips}
}

// Statement counts a statement that has ended. changed is the number of rows that the database reports for it, which only
// counts if the statement changes rows. Statements that begin or end a transaction or a savepoint do not count.
func (m *Meter) Statement(query string, changed int64) {
	word, _, _ := strings.Cut(strings.TrimLeft(query, " \t\n"), " ")
	switch word {
	case "INSERT", "UPDATE", "DELETE":
		m.writes.Add(1)
		m.rows.Add(changed)
	case "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE":
	default:
		m.reads.Add(1)
	}
}

// Trip counts a round trip: something was sent, and then an answer was read.
func (m *Meter) Trip() { m.trips.Add(1) }
