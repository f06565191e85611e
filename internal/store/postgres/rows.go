package postgres

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// rows is the open result of the statement that was sent last.
type rows struct {
	pgx.Rows
	results pgx.BatchResults
	conn    *conn
}

func (r *rows) Err() error { return r.conn.recordError(r.Rows.Err()) }

func (r *rows) Close() {
	r.Rows.Close()
	_ = r.results.Close() // Err has returned the error, or the next statement returns it
}

// Scan copies the columns of a row to dest. It supports only the types that the store uses, and does not look up the column
// types.
func (r *rows) Scan(dest ...any) error {
	values := r.RawValues()
	if len(values) != len(dest) {
		return fmt.Errorf("a row has %d columns and was scanned into %d", len(values), len(dest))
	}
	for i, d := range dest {
		if err := scan(values[i], d); err != nil {
			return fmt.Errorf("column %s: %w", r.FieldDescriptions()[i].Name, err)
		}
	}
	return nil
}

func scan(raw []byte, dest any) (err error) {
	switch d := dest.(type) {
	case *[]byte:
		*d = bytes.Clone(raw)
		return nil
	case *sql.NullString:
		*d = sql.NullString{String: string(raw), Valid: raw != nil}
		return nil
	case *sql.NullInt64:
		*d = sql.NullInt64{}
		if raw != nil {
			d.Valid = true
			d.Int64, err = integer(raw)
		}
		return err
	}
	if raw == nil {
		return fmt.Errorf("it is NULL")
	}
	switch d := dest.(type) {
	case *string:
		*d = string(raw)
	case *int64:
		*d, err = integer(raw)
	case *int:
		var n int64
		n, err = integer(raw)
		*d = int(n)
	default:
		return fmt.Errorf("it is scanned into a %T", d)
	}
	return err
}

// integer decodes PostgreSQL's binary form of int2, int4 and int8.
func integer(raw []byte) (int64, error) {
	switch len(raw) {
	case 8:
		return int64(binary.BigEndian.Uint64(raw)), nil
	case 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), nil
	case 2:
		return int64(int16(binary.BigEndian.Uint16(raw))), nil
	default:
		return 0, fmt.Errorf("an integer of %d bytes", len(raw))
	}
}
