package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// node is a value in a document.
type node struct {
	open       byte // '{', '[' or 0 for a value without elements
	start, end int
	elements   []element
}

// element is a member of an object or an item of an array.
type element struct {
	key   string
	start int // of the key, or of the item
	value *node
	comma int // the offset of the comma that follows, or -1
}

// maxDepth is how deeply values may be nested.
const maxDepth = 200

// byteOrderMark may precede a document.
var byteOrderMark = []byte("\xef\xbb\xbf")

type parser struct {
	text   []byte
	at     int
	syntax Syntax
}

// parse returns the root of a document, which must be an object.
func parse(text []byte) (*node, error) { return parseAs(text, Any) }

func parseAs(text []byte, syntax Syntax) (*node, error) {
	p := &parser{text: text, syntax: syntax}
	if bytes.HasPrefix(text, byteOrderMark) {
		if !syntax.Mark {
			return nil, p.fail("a byte order mark")
		}
		p.at = len(byteOrderMark)
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	if p.peek() != '{' {
		return nil, p.unexpected("{")
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.skip(); err != nil {
		return nil, err
	}
	if p.at < len(p.text) {
		return nil, p.unexpected("the end of the file")
	}
	return root, nil
}

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) fail(format string, args ...any) error {
	line := 1 + bytes.Count(p.text[:min(p.at, len(p.text))], []byte("\n"))
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

func (p *parser) unexpected(wanted string) error {
	if p.at >= len(p.text) {
		return p.fail("the file ends, but %s is missing", wanted)
	}
	return p.fail("%q instead of %s", p.text[p.at], wanted)
}

// skip moves over whitespace and comments.
func (p *parser) skip() error {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n':
			p.at++
		case '\r':
			if err := p.lineEnd(); err != nil {
				return err
			}
		case '/':
			if err := p.comment(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// lineEnd moves over a carriage return, which must be a part of a line ending.
func (p *parser) lineEnd() error {
	if !bytes.HasPrefix(p.text[p.at:], []byte("\r\n")) {
		return p.fail("a carriage return without a line feed")
	}
	p.at += 2
	return nil
}

// comment moves over a comment. It stops before the line ending of a line comment.
func (p *parser) comment() error {
	rest := p.text[p.at:]
	var length int
	switch {
	case !p.syntax.Comments:
		return p.fail("a comment")
	case bytes.HasPrefix(rest, []byte("//")):
		if length = bytes.IndexByte(rest, '\n'); length < 0 {
			length = len(rest)
		}
		length -= len(rest[:length]) - len(bytes.TrimSuffix(rest[:length], []byte("\r")))
	case bytes.HasPrefix(rest, []byte("/*")):
		end := bytes.Index(rest[2:], []byte("*/"))
		if end < 0 {
			return p.fail("a comment without an end")
		}
		length = end + 4
	default:
		return p.unexpected("a value")
	}
	if bytes.Contains(bytes.ReplaceAll(rest[:length], []byte("\r\n"), nil), []byte("\r")) {
		return p.fail("a carriage return without a line feed")
	}
	p.at += length
	return nil
}

func (p *parser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail("values are nested more than %d deep", maxDepth)
	}
	switch p.peek() {
	case '{', '[':
		return p.container(depth)
	default:
		return p.scalar()
	}
}

// scalar reads a string, a number, true, false or null.
func (p *parser) scalar() (*node, error) {
	n := &node{start: p.at}
	if p.peek() == '"' {
		for p.at++; p.at < len(p.text) && p.text[p.at] != '"' && p.text[p.at] != '\n'; p.at++ {
			if p.text[p.at] == '\\' {
				p.at++
			}
		}
		p.at++
	} else {
		for p.at < len(p.text) && !bytes.ContainsRune([]byte(" \t\r\n,]}/\":[{"), rune(p.text[p.at])) {
			p.at++
		}
	}
	n.end = min(p.at, len(p.text))
	if p.at > len(p.text) || !json.Valid(p.text[n.start:n.end]) {
		p.at = n.start
		return nil, p.unexpected("a value")
	}
	return n, nil
}

func (p *parser) container(depth int) (*node, error) {
	n := &node{open: p.peek(), start: p.at}
	end := n.open + 2 // in ASCII, the closing brackets follow the opening ones at this distance
	for p.at++; ; {
		if err := p.skip(); err != nil {
			return nil, err
		}
		if p.peek() == end {
			if err := p.checkLast(n); err != nil {
				return nil, err
			}
			p.at++
			n.end = p.at
			return n, nil
		}
		if last := len(n.elements) - 1; last >= 0 && n.elements[last].comma < 0 {
			return nil, p.unexpected("a comma")
		}
		e, err := p.element(n.open, depth)
		if err != nil {
			return nil, err
		}
		n.elements = append(n.elements, e)
	}
}

// checkLast checks that no comma follows the last element of a container, if that is not allowed.
func (p *parser) checkLast(n *node) error {
	last := len(n.elements) - 1
	if last < 0 || n.elements[last].comma < 0 || p.syntax.TrailingCommas {
		return nil
	}
	p.at = n.elements[last].comma
	return p.fail("a comma behind the last value")
}

// element reads a member or an item, with the comma after it.
func (p *parser) element(open byte, depth int) (e element, err error) {
	e = element{start: p.at, comma: -1}
	if open == '{' {
		if e.key, err = p.key(); err != nil {
			return e, err
		}
	}
	if e.value, err = p.value(depth + 1); err != nil {
		return e, err
	}
	after := p.at
	if err := p.skip(); err != nil {
		return e, err
	}
	if p.peek() == ',' {
		e.comma = p.at
		p.at++
	} else {
		p.at = after
	}
	return e, nil
}

// key reads the key of a member, and moves to its value.
func (p *parser) key() (key string, err error) {
	if p.peek() != '"' {
		return "", p.unexpected("a key in quotes")
	}
	quoted, err := p.scalar()
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(p.text[quoted.start:quoted.end], &key); err != nil {
		return "", p.fail("%v", err)
	}
	if err := p.skip(); err != nil {
		return "", err
	}
	if p.peek() != ':' {
		return "", p.unexpected("a colon")
	}
	p.at++
	return key, p.skip()
}
