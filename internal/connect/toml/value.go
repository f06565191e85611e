package toml

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deeply values may be nested.
const maxDepth = 100

// bareValue matches numbers, dates, true and false. The program that owns the file checks them further.
var bareValue = regexp.MustCompile(`^(true|false|[+-]?(inf|nan|[0-9][0-9A-Za-z_.:+-]*( [0-9][0-9]:[0-9:.Zz+-]*)?))`)

func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, p.fail("values are nested more than %d deep", maxDepth)
	}
	switch p.peek() {
	case '"', '\'':
		return p.text3()
	case '[':
		return p.array(depth)
	case '{':
		return p.inline(depth)
	}
	bare := bareValue.Find(p.text[p.at:])
	if bare == nil {
		return nil, p.fail("a value is missing")
	}
	p.at += len(bare)
	return literal(bare), nil
}

// text3 reads a string of one or of several lines.
func (p *parser) text3() (string, error) {
	quote := bytes.Repeat([]byte{p.peek()}, 3)
	if !bytes.HasPrefix(p.text[p.at:], quote) {
		return p.str()
	}
	p.at += 3
	begin := p.at
	for p.at < len(p.text) && !bytes.HasPrefix(p.text[p.at:], quote) {
		if p.text[p.at] == '\\' && quote[0] == '"' {
			p.at++
		}
		p.at++
	}
	if p.at >= len(p.text) {
		p.at = begin
		return "", p.fail("a string without an end")
	}
	for p.at+3 < len(p.text) && p.text[p.at+3] == quote[0] { // the string may end with quotes of its own
		p.at++
	}
	text := string(p.text[begin:p.at])
	p.at += 3
	return text, nil // with its escapes: nothing compares such a string
}

// str reads a string within one line.
func (p *parser) str() (string, error) {
	quote, begin := p.peek(), p.at
	for p.at++; p.at < len(p.text) && p.text[p.at] != quote; p.at++ {
		if p.text[p.at] == '\n' {
			break
		}
		if p.text[p.at] == '\\' && quote == '"' {
			p.at++
		}
	}
	if p.at >= len(p.text) || p.text[p.at] != quote {
		p.at = begin
		return "", p.fail("a string without an end")
	}
	p.at++
	inner := string(p.text[begin+1 : p.at-1])
	if quote == '\'' {
		return inner, nil
	}
	return p.unescape(inner)
}

var escapes = map[byte]string{'b': "\b", 't': "\t", 'n': "\n", 'f': "\f", 'r': "\r", 'e': "\x1b", '"': `"`, '\\': `\`}

func (p *parser) unescape(s string) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(s, `\`)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		if after == "" {
			return "", p.fail("a string ends with a backslash")
		}
		if plain, known := escapes[after[0]]; known {
			out.WriteString(plain)
			s = after[1:]
			continue
		}
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[after[0]]
		if digits == 0 || len(after) <= digits {
			return "", p.fail("an unknown escape in a string")
		}
		code, err := strconv.ParseUint(after[1:1+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) {
			return "", p.fail("an unknown escape in a string")
		}
		out.WriteRune(rune(code))
		s = after[1+digits:]
	}
}

func (p *parser) array(depth int) ([]any, error) {
	list := []any{}
	for p.at++; ; {
		p.blank()
		if p.peek() == ']' {
			p.at++
			return list, nil
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
		if err := p.comma(']'); err != nil {
			return nil, err
		}
	}
}

// comma moves over a comma, or to the bracket that ends the list.
func (p *parser) comma(end byte) error {
	p.blank()
	if p.peek() == end {
		return nil
	}
	return p.want(",")
}

func (p *parser) inline(depth int) (map[string]any, error) {
	table := map[string]any{}
	for p.at++; ; {
		p.blank()
		if p.peek() == '}' {
			p.at++
			return table, nil
		}
		key, err := p.key()
		if err == nil {
			err = p.want("=")
		}
		if err != nil {
			return nil, err
		}
		p.spaces()
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		table[strings.Join(key, ".")] = value
		if err := p.comma('}'); err != nil {
			return nil, err
		}
	}
}
