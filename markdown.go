package parley

import "strings"

type span struct{ start, end int }

// codeRanges returns the parts of a Markdown text that are code, in order: fenced blocks, indented blocks, and spans between
// equal runs of backticks within a paragraph. It reads block quotes and lists as CommonMark does, with one exception: a fence in
// a list continues over lines that are not indented like the list.
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

// blocks has the code found so far, and the blocks that are open after a line of the text.
type blocks struct {
	code       []span
	containers []int  // the open block quotes (blockQuote) and list items (how far their contents are indented)
	open       bool   // a paragraph is open
	paragraph  int    // the start of the open paragraph
	fence      string // the mark of the open fence; "" if none is open
	fenceAt    int
}

const (
	blockQuote = 0
	maxNesting = 64 // marks that are nested deeper count as text
)

// line reads the line of the text from at to end.
func (b *blocks) line(text string, at, end int) {
	c := cursor{line: strings.TrimRight(text[at:end], "\r\n")}
	if b.fence != "" && b.inFence(c, at, end) {
		return
	}
	containers := b.containers[:c.follow(b.containers, false)]
	lazy := len(containers) < len(b.containers)
	if c.bare() == "" || !b.open {
		b.flush(text, at)
		b.containers = containers
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
		isQuote := bare[0] == '>' && len(containers) < maxNesting
		isItem := item > 0 && len(containers) < maxNesting && (!b.open || lazy || interrupts(bare, item)) && !heading
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
			containers = append(containers, blockQuote)
		default:
			containers = append(containers, c.enterItem(item))
		}
		b.containers = containers
		if mark != "" || heading {
			return
		}
	}
	b.text(text, c, at, end, lazy)
}

// text reads a line of text, which opens a paragraph or continues the open one. lazy says that the line has fewer containers than
// the paragraph.
func (b *blocks) text(text string, c cursor, at, end int, lazy bool) {
	switch {
	case c.bare() == "":
	case !b.open:
		b.open, b.paragraph = true, at
	case !lazy && (strings.Trim(c.bare(), "= \t") == "" || strings.Trim(c.bare(), "- \t") == ""):
		b.flush(text, end) // an underline turns the paragraph into a heading
	}
}

// inFence reports whether a line belongs to the open fence. It closes the fence if the line ends the fence or one of its
// containers.
func (b *blocks) inFence(c cursor, at, end int) bool {
	if c.follow(b.containers, true) < len(b.containers) {
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

// flush closes the open paragraph, if there is one, and adds its code spans.
func (b *blocks) flush(text string, end int) {
	if b.open {
		b.code = append(b.code, codeSpans(text, b.paragraph, end)...)
	}
	b.open = false
}

// cursor moves over the marks at the start of a line. A tab ends at the next multiple of four.
type cursor struct {
	line string // the rest of the line
	col  int    // the column at which the rest starts
	base int    // the column from which the indent of the rest counts
}

// indent returns the width of the white space at the start of the rest.
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

// bare returns the rest of the line without white space at its start.
func (c *cursor) bare() string { return strings.TrimLeft(c.line, " \t") }

// enter moves past white space and a mark of n bytes. One space after the mark belongs to the mark.
func (c *cursor) enter(n int) {
	c.col, c.line = c.base+c.indent()+n, c.bare()[n:]
	c.base = c.col + 1
	if c.line != "" && c.line[0] != ' ' && c.line[0] != '\t' {
		c.base = c.col
	}
}

// enterItem moves past the mark of a list item and returns how far the contents of the item are indented.
func (c *cursor) enterItem(n int) int {
	from := c.base
	c.enter(n)
	if pad := c.indent(); pad < 4 && c.bare() != "" {
		c.base += pad
	}
	return c.base - from
}

// follow moves into the containers that were open after the previous line, and returns how many of them the line continues. If
// loose is set, the line continues a list item without an indent too.
func (c *cursor) follow(containers []int, loose bool) int {
	for i, width := range containers {
		switch {
		case width == blockQuote:
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
	return len(containers)
}

// fenceMark returns the run of three or more backticks or tildes that opens a fence, or "".
func fenceMark(line string) string {
	for _, c := range "`~" {
		n := prefixLen(line, func(r rune) bool { return r == c })
		if n >= 3 && (c == '~' || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

// listMark returns the length of the mark of a list item, or 0.
func listMark(line string) int {
	n := prefixLen(line, func(r rune) bool { return '0' <= r && r <= '9' })
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

// interrupts reports whether a list item may begin directly below a paragraph.
func interrupts(line string, mark int) bool {
	return strings.TrimSpace(line[mark:]) != "" && (mark == 1 || line[:mark-1] == "1")
}

func isHeading(line string) bool {
	n := prefixLen(line, func(r rune) bool { return r == '#' })
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
	runs := map[int][]int{} // the starts of the runs of backticks, by the length of the run
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

func backticks(s string) int { return prefixLen(s, func(r rune) bool { return r == '`' }) }
