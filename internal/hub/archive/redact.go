package archive

import (
	"context"
	"errors"

	"github.com/parley-hub/parley/internal/hub/messages"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Redact erases the content of a message, its artifacts, its entries in the search index, and the output so far of live runs
// in its conversation. Its envelope and the digest of its body stay. Only owners may redact. A second call changes nothing.
func (s *Service) Redact(ctx context.Context, caller unit.Caller, id, reason string) (m parley.Message, err error) {
	if err := parley.CheckReason(reason); err != nil {
		return m, err
	}
	if err := s.names.FindID(ctx, caller, unit.OpRedactMessage, parley.NounMessage, &id); err != nil {
		return m, err
	}
	var bodies []string
	err = s.Update(ctx, caller, unit.OpRedactMessage, func(u *unit.Unit) (err error) {
		m, bodies, err = redact(u, id, reason)
		return err
	})
	if err != nil {
		return parley.Message{}, err
	}
	// The message is redacted even if the caller leaves now. The sweep removes artifacts that cannot be removed here.
	ctx = context.WithoutCancel(ctx)
	for _, sha256 := range bodies {
		if err := artifacts.CollectArtifact(ctx, s.artifacts, sha256, s.Now().Add(-artifacts.UnusedArtifact)); err != nil {
			s.Config.Log.Warn("cannot remove an artifact of a redacted message; the next sweep retries", "artifact", sha256, "error", err)
		}
	}
	return m, nil
}

// redact returns the message without its body, and the stored bodies it referred to.
func redact(u *unit.Unit, id, reason string) (m parley.Message, bodies []string, err error) {
	if m, _, err = conversations.Message(u, id); err != nil || m.RedactedAt != nil {
		return m, nil, err
	}
	if m.Damage != nil {
		return m, nil, m.Damage
	}
	bodies = m.Content.Digests()
	m = m.Redacted(u.Now)
	if err := messages.RedactRow(u.Tx, m); err != nil {
		return m, nil, err
	}
	if err := u.Search().Forget(m.Seq); err != nil {
		return m, nil, err
	}
	by, err := u.Runs().PostedBy(m.ID)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return m, nil, err
	}
	// This happens within the update, so that a run that ends next does not store the body with its output.
	u.Core.Live.Forget(m.Conversation, by.ID)
	u.Note(parley.Event{Kind: parley.EventMessageRedacted, Conversation: m.Conversation, Agent: m.From, Message: m.ID})
	return m, bodies, access.Audit(u, "message.redact", m.ID, map[string]any{"reason": reason, "body_digest": m.Digest})
}
