package store

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

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
