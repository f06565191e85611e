package costtest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// golden is the file with the pinned costs.
const golden = "testdata/cost.txt"

const preamble = `# What each hot use case costs once. "make cost" writes this file, and a test compares it with what it measures.
#
# updates      transactions that may change the database
# views        transactions that only read it
# reads        SQL statements that only read. On PostgreSQL each update has one more, which takes the lock of all hubs, and
#              each lease has one more, which asks the server for the time.
# writes       SQL statements that change rows. On PostgreSQL each update has one more, which records its commit.
# round trips  to the PostgreSQL server. SQLite runs in the process of the hub.
# rows         that the writes inserted, changed or deleted
# allocations  of memory. The test allows a difference of 10 %; all other figures are exact.
#
# Statements that begin or end a transaction do not count as reads or writes, but they do make round trips.

`

// costs are the counts of one row, in the order of the columns.
type costs [7]int64

// column is one kind of count.
type column struct {
	name  string
	holds func(pinned, found int64) bool
}

var columns = [len(costs{})]column{
	{"updates", exactly},
	{"views", exactly},
	{"reads", exactly},
	{"writes", exactly},
	{"round trips", exactly},
	{"rows", exactly},
	{"allocations", roughly},
}

func exactly(pinned, found int64) bool { return pinned == found }

// roughly allows a difference of ten percent, and any difference under the race detector, which allocates memory too.
func roughly(pinned, found int64) bool {
	return raceEnabled || within(pinned, found, 10)
}

func within(pinned, found, percent int64) bool {
	return 100*max(pinned-found, found-pinned) <= percent*pinned
}

// rowKey identifies a row of the table.
type rowKey struct{ useCase, database string }

type table map[rowKey]costs

// renew returns the table with the measured costs. Rows that were not measured stay as they are. An allocation figure stays if it
// differs by at most one percent, so that a diff of the file shows no noise.
func (pinned table) renew(found table) table {
	renewed := maps.Clone(pinned)
	for row, c := range found {
		last := len(c) - 1
		if before, known := pinned[row]; known && within(before[last], c[last], 1) {
			c[last] = before[last]
		}
		renewed[row] = c
	}
	return renewed
}

var gap = regexp.MustCompile(` {2,}`)

// readTable reads the golden file and also returns its text. Without a file the table is empty.
func readTable(t *testing.T) (pinned table, text string) {
	t.Helper()
	file, err := os.ReadFile(golden)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	pinned = table{}
	for line := range strings.Lines(string(file)) {
		cells := gap.Split(strings.TrimSpace(line), -1)
		if len(cells) != 2+len(columns) || cells[0] == "use case" {
			continue
		}
		var c costs
		for i := range c {
			if c[i], err = strconv.ParseInt(cells[2+i], 10, 64); err != nil {
				t.Fatalf("%s: %v", golden, err)
			}
		}
		pinned[rowKey{cells[0], cells[1]}] = c
	}
	return pinned, string(file)
}

// compare describes the columns in which a row differs from the pinned one. It returns "" if there are none.
func (pinned table) compare(row rowKey, found costs) string {
	want, known := pinned[row]
	if !known {
		return golden + " has no such row"
	}
	var differences []string
	for i, c := range columns {
		if !c.holds(want[i], found[i]) {
			differences = append(differences, fmt.Sprintf("%d %s, pinned are %d", found[i], c.name, want[i]))
		}
	}
	return strings.Join(differences, "; ")
}

// write writes the golden file.
func (pinned table) write(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(golden, []byte(pinned.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// String is the text of the golden file.
func (pinned table) String() string {
	var b strings.Builder
	b.WriteString(preamble)
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	writeLine(&b, "use case", "database", cells)
	for _, u := range useCases {
		b.WriteString("\n")
		for _, k := range kinds {
			c, known := pinned[rowKey{u.name, k.name}]
			if !known {
				continue
			}
			for i := range c {
				cells[i] = strconv.FormatInt(c[i], 10)
			}
			writeLine(&b, u.name, k.name, cells)
		}
	}
	return b.String()
}

func writeLine(b *strings.Builder, useCase, database string, cells []string) {
	fmt.Fprintf(b, "%-34s  %-10s", useCase, database)
	for i, cell := range cells {
		fmt.Fprintf(b, "  %*s", len(columns[i].name), cell)
	}
	b.WriteString("\n")
}
