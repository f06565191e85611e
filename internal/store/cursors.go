package store

import "github.com/parley-hub/parley"

type cursors struct{ *tx }

func (s cursors) Get(name string) (num int64, err error) {
	err = s.row("SELECT num FROM cursors WHERE name = $1", []any{name}, []any{&num})
	return num, err
}

func (s cursors) Move(name string, from, to int64) error {
	statement, args := "UPDATE cursors SET num = $2 WHERE name = $1 AND num = $3", []any{name, to, from}
	if from == 0 {
		statement, args = `INSERT INTO cursors (name, num) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET num = excluded.num WHERE cursors.num = 0`, []any{name, to}
	}
	n, err := s.exec(statement, args...)
	return requireRow(n, err, parley.ErrTaken)
}
