package store

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type messages struct{ *tx }

const messageColumns = `m.seq, m.id, m.conv, m.sender, m.recipient, m.reply_to, m.type, m.priority, m.word,
	m.created_at, m.expires_at, m.deadline, m.requires_ack, m.hops, m.source, m.trace, m.task, m.mentions,
	m.text, m.code, m.artifacts, m.payload, m.metadata, m.key, m.checksum`

// toAll is the recipient of a message to everybody; no agent has this number.
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
	_, err = s.exec(`INSERT INTO messages (seq, id, conv, sender, recipient, reply_to, type, priority, word,
			created_at, expires_at, deadline, requires_ack, hops, source, trace, task, mentions,
			text, code, artifacts, payload, metadata, key, checksum)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
		row.args...)
	if err != nil {
		return err
	}
	s.counters.seq, s.undelivered = m.Seq, m.ID
	_, err = s.exec(`UPDATE conversations SET messages = messages + 1, last_seq = $2, updated_at = $3 WHERE num = $1`,
		row.conv, m.Seq, millis(m.CreatedAt))
	if err != nil || m.IdempotencyKey == "" {
		return err
	}
	_, err = s.exec(`INSERT INTO idempotency (sender, key, message, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (sender, key) DO UPDATE SET message = excluded.message, at = excluded.at`,
		row.sender, m.IdempotencyKey, row.id, millis(m.CreatedAt))
	return err
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
	list, err := s.list("WHERE m.id = $1 AND c.buried = 0", key[:])
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return parley.Message{}, err
	}
	return list[0], nil
}

func (s messages) Page(conversation string, p parley.Page) ([]parley.Message, error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return nil, err
	}
	if p.Forward {
		return s.inConversation(conv, "seq > $2 ORDER BY m.seq LIMIT 0 + $3", p.After, p.Limit)
	}
	before := p.Before
	if before == 0 {
		before = 1 << 62
	}
	list, err := s.inConversation(conv, "seq < $2 ORDER BY m.seq DESC LIMIT 0 + $3", before, p.Limit)
	slices.Reverse(list)
	return list, err
}

func (s messages) Replies(id string, limit int) ([]parley.Message, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	return s.list("WHERE m.reply_to = $1 AND c.buried = 0 ORDER BY m.seq LIMIT 0 + $2", key[:], limit)
}

func (s messages) Scan(after int64, limit int) ([]parley.Message, error) {
	return s.list("WHERE m.seq > $1 AND c.buried = 0 ORDER BY m.seq LIMIT 0 + $2", after, limit)
}

func (s messages) Keyed(sender, key string, since time.Time) (string, error) {
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
	return uuidText(id)
}

func (s messages) ForgetKeys(before time.Time, limit int) (int, error) {
	n, err := s.exec(`DELETE FROM idempotency WHERE (sender, key) IN
		(SELECT sender, key FROM idempotency WHERE at <= $1 LIMIT 0 + $2)`, millis(before), limit)
	return int(n), err
}

func (s messages) list(where string, args ...any) ([]parley.Message, error) {
	return s.collect("SELECT "+messageColumns+", c.id FROM messages m JOIN conversations c ON c.num = m.conv "+where, args,
		func(r Rows, row *messageRow) error {
			var conv []byte
			if err := row.scan(r, &conv); err != nil {
				return err
			}
			var err error
			row.Conversation, err = uuidText(conv)
			return err
		})
}

// inConversation reads without the join that list needs to learn the conversation's id.
func (s messages) inConversation(conv conversationKey, where string, args ...any) ([]parley.Message, error) {
	return s.collect("SELECT "+messageColumns+" FROM messages m WHERE m.conv = $1 AND m."+where,
		append([]any{conv.num}, args...), func(r Rows, row *messageRow) error {
			row.Conversation = conv.id
			return row.scan(r)
		})
}

// collect reads messages, and then names their agents: a query may have to be made for that.
func (s messages) collect(query string, args []any, scan func(Rows, *messageRow) error) ([]parley.Message, error) {
	var (
		list   = make([]parley.Message, 0, 32)
		agents = make([]messageAgents, 0, 32)
	)
	err := s.each(query, args, func(r Rows) error {
		list, agents = append(list, parley.Message{}), append(agents, messageAgents{})
		return scan(r, &messageRow{&agents[len(agents)-1], &list[len(list)-1]})
	})
	for i := range list {
		if err == nil {
			err = s.name(&list[i], agents[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// messageRow is a message being read. Its agents are numbers.
type messageRow struct {
	*messageAgents
	*parley.Message
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

func (row *messageRow) scan(r Rows, more ...any) error {
	var (
		id, replyTo                               []byte
		checksum                                  []byte
		conv, created                             int64
		kind                                      string
		level                                     int
		expires, deadline                         sql.NullInt64
		ack                                       int
		word, trace, task, mentions, code         sql.NullString
		artifacts, payload, metadata, idempotency sql.NullString
	)
	err := r.Scan(append([]any{
		&row.Seq, &id, &conv, &row.sender, &row.recipient, &replyTo, &kind, &level, &word,
		&created, &expires, &deadline, &ack, &row.Hops, &row.Source, &trace, &task, &mentions,
		&row.Content.Text, &code, &artifacts, &payload, &metadata, &idempotency, &checksum,
	}, more...)...)
	if err != nil {
		return err
	}
	if row.ID, err = uuidText(id); err != nil {
		return err
	}
	if row.InReplyTo, err = uuidText(replyTo); err != nil {
		return err
	}
	row.Type, row.RequiresAck = parley.Type(kind), ack != 0
	row.CreatedAt, row.ExpiresAt, row.Deadline = fromMillis(created), timeOrNil(expires), timeOrNil(deadline)
	row.Task, row.Content.Code, row.IdempotencyKey = task.String, code.String, idempotency.String
	row.Checksum = hex.EncodeToString(checksum)
	row.TraceID = trace.String
	if !trace.Valid {
		row.TraceID = row.ID
	}
	if mentions.Valid {
		row.Mentions = strings.Split(mentions.String, ",")
	}
	if payload.Valid {
		row.Payload = json.RawMessage(payload.String)
	}
	if metadata.Valid {
		row.Metadata = json.RawMessage(metadata.String)
	}
	if artifacts.Valid {
		if err := json.Unmarshal([]byte(artifacts.String), &row.Content.Artifacts); err != nil {
			return fmt.Errorf("the artifacts of message %s: %w", row.ID, err)
		}
	}
	row.Priority, err = priority(level, word.String)
	return err
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
