package quote

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Wording returns a text of the hub as a tool shows it: the hub's words unchanged, and those of others in marked lines.
func Wording(w parley.Wording) string { return render(w.Map(Clean), 0, 0) }

// Shown returns a text of the hub as the command line prints it. It differs from Wording in one case: words of others
// that fit on one line and end a line of the hub stay there, as in "Response from DataBot: yes". Nothing behind them
// can be forged.
func Shown(w parley.Wording) string {
	r := renderer{quotesEndLines: true}
	return r.render(w.Map(Clean).Parts(), 0, 0)
}

// Snippet returns a part of a message's text of which the writer is not known any more.
func Snippet(m parley.Message, text string) string {
	if m.From == parley.System {
		return render(parley.Wording{}.Quote("", Clean(text)), 1, 0)
	}
	return Block(text)
}

// render puts marks before the lines of a clean wording, and one more before the words of others. With a limit, the
// result has about limit bytes; it shortens the words of others first.
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
		return markLines(cleaned, marks)
	}
	return shorten(cleaned, marks, limit)
}

// renderer renders a wording into lines.
type renderer struct {
	marks          int
	out            strings.Builder
	line           string // words of the hub that are not written yet
	afterQuote     bool   // a quote is directly before
	quotesEndLines bool   // words of others may end a line of the hub
}

// render renders the parts of a clean wording. With a limit, the words of others get their share of limit bytes; needed
// is how many they would need.
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

// addOwn adds words of the hub. A quote has already ended the line before.
func (r *renderer) addOwn(text string) {
	if r.afterQuote {
		text = strings.TrimPrefix(text, "\n")
	}
	r.line, r.afterQuote = r.line+text, false
}

// flush writes the words of the hub, and ends a line that a quote follows.
func (r *renderer) flush() {
	r.out.WriteString(markLines(strings.TrimSuffix(strings.TrimRight(r.line, " "), "\n"), r.marks))
	r.line = ""
}

// appendInline puts short words of others into a line of the hub, in quotation marks with escapes, if the line
// continues after them.
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

// appendAtLineEnd leaves words of others at the end of a line of the hub, if they have no line end.
func (r *renderer) appendAtLineEnd(text, next string) bool {
	atStart := r.line == "" || strings.HasSuffix(r.line, "\n")
	atEnd := next == "" || strings.HasPrefix(next, "\n")
	if atStart || !atEnd || strings.Contains(text, "\n") {
		return false
	}
	r.line += text
	return true
}

// addQuote puts words of others into lines of their own, below a line that names the writer.
func (r *renderer) addQuote(p parley.Part, limit int) {
	r.flush()
	who := "which others may have written:\n"
	if p.By != "" {
		who = "written by " + Word(p.By) + ":\n"
	}
	r.out.WriteString(who + renderLimited(p.Text, r.marks+1, limit))
	r.afterQuote = true
}
