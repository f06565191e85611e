package jsonc

import (
	"bytes"
	"slices"
)

// Remove takes out the member at a path of keys, with its comma. Without such a member, it returns the text unchanged. It returns an
// error if the document cannot be parsed.
func Remove(text []byte, path ...string) ([]byte, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	last := len(path) - 1
	n, rest, err := follow(root, path[:last])
	if err != nil || len(rest) > 0 || n.open != '{' {
		return text, nil //nolint:nilerr // without an object there is no such member
	}
	i, err := n.member(path[last])
	if err != nil || i < 0 {
		return text, err
	}
	return removeElement(text, n, i), nil
}

// RemoveItems takes the items out of the array at a path of keys for which is returns true. is gets their plain JSON.
func RemoveItems(text []byte, path []string, is func(item []byte) bool) ([]byte, error) {
	for {
		root, err := parse(text)
		if err != nil {
			return nil, err
		}
		n, rest, err := follow(root, path)
		if err != nil || len(rest) > 0 || n.open != '[' {
			return text, nil //nolint:nilerr // without a list there are no such items
		}
		i := slices.IndexFunc(n.elements, func(e element) bool { return is(plain(text, e.value)) })
		if i < 0 {
			return text, nil
		}
		text = removeElement(text, n, i)
	}
}

// RemoveInner takes items out of the arrays under a key of the items of the array at a path. For the path hooks.Stop and the key
// hooks these are the commands in the groups of commands.
func RemoveInner(text []byte, path []string, key string, is func(item []byte) bool) ([]byte, error) {
	for {
		root, err := parse(text)
		if err != nil {
			return nil, err
		}
		n, rest, err := follow(root, path)
		if err != nil || len(rest) > 0 || n.open != '[' {
			return text, nil //nolint:nilerr // without a list there are no such items
		}
		inner, i := innerItem(text, n, key, is)
		if inner == nil {
			return text, nil
		}
		text = removeElement(text, inner, i)
	}
}

func innerItem(text []byte, n *node, key string, is func(item []byte) bool) (*node, int) {
	for _, group := range n.elements {
		inner, rest, err := follow(group.value, []string{key})
		if err != nil || len(rest) > 0 || inner.open != '[' {
			continue
		}
		if i := slices.IndexFunc(inner.elements, func(e element) bool { return is(plain(text, e.value)) }); i >= 0 {
			return inner, i
		}
	}
	return nil, 0
}

// RemoveEmpty takes out the object or array at a path of keys, if it has no elements and no comments.
func RemoveEmpty(text []byte, path ...string) ([]byte, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	n, rest, err := follow(root, path)
	if err != nil || len(rest) > 0 || n.open == 0 || len(bytes.TrimSpace(text[n.start+1:n.end-1])) > 0 {
		return text, nil //nolint:nilerr // another value is not empty
	}
	return Remove(text, path...)
}

// IsEmpty reports whether a document is an object without elements and comments.
func IsEmpty(text []byte) bool {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
	return len(text) >= 2 && text[0] == '{' && text[len(text)-1] == '}' && len(bytes.TrimSpace(text[1:len(text)-1])) == 0
}

// removeElement takes out an element as insert adds one: with the line ending and the spaces before it, and with its comma.
func removeElement(text []byte, n *node, i int) []byte {
	e := n.elements[i]
	start, end := lineBefore(text, e.start), e.value.end
	var out []byte
	switch {
	case e.comma >= 0:
		out = splice(splice(text, e.comma, e.comma+1), start, end)
	case i > 0:
		comma := n.elements[i-1].comma
		out = splice(splice(text, start, end), comma, comma+1)
	default:
		out = splice(text, start, afterLine(text, end))
	}
	if _, err := parse(out); err != nil { // a line comment has lost its end: keep the spaces and lines
		return removeOnly(text, n, i)
	}
	return out
}

// removeOnly takes out an element with its comma, and keeps the spaces around it.
func removeOnly(text []byte, n *node, i int) []byte {
	e := n.elements[i]
	if e.comma >= 0 {
		text = splice(text, e.comma, e.comma+1)
	}
	text = splice(text, e.start, e.value.end)
	if e.comma < 0 && i > 0 {
		comma := n.elements[i-1].comma
		text = splice(text, comma, comma+1)
	}
	return text
}

// lineBefore returns the offset in front of the spaces before an offset, and of the line ending before these.
func lineBefore(text []byte, at int) int {
	at = len(bytes.TrimRight(text[:at], " \t"))
	if bytes.HasSuffix(text[:at], []byte("\n")) {
		at--
		if bytes.HasSuffix(text[:at], []byte("\r")) {
			at--
		}
	}
	return at
}

// afterLine returns the offset behind a line ending at an offset and the spaces behind it, or the offset.
func afterLine(text []byte, at int) int {
	rest := bytes.TrimPrefix(text[at:], []byte("\r"))
	if !bytes.HasPrefix(rest, []byte("\n")) {
		return at
	}
	return len(text) - len(bytes.TrimLeft(rest[1:], " \t"))
}
