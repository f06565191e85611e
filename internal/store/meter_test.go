package store

import "testing"

func TestMeterTellsReadsFromWrites(t *testing.T) {
	var m Meter
	for _, query := range []string{
		"BEGIN IMMEDIATE", "SELECT 1", "\n\tWITH x AS (SELECT 1) SELECT * FROM x", "INSERT INTO a VALUES (1)", "UPDATE a SET b = 2",
		"DELETE FROM a", "SAVEPOINT one", "ROLLBACK TO SAVEPOINT one", "RELEASE SAVEPOINT one", "COMMIT", "ROLLBACK",
	} {
		m.Statement(query, 3) // SQLite reports the changes of an earlier statement for a SELECT
	}
	m.Trip()
	if got, want := m.Cost(), (Cost{Reads: 2, Writes: 3, Rows: 9, Trips: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if got, want := m.Cost().Minus(Cost{Reads: 1, Writes: 1, Rows: 4}), (Cost{Reads: 1, Writes: 2, Rows: 5, Trips: 1}); got != want {
		t.Errorf("the difference is %+v, want %+v", got, want)
	}
}
