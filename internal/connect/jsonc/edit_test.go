package jsonc

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type entry struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

var parleyEntry = entry{"parley", []string{"mcp"}}

func TestSetKeepsEveryOtherByte(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"an empty object": {"{}\n", "{\n  \"m\": {\n    \"parley\": {\n      \"command\": \"parley\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"},
		"beside others": {
			"{\n  // mine\n  \"b\": 1,\n  \"m\": {\n    \"x\": {} // last\n  }\n}",
			"{\n  // mine\n  \"b\": 1,\n  \"m\": {\n    \"x\": {}, // last\n    \"parley\": {\n      \"command\": \"parley\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}",
		},
		"a trailing comma": {
			"{\n\t\"m\": {\n\t\t\"x\": 1,\n\t},\n}",
			"{\n\t\"m\": {\n\t\t\"x\": 1,\n\t\t\"parley\": {\n\t\t\t\"command\": \"parley\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t},\n\t},\n}",
		},
		"CRLF and a mark": {
			"\xef\xbb\xbf{\r\n  \"a\": 1\r\n}\r\n",
			"\xef\xbb\xbf{\r\n  \"a\": 1,\r\n  \"m\": {\r\n    \"parley\": {\r\n      \"command\": \"parley\",\r\n      \"args\": [\r\n        \"mcp\"\r\n      ]\r\n    }\r\n  }\r\n}\r\n",
		},
		"one line": {`{"a": 1}`, `{"a": 1, "m": {"parley":{"command":"parley","args":["mcp"]}}}`},
		"there already": {
			"{\n  \"m\": {\"parley\": {\"old\": true}, \"z\": [ ]}\n}",
			"{\n  \"m\": {\"parley\": {\n    \"command\": \"parley\",\n    \"args\": [\n      \"mcp\"\n    ]\n  }, \"z\": [ ]}\n}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Set([]byte(test.before), []string{"m", "parley"}, parleyEntry)
			if name == "one line" {
				test.after = `{"a": 1, "m": {"parley":{"command":"parley","args":["mcp"]}}}`
			}
			if err != nil || string(got) != test.after {
				t.Errorf("%v\n%s", err, cmp.Diff(test.after, string(got)))
			}
		})
	}
}

func TestRemoveWhatAPersonHasMoved(t *testing.T) {
	for before, after := range map[string]string{
		"{\n  \"parley\": 1, // by hand\n  \"b\": 2\n}": "{ // by hand\n  \"b\": 2\n}",
		"{ // c\n  \"parley\": 1\n}":                    "{ // c\n  \n}",
		"{ \"parley\": 1 }":                             "{ }",
		"{\"a\": 1, \"parley\": 2 /* x */ , /* y */ }":  "{\"a\": 1, /* x */  /* y */ }",
	} {
		got, err := Remove([]byte(before), "parley")
		if err != nil || string(got) != after {
			t.Errorf("%q: %q, %v; want %q", before, got, err, after)
		}
	}
}

func TestItemsOfGroups(t *testing.T) {
	const text = `{"h": {"Stop": [{"hooks": [{"c": "mine"}, {"c": "parley"}]}, {"hooks": [{"c": "parley"}]}]}}`
	ours := func(item []byte) bool { return string(item) == `{"c":"parley"}` }
	got, err := RemoveInner([]byte(text), []string{"h", "Stop"}, "hooks", ours)
	if want := `{"h": {"Stop": [{"hooks": [{"c": "mine"}]}, {"hooks": []}]}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	got, err = RemoveItems(got, []string{"h", "Stop"}, func(item []byte) bool { return string(item) == `{"hooks":[]}` })
	if want := `{"h": {"Stop": [{"hooks": [{"c": "mine"}]}]}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestWhatCannotBeParsed(t *testing.T) {
	for _, text := range []string{
		"", " ", "[]", "{", "{]", "{}{}", "{\"a\" 1}", "{\"a\": }", "{a: 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": tru}", "{\"a\": 01}", "{,}", "[1,,2]",
		"{\"a\": \"x\ny\"}", "{\"a\": \"x", "{ /* }", "{ / }", "{\r}", "{ // x\ry\n}", "{\"a\": \"\\q\"}", "{\"a\": {\"b\": 1}", "\xef\xbb{}",
		"{\"a\":" + string(bytes.Repeat([]byte("["), 300)) + string(bytes.Repeat([]byte("]"), 300)) + "}",
	} {
		if got, err := Set([]byte(text), []string{"m"}, 1); err == nil {
			t.Errorf("%q is accepted: %q", text, got)
		}
	}
	for _, text := range []string{`{"m": 1}`, `{"m": [1]}`, `{"m": {}, "m": {}}`, `{"m": {"parley": 1, "parley": 2}}`} {
		if got, err := Set([]byte(text), []string{"m", "parley"}, 1); err == nil {
			t.Errorf("%q is accepted: %q", text, got)
		}
	}
	if got, err := Append([]byte(`{"m": {}}`), []string{"m"}, 1); err == nil {
		t.Errorf("an object is accepted: %q", got)
	}
}

func TestRemoveEmptyKeepsComments(t *testing.T) {
	for before, after := range map[string]string{
		`{"a": {"b": { }}}`:       `{"a": {}}`,
		`{"a": {"b": {/* x */}}}`: `{"a": {"b": {/* x */}}}`,
		`{"a": {"b": [1]}}`:       `{"a": {"b": [1]}}`,
		`{"a": 1}`:                `{"a": 1}`,
	} {
		if got, err := RemoveEmpty([]byte(before), "a", "b"); err != nil || string(got) != after {
			t.Errorf("%s: %s, %v", before, got, err)
		}
	}
}

// FuzzSetAndRemove checks that the text with a member still parses, differs in this member only, and is the original one after
// Remove; and the same with an item of an array.
func FuzzSetAndRemove(f *testing.F) {
	for _, seed := range []string{
		"{}", "{ }", "{\n}", "{\r\n}", "{ // c\n}", "{/* c */}", `{"a": 1}`, "{\"a\": 1 // c\n}", "{\"a\": 1, // c\n}", "\xef\xbb\xbf{\n\t\"a\": [\n\t\t1\n\t]\n}\n",
		"{\"m\": {}}", "{\"m\": { // c\n}}", "{\n  \"m\": {\n    \"a\": 1,\n  },\n}", "{\"l\": [ ]}", "{\"l\": [1,\n2]}", "{\"l\": [\n1, // c\r\n]}", "{\r\n\"a\":1 /*x*/ }",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Check(text) != nil {
			return
		}
		if _, found, err := Get(text, "m", "parley"); err == nil && !found {
			checkSet(t, text)
		}
		checkAppend(t, text)
	})
}

func checkSet(t *testing.T, text []byte) {
	t.Helper()
	set, err := Set(text, []string{"m", "parley"}, parleyEntry)
	want := decoded(t, text)
	if _, isObject := want["m"].(map[string]any); err != nil && (isObject || want["m"] == nil && !bytes.Contains(text, []byte("null"))) {
		t.Fatalf("%q: %v", text, err)
	} else if err != nil {
		return // there is another value
	}
	got := decoded(t, set)
	inner, _ := got["m"].(map[string]any)
	delete(inner, "parley")
	if _, there := want["m"]; !there && len(inner) == 0 {
		delete(got, "m")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q -> %q differs elsewhere too: %s", text, set, diff)
	}
	back, err := Remove(set, "m", "parley")
	if _, there := want["m"]; err == nil && !there {
		back, err = RemoveEmpty(back, "m")
	}
	if err != nil || !bytes.Equal(back, text) {
		t.Fatalf("%q -> %q -> %q, %v", text, set, back, err)
	}
}

func checkAppend(t *testing.T, text []byte) {
	t.Helper()
	set, err := Append(text, []string{"l"}, "parley's")
	if err != nil || bytes.Contains(text, []byte("parley")) {
		return // there is another value, or the same item
	}
	back, err := RemoveItems(set, []string{"l"}, func(item []byte) bool { return string(item) == `"parley's"` })
	if _, there := decoded(t, text)["l"]; err == nil && !there {
		back, err = RemoveEmpty(back, "l")
	}
	if err != nil || !bytes.Equal(back, text) {
		t.Fatalf("%q -> %q -> %q, %v", text, set, back, err)
	}
}

// decoded returns what a reader of plain JSON sees.
func decoded(t *testing.T, text []byte) map[string]any {
	t.Helper()
	root, err := parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var out map[string]any
	decoder := json.NewDecoder(bytes.NewReader(plain(text, root)))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out
}
