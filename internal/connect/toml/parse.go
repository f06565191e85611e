package toml

import (
	"bytes"
	"fmt"
	"regexp"
)

// statement is a header of a table, or a key with its value.
type statement struct {
	header bool
	array  bool     // a header of an array of tables
	path   []string // with the path of the table that it is in
	value  any      // a string, []any, map[string]any, or the text of another value as a literal

	start, end           int // the line begins at start; end is behind its line ending
	valueStart, valueEnd int
}

// literal is the text of a number, a date, true or false.
type literal string

type parser struct {
	text []byte
	at   int
}

// byteOrderMark may precede a document.
var byteOrderMark = []byte("\xef\xbb\xbf")

// parse returns the statements of a document in their order.
func parse(text []byte) (list []statement, err error) {
	p := &parser{text: text}
	if bytes.HasPrefix(text, byteOrderMark) {
		p.at = len(byteOrderMark)
	}
	var table []string
	for p.at < len(p.text) {
		s := statement{start: p.at}
		p.spaces()
		switch c := p.peek(); {
		case c == '[':
			err = p.header(&s)
			table = s.path
		case c != '#' && c != '\r' && c != '\n' && p.at < len(p.text):
			err = p.pair(&s, table)
		}
		if err == nil {
			err = p.endOfLine()
		}
		if err != nil {
			return nil, err
		}
		s.end = p.at
		if s.path != nil {
			list = append(list, s)
		}
	}
	return list, nil
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

func (p *parser) want(token string) error {
	if !bytes.HasPrefix(p.text[p.at:], []byte(token)) {
		return p.fail("%s is missing", token)
	}
	p.at += len(token)
	return nil
}

func (p *parser) spaces() {
	for c := p.peek(); c == ' ' || c == '\t'; c = p.peek() {
		p.at++
	}
}

// endOfLine moves over spaces, a comment and the line ending.
func (p *parser) endOfLine() error {
	p.spaces()
	if p.peek() == '#' {
		p.comment()
	}
	switch {
	case p.at == len(p.text):
		return nil
	case bytes.HasPrefix(p.text[p.at:], []byte("\r\n")):
		p.at += 2
		return nil
	default:
		return p.want("\n")
	}
}

func (p *parser) comment() {
	for p.at < len(p.text) && p.text[p.at] != '\n' && p.text[p.at] != '\r' {
		p.at++
	}
}

// blank moves over spaces, line endings and comments, as they may be in an array.
func (p *parser) blank() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		case '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *parser) header(s *statement) (err error) {
	s.header = true
	open, end := "[", "]"
	if bytes.HasPrefix(p.text[p.at:], []byte("[[")) {
		s.array, open, end = true, "[[", "]]"
	}
	p.at += len(open)
	if s.path, err = p.key(); err != nil {
		return err
	}
	return p.want(end)
}

func (p *parser) pair(s *statement, table []string) error {
	key, err := p.key()
	if err == nil {
		err = p.want("=")
	}
	if err != nil {
		return err
	}
	s.path = append(append([]string{}, table...), key...)
	p.spaces()
	s.valueStart = p.at
	s.value, err = p.value(0)
	s.valueEnd = p.at
	return err
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+`)

// key reads a key of one or more parts with dots between them, and the spaces around it.
func (p *parser) key() (path []string, err error) {
	for {
		p.spaces()
		part := string(bareKey.Find(p.text[p.at:]))
		switch c := p.peek(); {
		case c == '"' || c == '\'':
			if part, err = p.str(); err != nil {
				return nil, err
			}
		case part == "":
			return nil, p.fail("a key is missing")
		default:
			p.at += len(part)
		}
		path = append(path, part)
		p.spaces()
		if p.peek() != '.' {
			return path, nil
		}
		p.at++
	}
}
