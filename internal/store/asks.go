package store

import (
	"cmp"
	"math"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func (s waits) Asks(participant string, f parley.AskFilter) ([]storage.ListedAsk, error) {
	before := f.Before
	if before <= 0 {
		before = math.MaxInt64
	}
	if participant == "" {
		return s.newest(f.Open, "1 = 1", before, f.Limit)
	}
	row, err := s.agentNamed(participant)
	if err != nil {
		return nil, err
	}
	if f.Open { // few asks are open, so their index is shorter than the index of all asks of the participant
		return s.newest(true, "$3 IN (w.waiter, w.target)", before, f.Limit, row.num)
	}
	made, err := s.newest(false, "w.waiter = $3", before, f.Limit, row.num)
	if err != nil {
		return nil, err
	}
	asked, err := s.newest(false, "w.target = $3 AND 0 + w.waiter <> $3", before, f.Limit, row.num)
	list := slices.Concat(made, asked)
	slices.SortFunc(list, func(a, b storage.ListedAsk) int { return cmp.Compare(b.Seq, a.Seq) })
	return list[:min(f.Limit, len(list))], err
}

// newest reads asks that meet a condition and whose question has a seq below $1, at most $2, the newest first.
func (s waits) newest(open bool, condition string, args ...any) ([]storage.ListedAsk, error) {
	if open {
		condition += " AND " + openWait
	}
	return readAll(s.tx, func() *askRow { return &askRow{} }, "SELECT "+waitColumns+", w.message"+fromWaits+condition+
		" AND w.ask = 1 AND w.message < $1 ORDER BY w.message DESC LIMIT 0 + $2", args...)
}

// askRow is a waitRow with the seq of the question.
type askRow struct {
	waitRow
	seq int64
}

func (row *askRow) dest() []any { return append(row.waitRow.dest(), &row.seq) }

func (row *askRow) value(t *tx) (storage.ListedAsk, error) {
	w, err := row.waitRow.value(t)
	return storage.ListedAsk{Wait: w, Seq: row.seq}, err
}
