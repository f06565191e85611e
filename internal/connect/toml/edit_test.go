package toml

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	table = []string{"mcp_servers", "parley"}
	pairs = []Pair{{"command", `C:\parley "x"`}, {"args", []string{"mcp", "--agent", "ana"}}}
)

const lines = "[mcp_servers.parley]\ncommand = \"C:\\\\parley \\\"x\\\"\"\nargs = [\"mcp\", \"--agent\", \"ana\"]\n"

func TestSetKeepsEveryOtherByte(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"an empty file": {"", lines},
		"behind others": {
			"# mine\nmodel='x' # y\n[mcp_servers.z]\nargs = [ # c\n  '''a'b''',\n]\n[[a.b]]\nd = 2024-01-01 10:00:00\n",
			"# mine\nmodel='x' # y\n[mcp_servers.z]\nargs = [ # c\n  '''a'b''',\n]\n[[a.b]]\nd = 2024-01-01 10:00:00\n\n" + lines,
		},
		"no line ending": {"a = 1", "a = 1\n\n" + lines[:len(lines)-1]},
		"there already": {
			"[ mcp_servers . \"parley\" ] # own\nargs=['mcp'] # old\nstartup_timeout_sec = 20\n[mcp_servers.parley.env]\nA = \"b\"\n",
			"[ mcp_servers . \"parley\" ] # own\ncommand = \"C:\\\\parley \\\"x\\\"\"\nargs=[\"mcp\", \"--agent\", \"ana\"] # old\nstartup_timeout_sec = 20\n[mcp_servers.parley.env]\nA = \"b\"\n",
		},
		"as an inline table": {"[mcp_servers]\nx = {}\nparley = { command = 'p', env = { a = 'b' } }\n", "[mcp_servers]\nx = {}\n\n" + lines},
		"with dotted keys":   {"mcp_servers.parley.command = 'p'\nmodel = 'y'\n", "model = 'y'\n\n" + lines},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Set([]byte(test.before), table, pairs)
			if err != nil || string(got) != test.after {
				t.Errorf("%v\n%s", err, cmp.Diff(test.after, string(got)))
			}
			if has, err := Has(got, table, pairs); !has || err != nil {
				t.Errorf("it has not what was set: %v", err)
			}
			if again, err := Set(got, table, pairs); err != nil || !bytes.Equal(again, got) {
				t.Errorf("again: %v\n%s", err, cmp.Diff(string(got), string(again)))
			}
		})
	}
}

func TestRemoveTakesTheTablesWithin(t *testing.T) {
	const before = "a = 1\n\n[mcp_servers.parley]\ncommand = 'p'\n\n[mcp_servers.parley.env]\nA = 'b'\n\n# mine\n[mcp_servers.z]\nb = 2\n"
	got, err := Remove([]byte(before), table)
	if want := "a = 1\n\n# mine\n[mcp_servers.z]\nb = 2\n"; err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
}

func TestWhatCannotBeParsed(t *testing.T) {
	for _, text := range []string{
		"a", "a =", "a = 1 b = 2", "[a", "[[a]", "[]", "= 1", "a = 'x", "a = \"x", "a = \"\"\"x", "a = [1", "a = [1 2]", "a = {b}", "a = \"\\q\"", "a = \"\\u12\"",
		"a = 1\rb = 2", "a = tru", "a = \"x\ny\"", "a = " + string(bytes.Repeat([]byte("["), 300)),
		"mcp_servers = { parley = { command = 'p' } }", "[[mcp_servers]]\na = 1", "[[mcp_servers.parley]]\na = 1", "mcp_servers = 1",
	} {
		if got, err := Set([]byte(text), table, pairs); err == nil {
			t.Errorf("%q is accepted: %q", text, got)
		}
	}
}

// FuzzSetAndRemove checks that a document with the table still parses, has the same other statements, and is the original one after
// Remove.
func FuzzSetAndRemove(f *testing.F) {
	for _, seed := range []string{"", "\n", "a = 1", "a = 1\r\n", "[a]\nb = \"\"\"x\n\"\"\"\n\n\n", "\xef\xbb\xbf", "\xef\xbb\xbfa=1", "# c", "[[a]]\nb={c=[1,\n2]}\n", "[mcp_servers]\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if list, err := find(text, table); err != nil || len(list) > 0 {
			return
		}
		set, err := Set(text, table, pairs)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if has, err := Has(set, table, pairs); err != nil || !has {
			t.Fatalf("%q -> %q: %v", text, set, err)
		}
		before, _ := parse(text)
		after, _ := parse(set)
		if diff := cmp.Diff(before, append([]statement(nil), after[:len(before)]...), cmp.AllowUnexported(statement{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".end" }, cmp.Ignore())); diff != "" {
			t.Fatalf("%q -> %q: %s", text, set, diff)
		}
		if back, err := Remove(set, table); err != nil || !bytes.Equal(back, text) {
			t.Fatalf("%q -> %q -> %q, %v", text, set, back, err)
		}
	})
}
