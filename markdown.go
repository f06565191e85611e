package parley

import "strings"

type span struct{ start, end int }

// codeRanges returns the parts of a Markdown text that are code, in order: fenced and indented blocks,
// and spans between equal runs of backticks within a paragraph. It reads block quotes and lists as
// CommonMark does, except that a fence in a list continues over lines that are not indented like the list.
func codeRanges(text string) []span {
	var b blocks
	for at := 0; at < len(text); {
		end := len(text)
		if nl := strings.IndexByte(text[at:], '\n'); nl >= 0 {
			end = at + nl + 1
		}
		b.line(text, at, end)
		at = end
	}
	if b.fence != "" {
		b.code = append(b.code, span{b.fenceAt, len(text)})
	}
	b.flush(text, len(text))
	return b.code
}

// blocks is the set of blocks that are open between two lines of a text.
type blocks struct {
	code      []span
	in        []int // the block quotes (0) and list items (the width of their mark) around a line
	open      bool  // a paragraph is open
	paragraph int   // and starts here
	fence     string
	fenceAt   int
}

const (
	quote      = 0
	maxNesting = 64 // deeper marks are text
)

func (b *blocks) line(text string, at, end int) {
	c := cursor{line: strings.TrimRight(text[at:end], "\r\n")}
	if b.fence != "" && b.inFence(c, at, end) {
		return
	}
	in := b.in[:c.follow(b.in, false)]
	lazy := len(in) < len(b.in)
	if c.bare() == "" || !b.open {
		b.flush(text, at)
		b.in = in
	}
	for c.bare() != "" {
		if c.indent() >= 4 {
			if !b.open {
				b.code = append(b.code, span{at, end})
			}
			return
		}
		bare := c.bare()
		mark, item, heading := fenceMark(bare), listMark(bare), isHeading(bare) || isRule(bare)
		isQuote := bare[0] == '>' && len(in) < maxNesting
		isItem := item > 0 && len(in) < maxNesting && (!b.open || lazy || interrupts(bare, item)) && !heading
		if mark == "" && !isQuote && !isItem && !heading {
			break
		}
		b.flush(text, at)
		switch {
		case mark != "":
			b.fence, b.fenceAt = mark, at
		case heading:
			b.code = append(b.code, codeSpans(text, at, end)...)
		case isQuote:
			c.enter(1)
			in = append(in, quote)
		default:
			in = append(in, c.enterItem(item))
		}
		b.in = in
		if mark != "" || heading {
			return
		}
	}
	b.text(text, c, at, end, lazy)
}

// text opens a paragraph or continues the open one.
func (b *blocks) text(text string, c cursor, at, end int, lazy bool) {
	switch {
	case c.bare() == "":
	case !b.open:
		b.open, b.paragraph = true, at
	case !lazy && (strings.Trim(c.bare(), "= \t") == "" || strings.Trim(c.bare(), "- \t") == ""):
		b.flush(text, end) // underlined: a heading
	}
}

// inFence reports whether a line belongs to the open fence, and closes the fence at its end.
func (b *blocks) inFence(c cursor, at, end int) bool {
	if c.follow(b.in, true) < len(b.in) {
		b.code = append(b.code, span{b.fenceAt, at})
		b.fence = ""
		return false
	}
	bare := strings.TrimRight(c.bare(), " \t")
	if strings.HasPrefix(bare, b.fence) && strings.Trim(bare, b.fence[:1]) == "" && c.indent() < 4 {
		b.code = append(b.code, span{b.fenceAt, end})
		b.fence = ""
	}
	return true
}

func (b *blocks) flush(text string, end int) {
	if b.open {
		b.code = append(b.code, codeSpans(text, b.paragraph, end)...)
	}
	b.open = false
}

// cursor moves over the marks at the start of a line. A tab ends at the next multiple of four.
type cursor struct {
	line string // the rest of the line
	col  int    // the column at which it starts
	base int    // the column from which its indent counts
}

// indent returns the width of the white space that comes next.
func (c *cursor) indent() int {
	col := c.col
	for i := range len(c.line) {
		switch c.line[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			return col - c.base
		}
	}
	return col - c.base
}

func (c *cursor) bare() string { return strings.TrimLeft(c.line, " \t") }

// enter steps over white space and a mark of n bytes, to which one space after it belongs.
func (c *cursor) enter(n int) {
	c.col, c.line = c.base+c.indent()+n, c.bare()[n:]
	c.base = c.col + 1
	if c.line != "" && c.line[0] != ' ' && c.line[0] != '\t' {
		c.base = c.col
	}
}

// enterItem steps over the mark of a list item and returns how far its contents are indented.
func (c *cursor) enterItem(n int) int {
	from := c.base
	c.enter(n)
	if pad := c.indent(); pad < 4 && c.bare() != "" {
		c.base += pad
	}
	return c.base - from
}

// follow steps into the quotes and items of the previous line, and returns how many of them
// continue. If loose, items need no indent.
func (c *cursor) follow(in []int, loose bool) int {
	for i, width := range in {
		switch {
		case width == quote:
			if c.indent() >= 4 || !strings.HasPrefix(c.bare(), ">") {
				return i
			}
			c.enter(1)
		case c.bare() == "" || c.indent() >= width:
			c.base += width
		case !loose:
			return i
		}
	}
	return len(in)
}

// fenceMark returns the run of three or more backticks or tildes that opens a fence, or "".
func fenceMark(line string) string {
	for _, c := range "`~" {
		n := prefix(line, func(r rune) bool { return r == c })
		if n >= 3 && (c == '~' || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// listMark returns the length of the mark of a list item, or 0.
func listMark(line string) int {
	n := prefix(line, func(r rune) bool { return '0' <= r && r <= '9' })
	switch {
	case n > 9 || n == len(line):
		return 0
	case n == 0 && !strings.ContainsRune("-*+", rune(line[0])), n > 0 && line[n] != '.' && line[n] != ')':
		return 0
	case n+1 < len(line) && line[n+1] != ' ' && line[n+1] != '\t':
		return 0
	default:
		return n + 1
	}
}

// interrupts reports whether a list item may begin right below a paragraph.
func interrupts(line string, mark int) bool {
	return strings.TrimSpace(line[mark:]) != "" && (mark == 1 || line[:mark-1] == "1")
}

func isHeading(line string) bool {
	n := prefix(line, func(r rune) bool { return r == '#' })
	return 1 <= n && n <= 6 && (n == len(line) || line[n] == ' ' || line[n] == '\t')
}

// isRule reports whether a line is a thematic break, or the underline of a heading.
func isRule(line string) bool {
	mark := line[:1]
	return strings.ContainsRune("-_*", rune(line[0])) && strings.Count(line, mark) >= 3 && strings.Trim(line, mark+" \t") == ""
}

// codeSpans returns the code spans of one paragraph. Outside of code, a backslash escapes a backtick.
func codeSpans(text string, start, end int) []span {
	if strings.IndexByte(text[start:end], '`') < 0 {
		return nil
	}
	runs := map[int][]int{} // by length, where the runs of backticks start
	for at := start; at < end; at++ {
		if n := backticks(text[at:end]); n > 0 {
			runs[n] = append(runs[n], at)
			at += n
		}
	}
	var spans []span
	for at := start; at < end; {
		switch n := backticks(text[at:end]); {
		case text[at] == '\\':
			at += 2
		case n == 0:
			at++
		default:
			for len(runs[n]) > 0 && runs[n][0] < at+n {
				runs[n] = runs[n][1:]
			}
			if len(runs[n]) > 0 {
				closing := runs[n][0] + n
				spans = append(spans, span{at, closing})
				at = closing
			} else {
				at += n
			}
		}
	}
	return spans
}

func backticks(s string) int { return prefix(s, func(r rune) bool { return r == '`' }) }
