package chat

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley/internal/plain"
)

// editor is the input box: a text with a cursor. It keeps the text as grapheme clusters, so that no key splits a
// character.
type editor struct {
	text   []string // clusters; "\n" ends a line
	cursor int      // the cursor stands before this one
}

func clusters(s string) (list []string) {
	for s != "" {
		first, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		list = append(list, first)
		s = s[len(first):]
	}
	return list
}

func (e editor) String() string { return strings.Join(e.text, "") }

// before returns the text before the cursor.
func (e editor) before() string { return strings.Join(e.text[:e.cursor], "") }

func (e *editor) set(s string) {
	e.text = clusters(plain.Text(s))
	e.cursor = len(e.text)
}

// insert inserts text before the cursor. An accent combines with the letter before it.
func (e *editor) insert(s string) {
	head := clusters(e.before() + plain.Text(s))
	e.text = append(head, e.text[e.cursor:]...)
	e.cursor = len(head)
}

// cut removes the text between the cursor and another position.
func (e *editor) cut(to int) {
	from, until := min(e.cursor, to), max(e.cursor, to)
	e.text = slices.Delete(e.text, from, until)
	e.cursor = from
}

// key handles a key, and reports whether the key has a meaning in the box.
func (e *editor) key(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "left", "ctrl+b":
		e.cursor = max(e.cursor-1, 0)
	case "right", "ctrl+f":
		e.cursor = min(e.cursor+1, len(e.text))
	case "home", "ctrl+a":
		e.cursor = e.lineStart()
	case "end", "ctrl+e":
		e.cursor = e.lineEnd()
	case "alt+left", "ctrl+left", "alt+b":
		e.cursor = e.wordLeft()
	case "alt+right", "ctrl+right", "alt+f":
		e.cursor = e.wordRight()
	default:
		return e.change(k)
	}
	return true
}

// change handles a key that changes the text.
func (e *editor) change(k tea.KeyPressMsg) bool {
	switch k.String() {
	case "backspace", "ctrl+h":
		e.cut(max(e.cursor-1, 0))
	case "delete":
		e.cut(min(e.cursor+1, len(e.text)))
	case "ctrl+u":
		e.cut(e.lineStart())
	case "ctrl+k":
		e.cut(e.lineEnd())
	case "ctrl+w", "alt+backspace":
		e.cut(e.wordLeft())
	case "alt+d", "alt+delete":
		e.cut(e.wordRight())
	case "alt+enter", "shift+enter", "ctrl+j":
		e.insert("\n")
	default:
		if k.Text == "" {
			return false
		}
		e.insert(k.Text)
	}
	return true
}

func (e editor) lineStart() int {
	at := e.cursor
	for at > 0 && e.text[at-1] != "\n" {
		at--
	}
	return at
}

func (e editor) lineEnd() int {
	at := e.cursor
	for at < len(e.text) && e.text[at] != "\n" {
		at++
	}
	return at
}

func (e editor) wordLeft() int {
	at := e.cursor
	for at > 0 && !inWord(e.text[at-1]) {
		at--
	}
	for at > 0 && inWord(e.text[at-1]) {
		at--
	}
	return at
}

func (e editor) wordRight() int {
	at := e.cursor
	for at < len(e.text) && !inWord(e.text[at]) {
		at++
	}
	for at < len(e.text) && inWord(e.text[at]) {
		at++
	}
	return at
}

func inWord(cluster string) bool {
	return strings.IndexFunc(cluster, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) == 0
}

// layout is text broken into rows, with the positions of the cursor before each cluster and at the end.
type layout struct {
	rows  []string
	spots []spot
}

type spot struct{ row, column int }

// layOut breaks the text into rows of a width.
func (e editor) layOut(width int) layout {
	var (
		out  layout
		line strings.Builder
		used int
	)
	end := func() {
		out.rows = append(out.rows, line.String())
		line.Reset()
		used = 0
	}
	for _, cluster := range e.text {
		wide := ansi.StringWidth(cluster)
		if cluster != "\n" && used+wide > width {
			end()
		}
		out.spots = append(out.spots, spot{len(out.rows), used})
		if cluster == "\n" {
			end()
			continue
		}
		line.WriteString(cluster)
		used += wide
	}
	if used >= width { // the cursor needs a column behind the last character
		end()
	}
	out.spots = append(out.spots, spot{len(out.rows), used})
	end()
	return out
}

// vertical moves the cursor a row up (-1) or down (1). It returns false if there is no such row.
func (e *editor) vertical(step, width int) bool {
	laid := e.layOut(width)
	now := laid.spots[e.cursor]
	row := now.row + step
	if row < 0 || row >= len(laid.rows) {
		return false
	}
	for at, s := range laid.spots {
		if s.row == row && s.column <= now.column {
			e.cursor = at
		}
	}
	return true
}
