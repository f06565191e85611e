package store

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// TextIndex is how one database stores and finds words in the table search. Each row has a rowid, which is the message's seq, and
// tokens.
type TextIndex interface {
	// Insert returns the statement that adds a document. Its arguments are the rowid and the result of Document.
	Insert() string
	// Document returns the tokens of a document: its tags, its words at their places, and its loose words, which have no place.
	Document(tags, words, loose []string) string
	// Candidates returns the statement that selects the rowids of documents that match $1, the result of Expression. They are
	// less than $2 and at least $3. The largest come first, at most $4.
	Candidates() string
	Expression(Expression) string
	// Prepare returns a statement to run before a search in the same transaction, or an empty string.
	Prepare() string
	// Rewrite returns a statement that rewrites about -$1 pages of the index without the words of deleted documents, and a query
	// for a number that rises by more than one if the statement has rewritten something. It returns empty strings if the database
	// needs no such statement.
	Rewrite() (statement, changes string)
}

// Expression says which words and tags a document must have.
type Expression struct {
	Tags      []string // the document has all of these tags
	OneOf     []string // the document has one of these tags, if there are any
	All, None []parley.Phrase
}

// A tag is a word that no text contains, because it begins with a character for private use. It stands for a property of a
// message, so that a filter is one more word to search for.
const (
	tagMark = "\ue000"
	tagByte = "\ue001" // begins the two hexadecimal digits of a byte
	// everyTag is a tag of all documents. A search for messages without a word needs it, because an expression must have a word
	// that matches.
	everyTag = tagMark + "a"
	noTag    = tagMark + "n" // no document has it
	gap      = tagMark       // stands at a place without a word
)

// maxTagValue is the length of a value in bytes above which its tag contains a digest instead. PostgreSQL refuses words of 2 KiB,
// and one byte of a value becomes up to five.
const maxTagValue = 256

// tag returns the tag of a value. Different values have different tags. A tag contains no character that separates words.
func tag(kind byte, value string) string {
	var b strings.Builder
	b.WriteString(tagMark)
	b.WriteByte(kind)
	if len(value) > maxTagValue {
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

// Rewrite implements TextIndex. SQLite only marks a deleted document as deleted. A merge leaves it out. A negative number begins
// a merge of all parts that are not being merged already.
func (FTS5) Rewrite() (statement, changes string) {
	return "INSERT INTO search (search, rank) VALUES ('merge', $1)", "SELECT total_changes()"
}

// TSVector is the TextIndex of PostgreSQL.
type TSVector struct{}

// loosePlace is the last place that PostgreSQL has. All loose words get it, because words at the same place do not follow each
// other.
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
		b.WriteString(quoteWord(word))
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
			parts[i] = quoteWord(word)
		}
		if p.Prefix {
			parts[len(parts)-1] += ":*"
		}
		return "(" + strings.Join(parts, " <-> ") + ")"
	})
}

// Prepare implements TextIndex. For rare words the best plan uses the index of words, and for common words it reads from the
// newest message down. A plan for both would read the whole table for a rare word.
func (TSVector) Prepare() string { return "SET LOCAL plan_cache_mode = force_custom_plan" }

// Rewrite implements TextIndex. It returns no statement, because the server's next vacuum removes deleted rows.
func (TSVector) Rewrite() (statement, changes string) { return "", "" }

// quotes is a variable because making the replacer costs more than quoting a word.
var quotes = strings.NewReplacer("'", "''", `\`, `\\`)

// quoteWord quotes a word for tsvector and tsquery.
func quoteWord(word string) string { return "'" + quotes.Replace(word) + "'" }

// write returns the expression in the syntax of a database. and, or and butNot are its operators.
func (e Expression) write(and, or, butNot string, phrase func(parley.Phrase) string) string {
	one := func(word string) string { return phrase(parley.Phrase{Words: []string{word}}) }
	var required []string
	for _, p := range e.All {
		required = append(required, phrase(p))
	}
	for _, tag := range e.Tags {
		required = append(required, one(tag))
	}
	if len(e.OneOf) > 0 {
		var alternatives []string
		for _, tag := range e.OneOf {
			alternatives = append(alternatives, one(tag))
		}
		required = append(required, "("+strings.Join(alternatives, or)+")")
	}
	if len(required) == 0 {
		required = append(required, one(everyTag))
	}
	parts := []string{"(" + strings.Join(required, and) + ")"}
	for _, p := range e.None {
		parts = append(parts, phrase(p))
	}
	return strings.Join(parts, butNot)
}
