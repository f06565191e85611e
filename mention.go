package parley

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions finds who a text mentions, each once, in the order of the text.
//
// An @ begins a mention unless it stands in code or in an e-mail address, and the name ends at a
// character no id has. named resolves a name to an id. A text that starts with an id for which
// participant holds, followed by a comma, a colon, a space or its end, mentions it too. Names
// that resolve to nobody are returned as unknown.
func Mentions(text string, named func(string) (string, bool), participant func(id string) bool) (ids, unknown []string) {
	note := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if id := strings.ToLower(leadingWord(text)); id != "" && participant(id) {
		note(id)
	}
	if !strings.Contains(text, "@") {
		return ids, nil
	}
	for _, m := range mentionsIn(text) {
		if id, ok := m.resolve(named); ok {
			note(id)
		} else if !slices.Contains(unknown, m.word) {
			unknown = append(unknown, m.word)
		}
	}
	return ids, unknown
}

// mention is one @ with what follows it: up to the first character no id has, and, because a
// display name may hold any letter, up to the end of the word.
type mention struct{ name, word string }

func (m mention) resolve(named func(string) (string, bool)) (string, bool) {
	if m.word != m.name {
		if id, ok := named(m.word); ok {
			return id, true
		}
	}
	if m.name == "" {
		return "", false
	}
	return named(m.name)
}

func mentionsIn(text string) []mention {
	var found []mention
	code := codeRanges(text)
	for at := 0; at < len(text); at++ {
		if text[at] != '@' {
			continue
		}
		for len(code) > 0 && code[0].end <= at {
			code = code[1:]
		}
		if len(code) > 0 && code[0].start <= at || addressBefore(text[:at]) {
			continue
		}
		rest := text[at+1:]
		name := rest[:prefix(rest, isIDRune)]
		word := rest[:prefix(rest, isWordRune)]
		if word == "" || strings.HasPrefix(rest[len(word):], "@") && prefix(rest[len(word)+1:], isIDRune) > 0 {
			continue // a lone @, or the local part of an address: @codex@example.com
		}
		found = append(found, mention{name, word})
	}
	return found
}

// addressBefore says whether the text before an @ ends like the local part of an e-mail address.
// Scripts without spaces between words may stand right before a mention.
func addressBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	switch {
	case text == "":
		return false
	case strings.ContainsRune("_%+-", r), '0' <= r && r <= '9':
		return true
	default:
		return unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic)
	}
}

func leadingWord(text string) string {
	word := text[:prefix(text, isIDRune)]
	if rest := text[len(word):]; rest != "" && !strings.ContainsAny(rest[:1], ",: \n") {
		return ""
	}
	return word
}

func prefix(s string, in func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !in(r) }); i >= 0 {
		return i
	}
	return len(s)
}

func isIDRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
}

func isWordRune(r rune) bool {
	return isIDRune(r) || r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

type span struct{ start, end int }

// codeRanges are the parts of a Markdown text that are code: fenced and indented blocks, and
// spans between equal runs of backticks within a paragraph.
func codeRanges(text string) []span {
	var (
		ranges    []span
		paragraph = -1 // where the running paragraph starts
		fence     string
		fenceAt   int
		inList    bool
		blank     = true // the line before was blank, or code
	)
	flush := func(end int) {
		if paragraph >= 0 {
			ranges = append(ranges, codeSpans(text, paragraph, end)...)
		}
		paragraph = -1
	}
	for at := 0; at < len(text); {
		end := len(text)
		if nl := strings.IndexByte(text[at:], '\n'); nl >= 0 {
			end = at + nl + 1
		}
		line := strings.TrimRight(text[at:end], "\r\n")
		bare := strings.TrimLeft(line, " \t>")
		indent := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		mark := fenceMark(bare)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(bare) == mark {
				ranges = append(ranges, span{fenceAt, end})
				fence, blank = "", true
			}
		case mark != "" && (mark[0] != '`' || !strings.Contains(bare[len(mark):], "`")):
			flush(at)
			fence, fenceAt = mark, at
		case strings.TrimSpace(bare) == "":
			flush(at)
			blank = true
		case indent && blank && !inList && paragraph < 0:
			ranges = append(ranges, span{at, end})
		default:
			if paragraph < 0 {
				paragraph = at
			}
			if !indent {
				inList = isListItem(bare)
			}
			blank = false
		}
		at = end
	}
	if fence != "" {
		ranges = append(ranges, span{fenceAt, len(text)})
	}
	flush(len(text))
	slices.SortFunc(ranges, func(a, b span) int { return a.start - b.start })
	return ranges
}

// fenceMark is the run of three or more backticks or tildes a line starts with, or "".
func fenceMark(line string) string {
	for _, c := range "`~" {
		if n := prefix(line, func(r rune) bool { return r == c }); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func isListItem(line string) bool {
	if digits := prefix(line, unicode.IsDigit); digits > 0 {
		line = line[digits:]
		return strings.HasPrefix(line, ". ") || strings.HasPrefix(line, ") ")
	}
	return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ")
}

func codeSpans(text string, start, end int) []span {
	// Runs that found no partner are remembered by length, so that many of them cost linear time.
	var (
		spans    []span
		noCloser = map[int]bool{}
	)
	for at := start; at < end; {
		if text[at] != '`' {
			at++
			continue
		}
		run := backticks(text[at:end])
		closing := -1
		if !noCloser[run] {
			closing = closer(text[:end], at+run, run)
		}
		if closing < 0 {
			noCloser[run] = true
			at += run
			continue
		}
		spans = append(spans, span{at, closing})
		at = closing
	}
	return spans
}

// closer is the end of the next run of exactly n backticks, or -1.
func closer(text string, at, n int) int {
	for at < len(text) {
		if text[at] != '`' {
			at++
			continue
		}
		run := backticks(text[at:])
		if run == n {
			return at + run
		}
		at += run
	}
	return -1
}

func backticks(s string) int { return prefix(s, func(r rune) bool { return r == '`' }) }
