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

// talk compares the messages of a direct conversation with a file: their sender, text, type and source.
func talk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: talk A B FILE")
	}
	var got strings.Builder
	for _, m := range listItems[parley.Message](ts, "conv", "read", dmOf(ts, args[:2]), "--limit", "100") {
		fmt.Fprintf(&got, "— %s (%s, %s)\n%s\n", m.From, m.Type, m.Source, strings.TrimSpace(m.Content.Text))
	}
	want := expand(ts, ts.ReadFile(args[2]))
	if got.String() != want {
		ts.Fatalf("they talk otherwise:\n%s", diff.Diff(args[2], []byte(want), "said", []byte(got.String())))
	}
}

// dmOf returns the id of the direct conversation of two participants.
func dmOf(ts *testscript.TestScript, pair []string) string {
	slices.Sort(pair)
	for _, c := range listItems[parley.ConversationView](ts, "conv", "list", "--all") {
		slices.Sort(c.Members)
		if c.Kind == parley.DM && slices.Equal(c.Members, pair) {
			return c.ID
		}
	}
	ts.Fatalf("%v have no direct conversation", pair)
	return ""
}

// listItems runs a command that lists items, and returns the items.
func listItems[T any](ts *testscript.TestScript, command ...string) (list []T) {
	ts.Check(ts.Exec(program(ts), append(command, "-o", "jsonl")...))
	lines := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	for lines.More() {
		var item T
		ts.Check(lines.Decode(&item))
		list = append(list, item)
	}
	return list
}

// expand replaces ${NAME} by the script's variable. It leaves other dollar signs as they are.
func expand(ts *testscript.TestScript, text string) string {
	parts := strings.Split(text, "${")
	for i, part := range parts[1:] {
		name, rest, _ := strings.Cut(part, "}")
		parts[i+1] = ts.Getenv(name) + rest
	}
	return strings.Join(parts, "")
}
