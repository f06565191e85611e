package store

import (
	"database/sql"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// toChannel is the recipient of a departure to a channel. No agent has this number.
const toChannel = 0

func (s bridges) AddDeparture(d storage.DepartureRow) (storage.DepartureRow, error) {
	bridge, recipient, err := s.departureKey(d.Bridge, d.Recipient)
	if err != nil {
		return d, err
	}
	id, err := uuid.Parse(d.Message)
	if err != nil {
		return d, err
	}
	if err := s.row("SELECT coalesce(max(num), 0) + 1 FROM departures", nil, []any{&d.Num}); err != nil {
		return d, err
	}
	n, err := s.exec(`INSERT INTO departures (num, bridge, message, recipient, folder, name, state, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
		d.Num, bridge, id[:], recipient, d.Folder, d.Name, string(d.State), millis(d.At))
	return d, requireRow(n, err, parley.ErrTaken)
}

// departureKey returns the numbers of the bridge and the recipient of a departure.
func (s bridges) departureKey(bridge, recipient string) (num, to int64, err error) {
	if num, err = s.num(bridge); err != nil || recipient == "" {
		return num, toChannel, err
	}
	row, err := s.agentNamed(recipient)
	if err != nil {
		return 0, 0, err
	}
	return num, row.num, nil
}

func (s bridges) Departure(bridge, message, recipient string) (storage.DepartureRow, error) {
	_, to, err := s.departureKey(bridge, recipient)
	if err != nil {
		return storage.DepartureRow{}, err
	}
	id, err := uuid.Parse(message)
	if err != nil {
		return storage.DepartureRow{}, parley.ErrNotFound
	}
	return onlyRecord(s.departures(bridge, "d.message = $2 AND d.recipient = $3", id[:], to))
}

func (s bridges) DepartureAt(bridge string, num int64) (storage.DepartureRow, error) {
	return onlyRecord(s.departures(bridge, "d.num = $2", num))
}

func (s bridges) DepartureNamed(bridge, folder, name string) (storage.DepartureRow, error) {
	if folder == "" {
		return onlyRecord(s.departures(bridge, "d.name = $2 ORDER BY d.num DESC LIMIT 1", name))
	}
	return onlyRecord(s.departures(bridge, "d.folder = $2 AND d.name = $3", folder, name))
}

// maxSuffix sorts after every suffix of a name: prefix + maxSuffix is greater than all names that begin with prefix.
const maxSuffix = "\U0010ffff"

func (s bridges) LastDeparture(bridge, folder, prefix string) (storage.DepartureRow, error) {
	return onlyRecord(s.departures(bridge, "d.folder = $2 AND d.name >= $3 AND d.name < $4 ORDER BY d.name DESC LIMIT 1", folder, prefix, prefix+maxSuffix))
}

func (s bridges) Departures(bridge string, state parley.DepartureState, after int64, limit int) ([]storage.DepartureRow, error) {
	open := ""
	if state == parley.DepartureDue || state == parley.DepartureWritten { // these states have an index
		open = "d.state IN ('due', 'written') AND "
	}
	return s.departures(bridge, open+"d.state = $2 AND d.num > $3 ORDER BY d.num LIMIT 0 + $4", string(state), after, limit)
}

func (s bridges) PutDeparture(d storage.DepartureRow) error {
	bridge, err := s.num(d.Bridge)
	if err != nil {
		return err
	}
	n, err := s.exec("UPDATE departures SET state = $3, at = $4 WHERE num = $2 AND bridge = $1", bridge, d.Num, string(d.State), millis(d.At))
	return requireRow(n, err, parley.ErrNotFound)
}

func (s bridges) departures(bridge, where string, args ...any) ([]storage.DepartureRow, error) {
	num, err := s.num(bridge)
	if err != nil {
		return nil, err
	}
	return readAll(s.tx, func() *departureRow { return &departureRow{departure: storage.DepartureRow{Bridge: bridge}} },
		"SELECT d.num, "+messageNamed("d.message")+", d.recipient, d.folder, d.name, d.state, d.at FROM departures d WHERE d.bridge = $1 AND "+where,
		append([]any{num}, args...)...)
}

// departureRow is a row of departures as it is read.
type departureRow struct {
	departure storage.DepartureRow
	message   []byte
	recipient sql.NullInt64
	state     string
	at        int64
}

func (row *departureRow) dest() []any {
	d := &row.departure
	return []any{&d.Num, &row.message, &row.recipient, &d.Folder, &d.Name, &row.state, &row.at}
}

func (row *departureRow) value(t *tx) (storage.DepartureRow, error) {
	d := &row.departure
	d.State, d.At = parley.DepartureState(row.state), fromMillis(row.at)
	if err := idsOf(map[*string][]byte{&d.Message: row.message}); err != nil {
		return *d, err
	}
	row.recipient.Valid = row.recipient.Int64 != toChannel
	return *d, t.nameAll(map[*string]sql.NullInt64{&d.Recipient: row.recipient})
}
