package toml

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Pair is a key of a table, and its value: a string or a list of strings.
type Pair struct {
	Key   string
	Value any
}

// Check returns what is wrong with a document, or nil.
func Check(text []byte) error {
	_, err := parse(text)
	return err
}

// Has reports whether a table has these pairs. It may have others too.
func Has(text []byte, table []string, pairs []Pair) (bool, error) {
	list, err := find(text, table)
	for _, pair := range pairs {
		i := slices.IndexFunc(list, func(s statement) bool { return s.isPair(table, pair.Key) })
		if i < 0 || !reflect.DeepEqual(list[i].value, parsed(pair.Value)) {
			return false, err
		}
	}
	return err == nil, err
}

// HasKey reports whether a table has a key.
func HasKey(text []byte, table []string, key string) (bool, error) {
	list, err := find(text, table)
	return slices.ContainsFunc(list, func(s statement) bool { return s.isPair(table, key) }), err
}

// Set gives a table these pairs. In a table that is there, it replaces the bytes of the values, and adds the missing keys below the
// header. Otherwise it adds the table at the end of the document.
func Set(text []byte, table []string, pairs []Pair) ([]byte, error) {
	list, err := find(text, table)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(list, func(s statement) bool { return s.header && slices.Equal(s.path, table) }) {
		if text, err = Remove(text, table); err != nil {
			return nil, err
		}
		return add(text, table, pairs), nil
	}
	for _, pair := range slices.Backward(pairs) {
		if text, err = setPair(text, table, pair); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func setPair(text []byte, table []string, pair Pair) ([]byte, error) {
	list, err := find(text, table)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		if s.isPair(table, pair.Key) {
			return splice(text, s.valueStart, s.valueEnd, quote(pair.Value)), nil
		}
	}
	at := list[slices.IndexFunc(list, func(s statement) bool { return s.header && slices.Equal(s.path, table) })].end
	if at == len(text) && !bytes.HasSuffix(text, []byte("\n")) {
		return splice(text, at, at, newline(text), line(pair)), nil
	}
	return splice(text, at, at, line(pair), newline(text)), nil
}

// add adds a table at the end of a document. The table ends with a line ending if the document does, so that Remove can restore
// the document.
func add(text []byte, table []string, pairs []Pair) []byte {
	end := newline(text)
	lines := []string{"[" + strings.Join(table, ".") + "]"}
	for _, pair := range pairs {
		lines = append(lines, line(pair))
	}
	block := strings.Join(lines, end)
	switch {
	case len(bytes.TrimPrefix(text, byteOrderMark)) == 0:
		return splice(text, len(text), len(text), block, end)
	case bytes.HasSuffix(text, []byte("\n")):
		return splice(text, len(text), len(text), end, block, end)
	default:
		return splice(text, len(text), len(text), end, end, block)
	}
}

// Remove takes out a table, with the tables in it.
func Remove(text []byte, table []string) ([]byte, error) {
	list, err := find(text, table)
	if err != nil {
		return nil, err
	}
	for len(list) > 0 {
		start, end := section(list)
		text = cut(text, start, end)
		if list, err = find(text, table); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// section returns the lines of the last header in a list with the pairs below it, or those of the last pair.
func section(list []statement) (start, end int) {
	last := len(list) - 1
	for _, s := range slices.Backward(list) {
		if s.header {
			return s.start, list[last].end
		}
	}
	return list[last].start, list[last].end
}

// cut takes out lines, and the empty line before them.
func cut(text []byte, start, end int) []byte {
	atEnd := end == len(text) && !bytes.HasSuffix(text, []byte("\n"))
	if before := trimLine(text[:start]); before < start && (before == 0 || text[before-1] == '\n') {
		start = before
	}
	if atEnd {
		start = trimLine(text[:start])
	}
	return splice(text, start, end)
}

// trimLine returns the length of a text without its last line ending.
func trimLine(text []byte) int {
	return len(bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r")))
}

// find returns the statements of a table and of the tables in it. It returns an error if the table is a part of another statement.
func find(text []byte, table []string) (found []statement, err error) {
	list, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		within := len(s.path) >= len(table) && slices.Equal(s.path[:len(table)], table)
		above := len(s.path) < len(table) && slices.Equal(s.path, table[:len(s.path)])
		if above && (s.array || !s.header) || within && s.array && len(s.path) == len(table) {
			return nil, fmt.Errorf("line %d: %s is not written as a table", 1+bytes.Count(text[:s.start], []byte("\n")), strings.Join(s.path, "."))
		}
		if within {
			found = append(found, s)
		}
	}
	return found, nil
}

func (s statement) isPair(table []string, key string) bool {
	return !s.header && len(s.path) == len(table)+1 && s.path[len(table)] == key
}

// parsed returns a value of a Pair as the parser returns it.
func parsed(value any) any {
	list, ok := value.([]string)
	if !ok {
		return value
	}
	items := []any{}
	for _, item := range list {
		items = append(items, item)
	}
	return items
}

func line(pair Pair) string { return pair.Key + " = " + quote(pair.Value) }

// quote returns a value as TOML.
func quote(value any) string {
	list, ok := value.([]string)
	if !ok {
		return quoteString(value.(string))
	}
	items := make([]string, len(list))
	for i, item := range list {
		items[i] = quoteString(item)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func quoteString(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&out, `\u%04X`, r)
		default:
			out.WriteRune(r)
		}
	}
	return `"` + out.String() + `"`
}

func newline(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// splice replaces the bytes from start to end.
func splice(text []byte, start, end int, parts ...string) []byte {
	out := slices.Clone(text[:start])
	for _, part := range parts {
		out = append(out, part...)
	}
	return append(out, text[end:]...)
}

// Lines returns the lines of a table, with the tables in it, or nil if it has no header.
func Lines(text []byte, table []string) (lines []byte) {
	list, err := find(text, table)
	if err != nil || len(list) == 0 || !list[0].header {
		return nil
	}
	for _, s := range list {
		lines = append(lines, text[s.start:s.end]...)
	}
	return lines
}

// AddLines adds lines at the end of a document. It returns an error if the result cannot be parsed.
func AddLines(text, lines []byte) ([]byte, error) {
	if len(lines) == 0 {
		return text, nil
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = splice(text, len(text), len(text), newline(text))
	}
	text = splice(text, len(text), len(text), string(lines))
	return text, Check(text)
}
