package store

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

type search struct{ *tx }

const (
	// maxCandidates limits how many messages that match the words one search looks at, whether or not the reader may read them.
	maxCandidates = 20_000
	// maxReaderTags is up to how many readable conversations a search names them to the index.
	maxReaderTags = 200
	// maxSearchBytes limits how many bytes of bodies one search reads.
	maxSearchBytes = 4 << 20
)

// Kinds of tags.
const (
	tagFrom         = 'f'
	tagTo           = 't'
	tagConversation = 'c'
	tagType         = 'y'
	tagTask         = 'k'
	tagTrace        = 'r'
)

func (s search) Mark() (m storage.IndexMark, err error) {
	err = s.row("SELECT seq, erased FROM search_mark", nil, []any{&m.Seq, &m.Erased})
	return m, err
}

func (s search) Index(from storage.IndexMark, upTo int64, docs []parley.Document) error {
	if upTo <= from.Seq {
		return fmt.Errorf("cannot move the mark of the search index from %d back to %d", from.Seq, upTo)
	}
	n, err := s.exec("UPDATE search_mark SET seq = $1 WHERE seq = $2 AND erased = $3", upTo, from.Seq, from.Erased)
	if err := requireRow(n, err, parley.ErrTaken); err != nil {
		return err
	}
	days := map[int64][2]int64{}
	for _, d := range docs {
		m := d.Message
		_, err := s.exec(s.text.Insert(), m.Seq, s.text.Document(tagsOf(d), d.Words, d.Loose))
		if err != nil {
			return err
		}
		span, known := days[day(m.CreatedAt)]
		if !known {
			span[0] = m.Seq
		}
		days[day(m.CreatedAt)] = [2]int64{span[0], m.Seq}
	}
	return s.widenDays(days)
}

// widenDays stores the first and the last seq of each day's messages.
func (s search) widenDays(days map[int64][2]int64) error {
	for day, span := range days {
		_, err := s.exec(`INSERT INTO search_days (day, first_seq, last_seq) VALUES ($1, $2, $3)
			ON CONFLICT (day) DO UPDATE SET last_seq = excluded.last_seq`, day, span[0], span[1])
		if err != nil {
			return err
		}
	}
	return nil
}

// day returns the number of a day, also for days before 1970.
func day(t time.Time) int64 {
	return int64(math.Floor(float64(t.Unix()) / (24 * time.Hour).Seconds()))
}

func tagsOf(d parley.Document) []string {
	m := d.Message
	tags := []string{
		everyTag, tag(tagFrom, parley.OriginalName(m.From)), conversationTag(m.Conversation), tag(tagType, string(m.Type)),
		tag(tagTrace, parley.TraceKey(m.TraceID)),
	}
	if m.Task != "" {
		tags = append(tags, tag(tagTask, m.Task))
	}
	for _, id := range d.To {
		tags = append(tags, tag(tagTo, parley.OriginalName(id)))
	}
	return tags
}

// conversationTag returns the tag of a conversation. It leaves out the hyphens, which all ids have.
func conversationTag(id string) string { return tag(tagConversation, strings.ReplaceAll(id, "-", "")) }

func (s search) Forget(seqs ...int64) error {
	for _, seq := range seqs {
		if _, err := s.exec("DELETE FROM search WHERE rowid = $1", seq); err != nil {
			return err
		}
	}
	if err := s.countErasure(); err != nil {
		return err
	}
	return s.write("UPDATE search_mark SET forgotten = erased")
}

// scrubPages is how many pages of the index one call rewrites. It is small because posts wait meanwhile.
const scrubPages = 64

func (s search) Scrub() (more bool, err error) {
	var one int
	err = s.row("SELECT 1 FROM search_mark WHERE forgotten > scrubbed", nil, []any{&one})
	if done, err := notFound(err); done || err != nil {
		return false, err
	}
	if more, err = s.rewrite(); more || err != nil {
		return more, err
	}
	_, err = s.exec("UPDATE search_mark SET scrubbed = erased")
	return false, err
}

// rewrite rewrites a part of the index without erased words, and reports whether there was anything to rewrite. The database
// itself must overwrite erased rows in other places.
func (s search) rewrite() (done bool, err error) {
	statement, changes := s.text.Rewrite()
	if statement == "" {
		return false, nil
	}
	var before, after int64
	if err := s.row(changes, nil, []any{&before}); err != nil {
		return false, err
	}
	if _, err := s.exec(statement, -scrubPages); err != nil {
		return false, err
	}
	err = s.row(changes, nil, []any{&after})
	return after-before > 1, err // the statement itself counts as one change
}

// countErasure counts an erasure, so that Index refuses documents that were read before it.
func (t *tx) countErasure() error {
	_, err := t.exec("UPDATE search_mark SET erased = erased + 1")
	return err
}

// unindexNext removes the messages of a conversation that Purge erases next from the index.
func (t *tx) unindexNext(conv int64, limit int) error {
	_, err := t.exec("DELETE FROM search WHERE rowid IN ("+nextMessages+")", conv, limit)
	if err != nil {
		return err
	}
	return t.countErasure()
}

func (s search) Match(q storage.SearchQuery) (found storage.Matches, err error) {
	bounds, err := s.bounds(q)
	if err != nil {
		return found, err
	}
	e, err := s.expression(q)
	if err != nil {
		return found, err
	}
	if err := s.prepare(); err != nil {
		return found, err
	}
	// The words and tags select a portion of candidates. The other conditions filter the portion. If few messages remain, the
	// next portion is larger.
	part, left := portion{expression: s.text.Expression(e), seqBounds: bounds, size: q.Limit}, maxCandidates
	for part.from < part.below {
		part.size = min(part.size, left)
		list, more, err := s.portion(part, q, q.Limit-len(found.Messages))
		if err != nil {
			return found, err
		}
		found.Messages = append(found.Messages, list...)
		if more {
			found.Rest = list[len(list)-1].Seq
			return found, nil
		}
		n, lowest, err := s.measure(part)
		if err != nil || n < part.size {
			return found, err
		}
		if left -= n; left == 0 {
			found.Rest = lowest
			return found, nil
		}
		part.below, part.size = lowest, 4*part.size
	}
	return found, nil
}

// prepare runs the statement that must precede a search. It writes nothing, so a view may run it.
func (s search) prepare() error {
	statement := s.text.Prepare()
	if statement == "" || s.broken != nil {
		return s.broken
	}
	_, err := s.conn.Exec(statement)
	return s.note(err)
}

// portion is a part of the messages that match an expression: the newest within bounds.
type portion struct {
	expression string
	seqBounds
	size int
}

func (p portion) args() []any { return []any{p.expression, p.below, p.from, p.size} }

// readPortion returns the messages of a portion that meet the other conditions of a query, and whether the portion may have more.
func (s search) portion(p portion, q storage.SearchQuery, limit int) (list []parley.Message, more bool, err error) {
	statement := query{args: p.args()}
	statement.add("SELECT c.id, " + messageColumns + " FROM (" + s.text.Candidates() + `) f
		JOIN messages m ON m.seq = f.rowid JOIN conversations c ON c.num = m.conv WHERE ` + notDeleted)
	if err := s.filter(&statement, q); err != nil {
		return nil, false, err
	}
	statement.add("ORDER BY f.rowid DESC LIMIT 0 + ?", limit)
	list, cut, err := messages(s).collectSome(statement.text.String(), statement.args, "", maxSearchBytes)
	return list, cut || len(list) > 0 && len(list) == limit, err
}

// measure returns how many messages a portion has, and the lowest seq among them.
func (s search) measure(p portion) (n int, lowest int64, err error) {
	err = s.row("SELECT count(*), coalesce(min(rowid), 0) FROM ("+s.text.Candidates()+") f", p.args(), []any{&n, &lowest})
	return n, lowest, err
}

// filter adds the conditions that the index does not contain.
func (s search) filter(statement *query, q storage.SearchQuery) error {
	if !q.Before.IsZero() {
		statement.add("AND m.created_at < ?", millis(q.Before))
	}
	if !q.After.IsZero() {
		statement.add("AND m.created_at >= ?", millis(q.After))
	}
	if q.Unanswered {
		statement.add(`AND EXISTS (SELECT 1 FROM deliveries d WHERE d.message = m.seq)
			AND NOT EXISTS (SELECT 1 FROM messages r WHERE r.reply_to = m.id)`)
	}
	if err := s.filterAgents(statement, q); err != nil || q.Reader == "" {
		return err
	}
	reader, err := s.agentNamed(q.Reader)
	if err != nil {
		return err
	}
	statement.add(`AND (c.kind = 'channel' AND c.visibility = 'public'
		OR EXISTS (SELECT 1 FROM participants p WHERE p.conv = c.num AND p.agent = ?))`, reader.num)
	return nil
}

// filterAgents adds conditions on the agents. Agents that had the same id one after the other share a tag in the index.
func (s search) filterAgents(statement *query, q storage.SearchQuery) error {
	if q.From != "" {
		from, err := s.agentNamed(q.From)
		if err != nil {
			return err
		}
		statement.add("AND m.sender = ?", from.num)
	}
	if q.To == "" || q.To == parley.All {
		return nil
	}
	to, err := s.agentNamed(q.To)
	if err != nil {
		return err
	}
	if _, err := s.agentNamed(parley.RetiredName(parley.OriginalName(to.agent.ID), 1)); errors.Is(err, parley.ErrNotFound) {
		return nil // no other agent has had its id
	} else if err != nil {
		return err
	}
	statement.add("AND (m.recipient = ? OR EXISTS (SELECT 1 FROM deliveries t WHERE t.message = m.seq AND t.agent = ?))", to.num, to.num)
	return nil
}

// seqBounds are the bounds of the seqs to search: from is included, below is not.
type seqBounds struct{ from, below int64 }

func (s search) bounds(q storage.SearchQuery) (b seqBounds, err error) {
	b.below = 1 << 62
	if q.Below > 0 {
		b.below = q.Below
	}
	if !q.Before.IsZero() {
		var last int64
		err = s.row("SELECT coalesce(max(last_seq), 0) FROM search_days WHERE day <= $1", []any{day(q.Before)}, []any{&last})
		b.below = min(b.below, last+1)
	}
	if err == nil && !q.After.IsZero() {
		err = s.row("SELECT coalesce(min(first_seq), $2) FROM search_days WHERE day >= $1",
			[]any{day(q.After), b.below}, []any{&b.from})
	}
	return b, err
}

func (s search) expression(q storage.SearchQuery) (e Expression, err error) {
	e.All, e.None = q.All, q.None
	for _, id := range []struct {
		kind byte
		name string
	}{{tagFrom, q.From}, {tagTo, q.To}} {
		if id.name == "" {
			continue
		}
		if id.name != parley.All {
			row, err := s.agentNamed(id.name)
			if err != nil {
				return e, err
			}
			id.name = parley.OriginalName(row.agent.ID) // all agents that have had the id share this tag; filterAgents separates them
		}
		e.Tags = append(e.Tags, tag(id.kind, id.name))
	}
	if q.Type != "" {
		e.Tags = append(e.Tags, tag(tagType, string(q.Type)))
	}
	if q.Task != "" {
		e.Tags = append(e.Tags, tag(tagTask, q.Task))
	}
	if q.Trace != "" {
		e.Tags = append(e.Tags, tag(tagTrace, parley.TraceKey(q.Trace)))
	}
	if q.Conversation != "" {
		conv, err := s.conversationKey(q.Conversation)
		if err != nil {
			return e, err
		}
		e.Tags = append(e.Tags, conversationTag(conv.id))
	} else if q.Reader != "" {
		e.OneOf, err = s.readableTags(q.Reader)
	}
	return e, err
}

// readableTags returns the tags of the conversations that a reader may read. It returns no tags if there are more than
// maxReaderTags. Then the reader may read most candidates anyway, and filter removes the others.
func (s search) readableTags(reader string) (tags []string, err error) {
	agent, err := s.agentNamed(reader)
	if err != nil {
		return nil, err
	}
	err = s.each(`SELECT c.id FROM participants p JOIN conversations c ON c.num = p.conv WHERE p.agent = $1
		UNION SELECT id FROM conversations WHERE name IS NOT NULL AND kind = 'channel' AND visibility = 'public'
		LIMIT 0 + $2`, []any{agent.num, maxReaderTags + 1}, func(r Rows) error {
		var raw []byte
		if err := r.Scan(&raw); err != nil {
			return err
		}
		id, err := uuidText(raw)
		tags = append(tags, conversationTag(id))
		return err
	})
	switch {
	case len(tags) > maxReaderTags:
		return nil, err
	case len(tags) == 0:
		return []string{noTag}, err
	default:
		return tags, err
	}
}
