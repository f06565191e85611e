package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/parley-hub/parley"
)

func TestSectionsAreHandedOnWithTheirLines(t *testing.T) {
	for _, test := range []struct{ name, text string }{
		{"in lines", "addr: 127.0.0.1:1\n\nruntimes: # mine\n  one:\n    argv: [x]\n\n  # another\n  two:\n    argv: y\nstore: sqlite\n"},
		{"at the end", "store: sqlite\nruntimes:\n  one: {argv: [x]}\n  two: {argv: y}"},
		{"in braces", "runtimes: {one: {argv: [x]},\n  two: {argv: y}\n}\nstore: sqlite\n"},
		{"in quotes", "\"runtimes\":\n  one: {argv: [x]}\n  two: {argv: y}\n"},
		{"all further in", "  addr: 127.0.0.1:1\n  runtimes:\n    one: {argv: [x]}\n    two: {argv: y}\n  store: sqlite\n"},
		{"with the other", "runtimes:\n  one: {argv: [x]}\n  two: {argv: y}\nproviders:\n  three: {kind: openai}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.text)
			c, err := Load(path, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var read map[string]struct{ Argv []string }
			err = yaml.Unmarshal(c.Runtimes, &read)
			before, _, _ := strings.Cut(test.text, ": y")
			line := 1 + strings.Count(before, "\n")
			if wrong, ok := errors.AsType[yaml.Error](err); !ok || wrong.GetToken().Position.Line != line {
				t.Errorf("got %v from %q, want a mistake in line %d", err, c.Runtimes, line)
			}
			if shown := value(t, c, "runtimes"); shown.Value != "one, two" || !strings.HasPrefix(shown.Source, path+":") {
				t.Errorf("it is shown as %+v", shown)
			}
		})
	}
}

func TestSectionsThatAreAbsentOrEmpty(t *testing.T) {
	for _, text := range []string{"", "addr: 127.0.0.1:1\n", "runtimes:\n", "runtimes: {}\nproviders:\n"} {
		c, err := Load(write(t, text), nil, nil)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var read map[string]any
		if err := yaml.Unmarshal(c.Runtimes, &read); err != nil || len(read) > 0 {
			t.Errorf("%q: got %v, %v", text, read, err)
		}
	}
}

func TestSectionsThatAreRefused(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a value", "runtimes: mine", ":1: runtimes must have names, each with settings below it"},
		{"a list", "addr: 127.0.0.1:1\nproviders:\n  - mine", ":2: providers must have names"},
		{"braces around all", "{addr: 127.0.0.1:1, runtimes: {one: {}}}", ":1: cannot read runtimes here"},
		{"twice", "runtimes: {one: {}}\n---\nruntimes: {two: {}}", ":3: runtimes is set twice"},
		{"a near name", "runtime:\n  one: {}", `did you mean runtimes?`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Load(write(t, test.text), nil, nil)
			if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

// A provider may be given its key by mistake; only its name is ever shown.
func TestSectionContentsAreNotShown(t *testing.T) {
	c, err := Load(write(t, "providers:\n  mine:\n    key: canary\nnotify:\n  user:\n    - ntfy: {url: https://ntfy.sh/canary}\n"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(c.Values(), func(v Value) bool { return strings.Contains(v.Value, "canary") }) {
		t.Errorf("shown: %v", c.Values())
	}
}
