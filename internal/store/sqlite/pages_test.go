package sqlite

import (
	"database/sql"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// A page of messages that SQLite cannot read hides only the messages on it: the others are read one by one.
func TestDamagedPageHidesOnlyItsOwnMessages(t *testing.T) {
	home, _ := filled(t)
	db := opened(t, home)
	written(t, db, 300)
	closed(t, db)
	change(t, home, "parley.db", flip((leafOf(t, home, "messages")-1)*pageSize, 16))
	db = opened(t, home)
	var list []parley.Message
	err := db.View(t.Context(), func(tx storage.Tx) error {
		for after := int64(0); ; {
			page, err := tx.Messages().Scan(after, 50)
			if err != nil || len(page) == 0 {
				return err
			}
			list, after = append(list, page...), page[len(page)-1].Seq
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	whole, named := 0, 0
	for _, m := range list {
		if m.Damage == nil {
			whole++
		} else {
			named++
		}
	}
	if len(list) != 310 || named == 0 || whole == 0 {
		t.Errorf("%d messages: %d whole, %d named", len(list), whole, named)
	}
	report, err := db.CheckDeep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(report.Problems, "\n"); report.Messages != 310 || !strings.Contains(all, "its page cannot be read") {
		t.Errorf("the deep check has looked at %d messages:\n%s", report.Messages, all)
	}
}

// leafOf is the number of the first leaf page of a table.
func leafOf(t *testing.T, home, table string) (page int) {
	t.Helper()
	file, err := sql.Open("sqlite", "file:"+filepath.Join(home, "parley.db")+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	raw := must(filesOf(home))["parley.db"]
	var root int
	if err := file.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	for page = root; raw[(page-1)*pageSize] == 5; { // an inner page of a table: its first cell begins with its first child
		inner := raw[(page-1)*pageSize:]
		page = int(binary.BigEndian.Uint32(inner[binary.BigEndian.Uint16(inner[12:]):]))
	}
	return page
}
