package quote

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Wording is a text of the hub's as a tool returns it: the hub's words as they are, those of others in lines with a mark.
func Wording(w parley.Wording) string { return render(w.Map(Clean), 0, 0) }

// Shown is a text of the hub's as the command line prints it: as Wording has it, but a single line of somebody else that
// ends a line of the hub's stays there, as in "Response from DataBot: yes". Nothing behind it can be forged.
func Shown(w parley.Wording) string {
	r := renderer{quotesEndLines: true}
	return r.render(w.Map(Clean).Parts(), 0, 0)
}

// Snippet is a part of the text of a message, of which nobody knows any more who wrote which part.
func Snippet(m parley.Message, text string) string {
	if m.From == parley.System {
		return render(parley.Wording{}.Quote("", Clean(text)), 1, 0)
	}
	return Block(text)
}

// render puts a clean wording into lines with so many marks, and one more before the words of others. With a limit it
// has about so many bytes; the words of others are shortened for it first.
func render(w parley.Wording, marks, limit int) string {
	parts := w.Parts()
	var hubs strings.Builder
	foreign := 0
	for _, p := range parts {
		if p.Quoted {
			foreign += blockSize(p.Text, marks+1)
		} else {
			hubs.WriteString(p.Text)
		}
	}
	own := hubs.String()
	if foreign == 0 {
		return renderLimited(own, marks, limit)
	}
	left := 0
	if limit > 0 {
		left = max(1, limit-blockSize(own, marks))
	}
	r := renderer{marks: marks}
	return r.render(parts, left, foreign)
}

func renderLimited(cleaned string, marks, limit int) string {
	if limit == 0 {
		return block(cleaned, marks)
	}
	return shorten(cleaned, marks, limit)
}

// renderer is a wording on its way into lines.
type renderer struct {
	marks          int
	out            strings.Builder
	line           string // the hub's words that are not written yet
	afterQuote     bool   // lines of others come right before
	quotesEndLines bool   // a line of the hub's may end in words of others
}

// render puts the parts of a clean wording into lines. With a limit, words of others have so many bytes of all that they
// would need.
func (r *renderer) render(parts []parley.Part, limit, needed int) string {
	for i, p := range parts {
		next := ""
		if i+1 < len(parts) {
			next = parts[i+1].Text
		}
		switch {
		case !p.Quoted:
			r.addOwn(p.Text)
		case r.appendInline(p.Text, next), r.quotesEndLines && r.appendAtLineEnd(p.Text, next):
		case limit > 0:
			r.addQuote(p, limit*blockSize(p.Text, r.marks+1)/needed)
		default:
			r.addQuote(p, 0)
		}
	}
	r.flush()
	return r.out.String()
}

// addOwn adds words of the hub. Lines of others have ended the line before.
func (r *renderer) addOwn(text string) {
	if r.afterQuote {
		text = strings.TrimPrefix(text, "\n")
	}
	r.line, r.afterQuote = r.line+text, false
}

// flush writes the hub's words. A line that others' words end is ended here.
func (r *renderer) flush() {
	r.out.WriteString(block(strings.TrimSuffix(strings.TrimRight(r.line, " "), "\n"), r.marks))
	r.line = ""
}

// appendInline puts words of others into a line of the hub's, in quotation marks with escapes, if the line goes on behind
// them and they are short.
func (r *renderer) appendInline(text, next string) bool {
	atStart := r.line == "" || strings.HasSuffix(r.line, "\n")
	atEnd := next == "" || strings.HasPrefix(next, "\n")
	if atEnd || atStart && !strings.HasPrefix(next, " ") || strings.Contains(text, "\n") || utf8.RuneCountInString(text) > maxInline {
		return false
	}
	words := strconv.Quote(text)
	if strings.HasSuffix(r.line, `"`) && strings.HasPrefix(next, `"`) {
		words = words[1 : len(words)-1]
	}
	r.line += words
	return true
}

// appendAtLineEnd leaves words of others at the end of a line of the hub's, if they are no more than that line.
func (r *renderer) appendAtLineEnd(text, next string) bool {
	atStart := r.line == "" || strings.HasSuffix(r.line, "\n")
	atEnd := next == "" || strings.HasPrefix(next, "\n")
	if atStart || !atEnd || strings.Contains(text, "\n") {
		return false
	}
	r.line += text
	return true
}

// addQuote puts words of others into lines of their own, under one that says whose they are.
func (r *renderer) addQuote(p parley.Part, limit int) {
	r.flush()
	who := "which others may have written:\n"
	if p.By != "" {
		who = "written by " + Word(p.By) + ":\n"
	}
	r.out.WriteString(who + renderLimited(p.Text, r.marks+1, limit))
	r.afterQuote = true
}
