package store

import (
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type messages struct{ *tx }

const messageColumns = `m.seq, m.id, m.conv, m.sender, m.recipient, m.reply_to, m.type, m.priority, m.word,
	m.created_at, m.expires_at, m.deadline, m.requires_ack, m.hops, m.source, m.trace, m.task, m.mentions,
	m.text, m.code, m.artifacts, m.payload, m.metadata, m.key, m.checksum,
	m.redacted_at, m.body_digest`

// toAll is the recipient of a message to everybody. No agent has this number.
const toAll = 0

func (s messages) NextSeq() (int64, error) {
	seq, err := s.lastSeq()
	return seq + 1, err
}

func (s messages) Insert(m parley.Message) error {
	last, err := s.lastSeq()
	if err != nil {
		return err
	}
	if m.Seq != last+1 {
		return fmt.Errorf("message %s has seq %d, next is %d", m.ID, m.Seq, last+1)
	}
	row, err := s.encode(m)
	if err != nil {
		return err
	}
	if err := s.checkReferences(m); err != nil {
		return err
	}
	err = s.write(`INSERT INTO messages (seq, id, conv, sender, recipient, reply_to, type, priority, word,
			created_at, expires_at, deadline, requires_ack, hops, source, trace, task, mentions,
			text, code, artifacts, payload, metadata, key, checksum)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
		row.args...)
	if err != nil {
		return err
	}
	s.counters.seq, s.undelivered = m.Seq, m.ID
	err = s.write(`UPDATE conversations SET messages = messages + 1, last_seq = $2, updated_at = $3 WHERE num = $1`,
		row.conv, m.Seq, millis(m.CreatedAt))
	if err != nil {
		return err
	}
	if err := s.addReferences(m); err != nil || m.IdempotencyKey == "" {
		return err
	}
	return s.storeKey(row.sender, m.IdempotencyKey, row.id, m.CreatedAt)
}

// storeKey stores the id of a message, or the number of a task, under an idempotency key.
func (s messages) storeKey(sender int64, key string, id []byte, at time.Time) error {
	return s.write(`INSERT INTO idempotency (sender, key, message, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (sender, key) DO UPDATE SET message = excluded.message, at = excluded.at WHERE excluded.at >= idempotency.at`,
		sender, key, id, millis(at))
}

func (s messages) AddKey(sender, key, task string, at time.Time) error {
	from, err := s.agentNamed(sender)
	if err != nil {
		return err
	}
	num, err := taskNum(task)
	if err != nil {
		return err
	}
	return s.storeKey(from.num, key, binary.AppendVarint(nil, num), at)
}

type encodedMessage struct {
	conv, sender int64
	id           []byte
	args         []any
}

func (s messages) encode(m parley.Message) (row encodedMessage, err error) {
	id, err := uuid.Parse(m.ID)
	if err != nil {
		return row, err
	}
	conv, err := s.conversationKey(m.Conversation)
	if err != nil {
		return row, err
	}
	from, err := s.agentNamed(m.From)
	if err != nil {
		return row, err
	}
	var to sql.NullInt64
	switch m.To {
	case "":
	case parley.All:
		to = sql.NullInt64{Int64: toAll, Valid: true}
	default:
		recipient, err := s.agentNamed(m.To)
		if err != nil {
			return row, err
		}
		to = sql.NullInt64{Int64: recipient.num, Valid: true}
	}
	replyTo, err := uuidOrNull(m.InReplyTo)
	if err != nil {
		return row, err
	}
	trace := m.TraceID
	if trace == m.ID {
		trace = ""
	}
	var artifacts []byte
	if len(m.Content.Artifacts) > 0 {
		if artifacts, err = json.Marshal(m.Content.Artifacts); err != nil {
			return row, err
		}
	}
	checksum, err := hex.DecodeString(m.Checksum)
	if err != nil {
		return row, err
	}
	row = encodedMessage{conv: conv.num, sender: from.num, id: id[:]}
	row.args = []any{
		m.Seq, id[:], conv.num, from.num, to, replyTo, string(m.Type), m.Priority.Level(), textOrNull(m.Priority.Word()),
		millis(m.CreatedAt), millisOrNull(m.ExpiresAt), millisOrNull(m.Deadline), flag(m.RequiresAck), m.Hops, m.Source,
		textOrNull(trace), textOrNull(m.Task), textOrNull(strings.Join(m.Mentions, ",")),
		m.Content.Text, textOrNull(m.Content.Code), textOrNull(string(artifacts)),
		textOrNull(string(m.Payload)), textOrNull(string(m.Metadata)), textOrNull(m.IdempotencyKey), checksum,
	}
	return row, nil
}

func (s messages) Get(id string) (parley.Message, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.Message{}, parley.ErrNotFound
	}
	list, err := s.list("WHERE m.id = $1 AND "+notDeleted, key[:])
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return parley.Message{}, err
	}
	return s.withRequestedIDs(list, []any{key[:]})[0], nil
}

func (s messages) GetAll(ids []string) ([]parley.Message, error) {
	keys := uuids(ids)
	if len(keys) == 0 {
		return nil, nil
	}
	q := query{}
	q.add("WHERE " + notDeleted)
	q.among("m.id", keys)
	q.add("ORDER BY m.seq")
	list, cut, err := s.listSome(q.text.String(), q.args...)
	if cut || err != nil {
		return list, err // the list is not complete, so it does not tell which ids are missing
	}
	return s.withRequestedIDs(list, keys), nil
}

// withRequestedIDs gives damaged messages the ids that the caller requested, if their rows have other ids.
func (s messages) withRequestedIDs(list []parley.Message, keys []any) []parley.Message {
	if !slices.ContainsFunc(list, func(m parley.Message) bool { return m.Damage != nil }) {
		return list
	}
	missing := map[string]bool{}
	for _, key := range keys {
		if id, err := uuidText(key.([]byte)); err == nil {
			missing[id] = true
		}
	}
	for _, m := range list {
		delete(missing, m.ID)
	}
	names := slices.Sorted(maps.Keys(missing))
	for i, m := range list {
		if _, err := uuid.Parse(m.ID); m.Damage != nil && len(names) > 0 && (err != nil || !isRequested(keys, m.ID)) {
			list[i] = parley.DamagedMessage(parley.Damage{What: "message", Seq: m.Seq, ID: names[0], Why: parley.WrongChecksum}, m.Conversation)
			names = names[1:]
		}
	}
	return list
}

func isRequested(keys []any, id string) bool {
	return slices.ContainsFunc(keys, func(key any) bool {
		text, err := uuidText(key.([]byte))
		return err == nil && text == id
	})
}

func (s messages) Sizes(seqs []int64) (map[int64]int, error) {
	sizes := make(map[int64]int, len(seqs))
	if len(seqs) == 0 {
		return sizes, nil
	}
	keys := make([]any, len(seqs))
	for i, seq := range seqs {
		keys[i] = seq
	}
	q := query{}
	q.add("SELECT m.seq, " + bodyBytes + " FROM messages m WHERE 1 = 1")
	q.among("m.seq", keys)
	err := s.each(q.text.String(), q.args, func(r Rows) error {
		var (
			seq  int64
			size int
		)
		err := r.Scan(&seq, &size)
		sizes[seq] = size
		return err
	})
	return sizes, err
}

func (s messages) Seqs(ids []string) (map[string]int64, error) {
	seqs, keys := map[string]int64{}, uuids(ids)
	if len(keys) == 0 {
		return seqs, nil
	}
	q := query{}
	q.add("SELECT m.id, m.seq FROM messages m JOIN conversations c ON c.num = m.conv WHERE " + notDeleted)
	q.among("m.id", keys)
	err := s.each(q.text.String(), q.args, func(r Rows) error {
		var (
			id  []byte
			seq int64
		)
		err := r.Scan(&id, &seq)
		seqs[idText(id)] = seq
		return err
	})
	return seqs, err
}

func (s messages) Page(conversation string, p parley.Page) ([]parley.Message, error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return nil, err
	}
	if p.Forward {
		return s.inConversation(conv, "seq > $2 ORDER BY m.seq", p.After, p.Limit)
	}
	before := p.Before
	if before == 0 {
		before = 1 << 62
	}
	list, err := s.inConversation(conv, "seq < $2 ORDER BY m.seq DESC", before, p.Limit)
	slices.Reverse(list)
	return list, err
}

func (s messages) Replies(id string, limit int) ([]parley.Message, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	list, _, err := s.collectSome(messageSelect+"WHERE m.reply_to = $1 AND "+notDeleted+" ORDER BY m.seq LIMIT 0 + $2",
		[]any{key[:], limit}, "", maxReplyBytes)
	return list, err
}

func (s messages) Scan(after int64, limit int) ([]parley.Message, error) {
	list, err := s.list("WHERE m.seq > $1 AND "+notDeleted+" ORDER BY m.seq LIMIT 0 + $2", after, limit)
	if !s.resumeAfterDamage(err) {
		return list, err
	}
	// The index by conversations has the numbers of all messages, even of rows that cannot be read.
	return s.readOneByOne("SELECT m.seq FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.conv >= 0 AND m.seq + 0 > $1 AND "+
		notDeleted+" ORDER BY m.seq + 0 LIMIT 0 + $2", []any{after, limit}, "")
}

func (s messages) InTrace(trace string, after int64, limit int) (conversations []string, more bool, err error) {
	looked, key := 0, parley.TraceKey(trace)
	err = s.each("SELECT m.id, m.trace, c.id FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.seq > $1 AND "+notDeleted+
		" ORDER BY m.seq LIMIT 0 + $2", []any{after, limit + 1}, func(r Rows) error {
		if looked++; looked > limit {
			more = true
			return errEnough
		}
		var (
			id, conv []byte
			named    sql.NullString
		)
		if err := r.Scan(&id, &named, &conv); err != nil {
			return err
		}
		if !named.Valid {
			named.String = idText(id)
		}
		if in := idText(conv); parley.TraceKey(named.String) == key && !slices.Contains(conversations, in) {
			conversations = append(conversations, in)
		}
		return s.checkByteLimit([]any{&named})
	})
	return conversations, more, err
}

func (s messages) FindByKey(sender, key string, since time.Time) (string, error) {
	from, err := s.agentNamed(sender)
	if err != nil {
		return "", err
	}
	var id []byte
	err = s.row("SELECT message FROM idempotency WHERE sender = $1 AND key = $2 AND at > $3",
		[]any{from.num, key, millis(since)}, []any{&id})
	if err != nil {
		return "", err
	}
	if num, n := binary.Varint(id); len(id) < len(uuid.UUID{}) && n == len(id) {
		return taskName(num), nil
	}
	return uuidText(id)
}

func (s messages) ForgetKeys(before time.Time, limit int) (int, error) {
	n, err := s.exec(`DELETE FROM idempotency WHERE (sender, key) IN
		(SELECT sender, key FROM idempotency WHERE at <= $1 LIMIT 0 + $2)`, millis(before), limit)
	return int(n), err
}

const messageSelect = "SELECT c.id, " + messageColumns + " FROM messages m JOIN conversations c ON c.num = m.conv "

func (s messages) list(where string, args ...any) ([]parley.Message, error) {
	list, _, err := s.listSome(where, args...)
	return list, err
}

func (s messages) listSome(where string, args ...any) (_ []parley.Message, cut bool, _ error) {
	return s.collectSome(messageSelect+where, args, "", maxPageBytes)
}

// inConversation reads messages of a conversation without the join by which list gets the conversation's id.
func (s messages) inConversation(conv conversationKey, where string, from int64, limit int) ([]parley.Message, error) {
	where = " FROM messages m WHERE m.conv = $1 AND m." + where + " LIMIT 0 + $3"
	args := []any{conv.num, from, limit}
	list, err := s.collect("SELECT "+messageColumns+where, args, conv.id)
	if !s.resumeAfterDamage(err) {
		return list, err
	}
	return s.readOneByOne("SELECT m.seq"+where, args, conv.id)
}

// maxPageBytes limits how many bytes of bodies one call reads. A thousand messages may have a quarter of a gigabyte, and the hub
// keeps an answer in memory until its reader has read it.
const maxPageBytes = parley.PageBytes

// maxReplyBytes limits how many bytes of replies to one message one call reads. Replies have no pages.
const maxReplyBytes = 4 << 20

func (s messages) collect(query string, args []any, conv string) ([]parley.Message, error) {
	list, _, err := s.collectSome(query, args, conv, maxPageBytes)
	return list, err
}

// collectSome reads messages until their bodies exceed maxBytes, and reports whether that limit cut the list. After that it sets
// their agents, which may need further queries. This is the only place where a row becomes a message: collectSome compares each
// message with its checksum, and returns parley.DamagedMessage for a message that does not match.
func (s messages) collectSome(query string, args []any, conv string, maxBytes int) (_ []parley.Message, cut bool, _ error) {
	var (
		list   = make([]parley.Message, 0, 32)
		agents = make([]messageAgents, 0, 32)
		row    messageRow
		size   int
	)
	dest := row.dest(conv == "")
	err := s.each(query, args, func(r Rows) error {
		row.id, row.convID = nil, nil
		m, err := parley.Message{}, r.Scan(dest...)
		if limitErr := s.checkByteLimit(dest); limitErr != nil {
			return limitErr
		}
		if err == nil {
			m, err = row.message(conv)
		}
		if err != nil { // the hub has not written such a row, so it is damaged
			m = s.damagedMessage(row.seq, idText(row.id), row.conversation(conv), "its row cannot be read")
		}
		list, agents = append(list, m), append(agents, row.agents)
		if size += row.size(); size > maxBytes {
			cut = true
			return errEnough
		}
		return nil
	})
	for i := range list {
		if err == nil {
			err = s.verify(&list[i], agents[i])
		}
	}
	if err != nil {
		return nil, false, err
	}
	return list, cut, nil
}

// verify sets the agents of a message and compares it with its checksum. If the checksum is wrong, it replaces the message by one
// that reports the damage.
func (s messages) verify(m *parley.Message, agents messageAgents) error {
	if m.Damage != nil {
		return nil
	}
	err := s.name(m, agents)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	if err == nil && s.verifier.Intact(m) {
		return nil
	}
	*m = s.damagedMessage(m.Seq, m.ID, m.Conversation, parley.WrongChecksum)
	return nil
}

type messageAgents struct {
	sender    int64
	recipient sql.NullInt64
}

func (s messages) name(m *parley.Message, agents messageAgents) (err error) {
	if m.From, err = s.agentID(agents.sender); err != nil {
		return err
	}
	switch {
	case !agents.recipient.Valid:
	case agents.recipient.Int64 == toAll:
		m.To = parley.All
	default:
		m.To, err = s.agentID(agents.recipient.Int64)
	}
	return err
}

// messageRow is a row of messages as it is read. A query uses the same messageRow for all its rows.
type messageRow struct {
	seq, conv, created                    int64
	agents                                messageAgents
	level, ack, hops                      int
	id, replyTo, checksum, convID, digest []byte
	kind, source, text                    string
	expires, deadline, redacted           sql.NullInt64
	word, trace, task, mentions, code     sql.NullString
	artifacts, payload, metadata, keyText sql.NullString
}

// dest returns the destinations for scanning the id of the conversation, if withConversation is true, and messageColumns.
func (row *messageRow) dest(withConversation bool) []any {
	dest := []any{
		&row.seq, &row.id, &row.conv, &row.agents.sender, &row.agents.recipient, &row.replyTo, &row.kind, &row.level, &row.word,
		&row.created, &row.expires, &row.deadline, &row.ack, &row.hops, &row.source, &row.trace, &row.task, &row.mentions,
		&row.text, &row.code, &row.artifacts, &row.payload, &row.metadata, &row.keyText, &row.checksum,
		&row.redacted, &row.digest,
	}
	if withConversation {
		dest = append([]any{&row.convID}, dest...)
	}
	return dest
}

// conversation returns the known id of the conversation, or else the id from the row, or nothing if that cannot be read.
func (row *messageRow) conversation(known string) string {
	if known != "" {
		return known
	}
	id, _ := uuidText(row.convID)
	return id
}

func (row *messageRow) size() int {
	return len(row.text) + len(row.code.String) + len(row.artifacts.String) + len(row.payload.String) + len(row.metadata.String)
}

// message turns a row into a message without its agents. conv is the id of the conversation, or empty if the row contains it.
func (row *messageRow) message(conv string) (m parley.Message, err error) {
	if conv == "" {
		if conv, err = uuidText(row.convID); err != nil {
			return m, err
		}
	}
	if m.ID, err = uuidText(row.id); err != nil || m.ID == "" {
		return m, errNoID
	}
	if m.InReplyTo, err = uuidText(row.replyTo); err != nil {
		return m, err
	}
	m.Seq, m.Conversation, m.Type, m.Source, m.Hops = row.seq, conv, parley.Type(row.kind), row.source, row.hops
	m.CreatedAt, m.ExpiresAt, m.Deadline = fromMillis(row.created), timeOrNil(row.expires), timeOrNil(row.deadline)
	m.RequiresAck, m.Task, m.IdempotencyKey = row.ack != 0, row.task.String, row.keyText.String
	m.Content.Text, m.Content.Code = row.text, row.code.String
	m.Checksum, m.RedactedAt, m.Digest = hex.EncodeToString(row.checksum), timeOrNil(row.redacted), hex.EncodeToString(row.digest)
	m.TraceID = row.trace.String
	if !row.trace.Valid {
		m.TraceID = m.ID
	}
	if row.mentions.Valid {
		m.Mentions = strings.Split(row.mentions.String, ",")
	}
	if row.payload.Valid {
		m.Payload = json.RawMessage(row.payload.String)
	}
	if row.metadata.Valid {
		m.Metadata = json.RawMessage(row.metadata.String)
	}
	if row.artifacts.Valid {
		if err := json.Unmarshal([]byte(row.artifacts.String), &m.Content.Artifacts); err != nil {
			return m, fmt.Errorf("the artifacts of message %s: %w", m.ID, err)
		}
	}
	m.Priority, err = priority(row.level, row.word.String)
	return m, err
}

var errNoID = errors.New("the row has no id")

// idText returns the id from a row as text. For a damaged id it returns the bytes in hexadecimal.
func idText(raw []byte) string {
	id, err := uuidText(raw)
	if err != nil {
		return hex.EncodeToString(raw)
	}
	return id
}

func priority(level int, word string) (parley.Priority, error) {
	if word != "" {
		return parley.ParsePriority(word)
	}
	return parley.PriorityOf(level)
}

func uuidText(raw []byte) (string, error) {
	if raw == nil {
		return "", nil
	}
	id, err := uuid.FromBytes(raw)
	return id.String(), err
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}
