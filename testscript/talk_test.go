package script

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-hub/parley"
)

// talk compares a direct conversation with a file: the sender, text, type and source of each message.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: talk A B FILE")
	}
	var said strings.Builder
	for _, m := range listed[parley.Message](ts, "conv", "read", dmOf(ts, args[:2]), "--limit", "100") {
		fmt.Fprintf(&said, "— %s (%s, %s)\n%s\n", m.From, m.Type, m.Source, strings.TrimSpace(m.Content.Text))
	}
	want := expand(ts, ts.ReadFile(args[2]))
	if said.String() != want {
		ts.Fatalf("they talk otherwise:\n%s", diff.Diff(args[2], []byte(want), "said", []byte(said.String())))
	}
}

// dmOf is the direct conversation of two.
func dmOf(ts *testscript.TestScript, two []string) string {
	slices.Sort(two)
	for _, c := range listed[parley.ConversationView](ts, "conv", "list", "--all") {
		slices.Sort(c.Members)
		if c.Kind == parley.DM && slices.Equal(c.Members, two) {
			return c.ID
		}
	}
	ts.Fatalf("%v have no direct conversation", two)
	return ""
}

// listed is what a command lists.
func listed[T any](ts *testscript.TestScript, command ...string) (list []T) {
	ts.Check(ts.Exec(program(ts), append(command, "-o", "jsonl")...))
	lines := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	for lines.More() {
		var one T
		ts.Check(lines.Decode(&one))
		list = append(list, one)
	}
	return list
}

// expand replaces ${NAME} by the script's variable; other dollars stand for themselves.
func expand(ts *testscript.TestScript, text string) string {
	parts := strings.Split(text, "${")
	for i, part := range parts[1:] {
		name, rest, _ := strings.Cut(part, "}")
		parts[i+1] = ts.Getenv(name) + rest
	}
	return strings.Join(parts, "")
}
