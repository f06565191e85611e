package store

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// TextIndex is how a database keeps and finds words, as far as databases differ there: the table search
// has a rowid, which is a message's seq, and tokens.
type TextIndex interface {
	// Insert is the statement that adds a document: its rowid, and what Document returns.
	Insert() string
	// Document writes words down: tags, then words at their places, then those that have none.
	Document(tags, words, loose []string) string
	// Candidates is the statement that selects rowids, the largest first, that match $1, are less than $2
	// and at least $3; at most $4. Its first argument is what Expression returns.
	Candidates() string
	Expression(Expression) string
	// Prepare is a statement to run in the same transaction before, or nothing.
	Prepare() string
	// Rewrite is a statement that writes about -$1 pages of the index anew, without the words of documents
	// that were deleted; and a query for a number that rises by more than one if it did. Or nothing.
	Rewrite() (statement, changes string)
}

// Expression is what a document must have.
type Expression struct {
	Tags      []string // all of these
	OneOf     []string // one of these, if there are any
	All, None []parley.Phrase
}

// A tag is a word that no text has, because it begins with a character for private use. It says what is
// known of a message beside its words, so that a filter is one more word to look for.
const (
	tagMark = "\ue000"
	tagByte = "\ue001" // before two digits that stand for a byte
	// everyTag is on all documents: whoever looks for the lack of a word needs something to begin with.
	everyTag = tagMark + "a"
	noTag    = tagMark + "n" // is on none
	gap      = tagMark       // stands where no word is
)

// longTag is from where on a value is known by its digest: PostgreSQL refuses words of 2 KiB, and one byte
// becomes up to five.
const longTag = 256

// tag makes a word of a value. Different values make different words, and none has a character that
// separates words.
func tag(kind byte, value string) string {
	var b strings.Builder
	b.WriteString(tagMark)
	b.WriteByte(kind)
	if len(value) > longTag {
		fmt.Fprintf(&b, tagMark+"%x", sha256.Sum256([]byte(value)))
		return b.String()
	}
	for i := range len(value) {
		if c := value[i]; 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, tagByte+"%02x", c)
		}
	}
	return b.String()
}

// FTS5 is the TextIndex of SQLite.
type FTS5 struct{}

// Insert implements TextIndex.
func (FTS5) Insert() string { return "INSERT INTO search (rowid, tokens) VALUES ($1, $2)" }

// Document implements TextIndex.
func (FTS5) Document(tags, words, loose []string) string {
	var b strings.Builder
	b.WriteString(strings.Join(tags, " "))
	for _, word := range words {
		if word == "" {
			word = gap
		}
		b.WriteString(" " + word)
	}
	for _, word := range loose {
		b.WriteString(" " + gap + " " + word)
	}
	return b.String()
}

// Candidates implements TextIndex.
func (FTS5) Candidates() string {
	return "SELECT rowid FROM search WHERE search MATCH $1 AND rowid < $2 AND rowid >= $3 ORDER BY rowid DESC LIMIT 0 + $4"
}

// Expression implements TextIndex.
func (FTS5) Expression(e Expression) string {
	return e.write(" AND ", " OR ", " NOT ", func(p parley.Phrase) string {
		text := `"` + strings.Join(p.Words, " ") + `"`
		if p.Prefix {
			text += " *"
		}
		return text
	})
}

// Prepare implements TextIndex.
func (FTS5) Prepare() string { return "" }

// Rewrite implements TextIndex. A deleted document is only struck out in what was written before. Merging
// leaves it out; a negative number begins a merge of everything that is not being merged already.
func (FTS5) Rewrite() (statement, changes string) {
	return "INSERT INTO search (search, rank) VALUES ('merge', $1)", "SELECT total_changes()"
}

// TSVector is the TextIndex of PostgreSQL.
type TSVector struct{}

// loosePlace is the last place PostgreSQL knows. Words that share a place do not follow each other.
const loosePlace = 16383

// Insert implements TextIndex.
func (TSVector) Insert() string {
	return "INSERT INTO search (rowid, tokens) VALUES ($1, $2::text::tsvector)"
}

// Document implements TextIndex. A word with all its places is one entry.
func (TSVector) Document(tags, words, loose []string) string {
	places := map[string][]int{}
	for _, tag := range tags {
		places[tag] = nil
	}
	for i, word := range words {
		if word != "" {
			places[word] = append(places[word], i+1)
		}
	}
	for _, word := range loose {
		places[word] = append(places[word], loosePlace)
	}
	var b strings.Builder
	for word, at := range places {
		b.WriteString(quoted(word))
		for i, place := range at {
			fmt.Fprintf(&b, "%c%d", ":,"[min(i, 1)], place)
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// Candidates implements TextIndex.
func (TSVector) Candidates() string {
	return "SELECT rowid FROM search WHERE tokens @@ $1::text::tsquery AND rowid < $2 AND rowid >= $3 ORDER BY rowid DESC LIMIT 0 + $4"
}

// Expression implements TextIndex.
func (TSVector) Expression(e Expression) string {
	return e.write(" & ", " | ", " & !", func(p parley.Phrase) string {
		parts := make([]string, len(p.Words))
		for i, word := range p.Words {
			parts[i] = quoted(word)
		}
		if p.Prefix {
			parts[len(parts)-1] += ":*"
		}
		return "(" + strings.Join(parts, " <-> ") + ")"
	})
}

// Prepare implements TextIndex. Rare words need another plan than common ones: the index of words, or from
// the newest message down. A plan kept for all of them would read the whole table for a rare one.
func (TSVector) Prepare() string { return "SET LOCAL plan_cache_mode = force_custom_plan" }

// Rewrite implements TextIndex: deleted rows are gone after the server's next vacuum.
func (TSVector) Rewrite() (statement, changes string) { return "", "" }

// quotes is made once: to make it costs more than to quote a word.
var quotes = strings.NewReplacer("'", "''", `\`, `\\`)

// quoted is a word as tsvector and tsquery read it.
func quoted(word string) string { return "'" + quotes.Replace(word) + "'" }

// write writes an expression down with a database's signs.
func (e Expression) write(and, or, butNot string, phrase func(parley.Phrase) string) string {
	one := func(word string) string { return phrase(parley.Phrase{Words: []string{word}}) }
	var must []string
	for _, p := range e.All {
		must = append(must, phrase(p))
	}
	for _, tag := range e.Tags {
		must = append(must, one(tag))
	}
	if len(e.OneOf) > 0 {
		var choice []string
		for _, tag := range e.OneOf {
			choice = append(choice, one(tag))
		}
		must = append(must, "("+strings.Join(choice, or)+")")
	}
	if len(must) == 0 {
		must = append(must, one(everyTag))
	}
	parts := []string{"(" + strings.Join(must, and) + ")"}
	for _, p := range e.None {
		parts = append(parts, phrase(p))
	}
	return strings.Join(parts, butNot)
}
