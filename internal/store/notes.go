package store

import (
	"database/sql"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

type notes struct{ *tx }

// NextID counts in the counters, because the row of the newest note may be erased.
func (s notes) NextID() (string, error) {
	var last int64
	if err := s.row("SELECT note FROM counters", nil, []any{&last}); err != nil {
		return "", err
	}
	return parley.NounNote.ShortName(last + 1), s.write("UPDATE counters SET note = $1", last+1)
}

// noteNum returns the number of a note, or ErrNotFound if the id cannot be the id of a note.
func noteNum(id string) (int64, error) {
	num, err := strconv.ParseInt(strings.TrimPrefix(id, "note-"), 10, 64)
	if err != nil || num < 1 || parley.NounNote.ShortName(num) != id {
		return 0, parley.ErrNotFound
	}
	return num, nil
}

func (s notes) Insert(n parley.Note) error {
	num, err := noteNum(n.ID)
	if err != nil {
		return parley.Errorf(parley.BadInput, "%q is not the id of a note", n.ID).Suggest("use note- and a number")
	}
	people, err := s.nums(n.Agent, n.Author)
	if err != nil {
		return err
	}
	var conv sql.NullInt64
	if n.Conversation != "" {
		key, err := s.conversationKey(n.Conversation)
		if err != nil {
			return err
		}
		conv = sql.NullInt64{Int64: key.num, Valid: true}
	}
	digest, err := hex.DecodeString(n.Digest)
	if err != nil {
		return err
	}
	checksum, err := hex.DecodeString(n.Checksum)
	if err != nil {
		return err
	}
	changed, err := s.exec(`INSERT INTO notes (num, agent, conv, author, text, key, created_at, redacted_at, digest, checksum)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		num, people[0], conv, people[1], n.Text, textOrNull(n.IdempotencyKey), millis(n.CreatedAt), millisOrNull(n.RedactedAt), digest, checksum)
	return requireRow(changed, err, parley.ErrTaken)
}

func (s notes) Get(id string) (parley.Note, error) {
	num, err := noteNum(id)
	if err != nil {
		return parley.Note{}, err
	}
	return onlyRecord(s.find("n.num = $1 AND "+noteVisible, num))
}

func (s notes) Keyed(author, key string) (parley.Note, error) {
	row, err := s.agentNamed(author)
	if err != nil {
		return parley.Note{}, err
	}
	return onlyRecord(s.find("n.author = $1 AND n.key = $2", row.num, key))
}

func (s notes) Of(agent, conversation string) ([]parley.Note, error) {
	owners, err := s.nums(agent)
	if err != nil {
		return nil, err
	}
	var conv sql.NullInt64
	if conversation != "" {
		key, err := s.conversationKey(conversation)
		if err != nil {
			return nil, err
		}
		conv = sql.NullInt64{Int64: key.num, Valid: true}
	}
	list, err := s.find("n.agent = $1 OR n.conv = $2", owners[0], conv)
	slices.SortFunc(list, func(a, b parley.Note) int { return byNumber(b.ID, a.ID) })
	return list, err
}

func (s notes) Scan(after string, limit int) ([]parley.Note, error) {
	last := int64(0)
	if after != "" {
		var err error
		if last, err = noteNum(after); err != nil {
			return nil, err
		}
	}
	return s.find("n.num > $1 AND "+noteVisible+" ORDER BY n.num LIMIT 0 + $2", last, limit)
}

func (s notes) Shared(author string) (count int, err error) {
	row, err := s.agentNamed(author)
	if err != nil {
		return 0, err
	}
	err = s.row("SELECT count(*) FROM notes WHERE author = $1 AND conv IS NOT NULL", []any{row.num}, []any{&count})
	return count, err
}

func (s notes) Redact(n parley.Note, result string) error {
	num, err := noteNum(n.ID)
	if err != nil {
		return err
	}
	author, err := s.agentNamed(n.Author)
	if err != nil {
		return err
	}
	const call = "agent = $1 AND tool = 'memory' AND result = $2"
	_, err = s.exec("UPDATE notices SET title = '', text = '' WHERE approval IN (SELECT id FROM approvals WHERE "+call+")", author.num, result)
	if err != nil {
		return err
	}
	if _, err := s.exec("UPDATE approvals SET args = '{}', summary = '', note = NULL, result = NULL WHERE "+call, author.num, result); err != nil {
		return err
	}
	changed, err := s.exec("UPDATE notes SET text = '', redacted_at = $2 WHERE num = $1", num, millisOrNull(n.RedactedAt))
	return requireRow(changed, err, parley.ErrNotFound)
}

func (s notes) Remove(id string) error {
	num, err := noteNum(id)
	if err != nil {
		return err
	}
	changed, err := s.exec("DELETE FROM notes WHERE num = $1", num)
	return requireRow(changed, err, parley.ErrNotFound)
}

// noteVisible is the condition for a note whose conversation was not deleted. A note of a conversation that does not exist is
// damaged, and is read as such.
const noteVisible = "NOT EXISTS (SELECT 1 FROM conversations d WHERE d.num = n.conv AND d.buried = 1)"

const noteColumns = `n.num, n.agent, n.conv, n.author, n.text, n.key, n.created_at, n.redacted_at, n.digest, n.checksum,
	(SELECT c.id FROM conversations c WHERE c.num = n.conv)`

// find reads notes. A row that cannot be read becomes a damaged note.
func (s notes) find(where string, args ...any) (list []parley.Note, err error) {
	before := s.unreadable
	defer func() { s.unreadable = before }()
	s.unreadable = func(d parley.Damage) { list = append(list, parley.DamagedNote(d.ID, parley.Note{}, d.Why)) }
	read, err := readAll(s.tx, func() *noteRow { return &noteRow{} }, "SELECT "+noteColumns+" FROM notes n WHERE "+where, args...)
	return append(read, list...), err
}

// noteRow is a row of notes as it is read.
type noteRow struct {
	num, created        int64
	agent, conv, author sql.NullInt64
	text                string
	key                 sql.NullString
	redacted            sql.NullInt64
	digest, sum, convID []byte
}

func (row *noteRow) dest() []any {
	return []any{
		&row.num, &row.agent, &row.conv, &row.author, &row.text, &row.key, &row.created, &row.redacted, &row.digest, &row.sum, &row.convID,
	}
}

func (row *noteRow) name() (what, id string) { return "note", parley.NounNote.ShortName(row.num) }

// value returns the note, or a damaged note that still tells whose it is.
func (row *noteRow) value(t *tx) (parley.Note, error) {
	n := parley.Note{
		ID: parley.NounNote.ShortName(row.num), Scope: parley.PrivateNote, Text: row.text, CreatedAt: fromMillis(row.created), IdempotencyKey: row.key.String,
		RedactedAt: timeOrNil(row.redacted), Digest: hex.EncodeToString(row.digest), Checksum: hex.EncodeToString(row.sum),
	}
	if row.conv.Valid {
		n.Scope, n.Conversation = parley.ConversationNote, idText(row.convID)
	}
	if err := t.nameAll(map[*string]sql.NullInt64{&n.Agent: row.agent, &n.Author: row.author}); err != nil {
		return n, err
	}
	if n.Intact() {
		return n, nil
	}
	t.damages.add(parley.Damage{What: "note", ID: n.ID, Why: parley.WrongChecksum})
	return parley.DamagedNote(n.ID, n, parley.WrongChecksum), nil
}
