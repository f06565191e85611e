package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Set gives the member at a path of keys a value. It replaces the bytes of the present value, or adds the member behind the others,
// with the objects that are missing on the path. It returns an error if the document cannot be parsed, or if the path leads through
// a value that is not an object.
func Set(text []byte, path []string, value any) ([]byte, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	n, rest, err := follow(root, path)
	if err != nil {
		return nil, err
	}
	f := formatOf(text, root)
	if len(rest) == 0 {
		raw, err := f.value(value, leading(text, n.start), true)
		return splice(text, n.start, n.end, raw), err
	}
	if n.open != '{' {
		return nil, fmt.Errorf("%s is not an object", name(path[:len(path)-len(rest)]))
	}
	return insert(text, n, f, rest[0], nest(rest[1:], value))
}

// Append adds an item behind the others of the array at a path of keys. It adds the array, and the objects that are missing on the
// path. It returns an error as Set does, and if there is another value than an array at the path.
func Append(text []byte, path []string, item any) ([]byte, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	n, rest, err := follow(root, path)
	if err != nil {
		return nil, err
	}
	f := formatOf(text, root)
	switch {
	case len(rest) > 0 && n.open == '{':
		return insert(text, n, f, rest[0], nest(rest[1:], []any{item}))
	case len(rest) == 0 && n.open == '[':
		return insert(text, n, f, "", item)
	default:
		return nil, fmt.Errorf("%s is not a list", name(path[:len(path)-len(rest)]))
	}
}

// nest returns a value within objects of one member each.
func nest(keys []string, value any) any {
	for _, key := range slices.Backward(keys) {
		value = map[string]any{key: value}
	}
	return value
}

// insert adds an element behind the others of a container. What it adds, removeElement takes away exactly.
func insert(text []byte, n *node, f format, key string, value any) ([]byte, error) {
	outer := leading(text, n.start)
	inner := outer + f.unit
	closing := n.end - 1
	if len(n.elements) == 0 {
		raw, err := f.element(n.open, key, value, inner, true)
		return splice(text, closing, closing, f.newline+inner, raw, f.newline+outer), err
	}
	if first := n.elements[0].start; startsLine(text, first) {
		inner = leading(text, first)
	}
	last := n.elements[len(n.elements)-1]
	behind := last.value.end
	if last.comma >= 0 {
		behind = last.comma + 1
	}
	behind = afterComments(text, behind)
	lines := bytes.IndexByte(text[behind:closing], '\n') >= 0
	separator := " "
	if lines {
		separator = f.newline + inner
	}
	raw, err := f.element(n.open, key, value, inner, lines)
	if err != nil {
		return nil, err
	}
	if last.comma >= 0 {
		return splice(text, behind, behind, separator, raw, ","), nil
	}
	return splice(splice(text, behind, behind, separator, raw), last.value.end, last.value.end, ","), nil
}

// splice replaces the bytes from start to end.
func splice(text []byte, start, end int, parts ...string) []byte {
	out := slices.Clone(text[:start])
	for _, part := range parts {
		out = append(out, part...)
	}
	return append(out, text[end:]...)
}

// afterComments returns the offset behind the last of the comments at an offset, or the offset if there are none.
func afterComments(text []byte, at int) int {
	p := &parser{text: text, at: at, syntax: Any}
	for {
		for p.at < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[p.at]) >= 0 {
			p.at++
		}
		if p.peek() != '/' || p.comment() != nil {
			return at
		}
		at = p.at
	}
}

// format is how a document is written.
type format struct{ newline, unit string }

func formatOf(text []byte, root *node) format {
	f := format{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		f.newline = "\r\n"
	}
	for _, e := range root.elements {
		if indent := leading(text, e.start); startsLine(text, e.start) && indent != "" {
			f.unit = indent
			break
		}
	}
	return f
}

func (f format) element(open byte, key string, value any, indent string, lines bool) (string, error) {
	raw, err := f.value(value, indent, lines)
	if open == '{' {
		raw = string(quote(key)) + ": " + raw
	}
	return raw, err
}

// value returns the JSON of a value, for a line with an indentation. A value of type json.RawMessage keeps its bytes.
func (f format) value(value any, indent string, lines bool) (string, error) {
	if raw, ok := value.(json.RawMessage); ok {
		return string(raw), nil
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if lines {
		encoder.SetIndent(indent, f.unit)
	}
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	raw := bytes.TrimSuffix(out.Bytes(), []byte("\n"))
	return string(bytes.ReplaceAll(raw, []byte("\n"), []byte(f.newline))), nil
}

func quote(key string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(key) // a string and a buffer
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// leading returns the spaces and tabs at the beginning of the line of an offset.
func leading(text []byte, at int) string {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// startsLine reports whether only spaces and tabs precede an offset in its line.
func startsLine(text []byte, at int) bool {
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	return begin > 0 && len(bytes.TrimLeft(text[begin:at], " \t")) == 0
}
