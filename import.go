package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// ImportReport is the result of an import.
type ImportReport struct {
	Lines         int64    `json:"lines" doc:"How many lines are done."`
	Agents        int64    `json:"agents" doc:"How many were added."`
	Conversations int64    `json:"conversations" doc:"How many were added."`
	Messages      int64    `json:"messages" doc:"How many were added."`
	Permissions   int64    `json:"permissions,omitempty" doc:"How many were added."`
	Tasks         int64    `json:"tasks,omitempty" doc:"How many were added. Those that were open are cancelled."`
	Approvals     int64    `json:"approvals,omitempty" doc:"How many were added. Those that were not executed yet are withdrawn."`
	Notes         int64    `json:"notes,omitempty" doc:"How many were added."`
	Skipped       int64    `json:"skipped" doc:"How many were there already."`
	Damaged       int64    `json:"damaged,omitempty" doc:"Messages that are missing, because they were damaged when they were exported."`
	BodiesMissing int64    `json:"bodies_missing" doc:"Artifacts that messages refer to, but nobody has stored."`
	Notices       []string `json:"notices,omitempty" doc:"What the importer should know."`
}

const maxHops = 1 << 20

// CheckHistory checks an imported message. It returns the message as the hub stores it, except for its seq and checksum, or an
// error that says what is wrong. It does not check whether the participants and the conversation exist.
func (m Message) CheckHistory(limits Limits) (Message, error) {
	if !IsUUID(m.ID) || m.InReplyTo != "" && !IsUUID(m.InReplyTo) {
		return m, Errorf(BadInput, "%q or %q is not the id of a message", clip(m.ID), clip(m.InReplyTo)).Suggest("write ids as UUIDs")
	}
	m.ID, m.InReplyTo, m.Conversation = strings.ToLower(m.ID), strings.ToLower(m.InReplyTo), strings.ToLower(m.Conversation)
	if m.TraceID == "" {
		m.TraceID = m.ID
	}
	if err := errors.Join(checkText("task", m.Task, maxAddress), checkText("source", m.Source, maxAddress)); err != nil {
		return m, AsError(err)
	}
	if m.Source == "" || m.CreatedAt.IsZero() || m.Hops < 0 || m.Hops > maxHops {
		return m, Errorf(BadInput, "message %s has no source or no created_at, or its number of hops (%d) is not valid", m.ID, m.Hops).Suggest("export it again")
	}
	if err := m.checkMentions(limits); err != nil {
		return m, err
	}
	if err := CheckMetadata(m.Metadata); err != nil && m.From != System {
		return m, err
	}
	for _, t := range []*time.Time{&m.CreatedAt, m.ExpiresAt, m.Deadline, m.RedactedAt} {
		if t != nil {
			*t = t.UTC().Truncate(time.Millisecond)
		}
	}
	return m.checkBody(limits)
}

func (m Message) checkMentions(limits Limits) error {
	if len(m.Mentions) > limits.Mentions {
		return tooLargeError("mentions", len(m.Mentions), limits.Mentions, "entries")
	}
	for _, id := range m.Mentions {
		if !slugPattern.MatchString(id) {
			return Errorf(BadInput, "the mention %q is not an agent id", clip(id)).Suggest("export it again")
		}
	}
	return nil
}

func (m Message) checkBody(limits Limits) (Message, error) {
	content := m.Content
	if m.RedactedAt != nil {
		if m.SealedBody() == m.BodyDigest() || m.BodyDigest() != (Message{}).BodyDigest() {
			return m, Errorf(BadInput, "the redacted message %s has a body, or lacks the digest of its former body", m.ID).
				Suggest("export it again")
		}
		content.Text = "redacted" // a draft must not be empty
	} else {
		m.Digest = ""
	}
	d, err := Draft{
		Conversation: m.Conversation, Type: m.Type, Priority: m.Priority, TraceID: m.TraceID, Content: content,
		Payload: m.Payload, Metadata: m.Metadata, IdempotencyKey: m.IdempotencyKey,
	}.check(limits) // files keep their names, because an imported message must stay unchanged
	m.Type, m.Priority, m.Payload, m.Metadata = d.Type, d.Priority, d.Payload, d.Metadata
	return m, err
}

// SealedBody returns the digest of the body of a message. For a redacted message, it is the digest of the removed body.
func (m Message) SealedBody() [32]byte {
	kept, err := hex.DecodeString(m.Digest)
	if m.RedactedAt == nil || err != nil || len(kept) != sha256.Size {
		return m.BodyDigest()
	}
	return [sha256.Size]byte(kept)
}
