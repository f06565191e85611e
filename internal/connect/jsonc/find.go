package jsonc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Check returns what is wrong with a document, or nil.
func Check(text []byte) error {
	_, err := parse(text)
	return err
}

// Get returns the plain JSON of the value at a path of keys, without comments. found is false if there is none.
func Get(text []byte, path ...string) (value []byte, found bool, err error) {
	root, err := parse(text)
	if err != nil {
		return nil, false, err
	}
	n, rest, err := follow(root, path)
	if err != nil || len(rest) > 0 {
		return nil, false, err
	}
	return plain(text, n), true, nil
}

// Raw returns the bytes of the value at a path of keys, as they are in the document.
func Raw(text []byte, path ...string) (value []byte, found bool, err error) {
	root, err := parse(text)
	if err != nil {
		return nil, false, err
	}
	n, rest, err := follow(root, path)
	if err != nil || len(rest) > 0 {
		return nil, false, err
	}
	return slices.Clone(text[n.start:n.end]), true, nil
}

// follow returns the deepest existing node on a path, and the keys that lead further.
func follow(n *node, path []string) (deepest *node, rest []string, err error) {
	for i, key := range path {
		if n.open != '{' {
			return nil, nil, fmt.Errorf("%s is not an object", name(path[:i]))
		}
		found, err := n.member(key)
		if err != nil {
			return nil, nil, err
		}
		if found < 0 {
			return n, path[i:], nil
		}
		n = n.elements[found].value
	}
	return n, nil, nil
}

// member returns the index of the member with a key, or -1. Two such members are an error, because readers disagree on which counts.
func (n *node) member(key string) (int, error) {
	found := -1
	for i, e := range n.elements {
		if e.key == key && found >= 0 {
			return 0, fmt.Errorf("the key %q is there twice", key)
		}
		if e.key == key {
			found = i
		}
	}
	return found, nil
}

func name(path []string) string {
	if len(path) == 0 {
		return "the document"
	}
	return strings.Join(path, ".")
}

// plain returns the JSON of a value without comments and trailing commas.
func plain(text []byte, n *node) []byte {
	if n.open == 0 {
		return text[n.start:n.end]
	}
	var out bytes.Buffer
	out.WriteByte(n.open)
	for i, e := range n.elements {
		if i > 0 {
			out.WriteByte(',')
		}
		if n.open == '{' {
			out.Write(quote(e.key))
			out.WriteByte(':')
		}
		out.Write(plain(text, e.value))
	}
	out.WriteByte(n.open + 2)
	return out.Bytes()
}
