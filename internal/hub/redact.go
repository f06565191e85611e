package hub

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// Redact erases what a message says, with its artifacts, what the search index has of it and what live runs in
// its conversation have put out so far. Its envelope and the digest of its body stay. Only owners may. Doing it again changes nothing.
func (h *Hub) Redact(ctx context.Context, caller Caller, id, reason string) (m parley.Message, err error) {
	if err := parley.CheckReason(reason); err != nil {
		return m, err
	}
	if err := h.findID(ctx, caller, opRedactMessage, parley.NounMessage, &id); err != nil {
		return m, err
	}
	var bodies []string
	err = h.update(ctx, caller, opRedactMessage, func(s *scene) (err error) {
		m, bodies, err = s.redact(id, reason)
		return err
	})
	if err != nil {
		return parley.Message{}, err
	}
	// The message is redacted whatever comes now; what cannot be removed waits for the sweep.
	ctx = context.WithoutCancel(ctx)
	for _, sha256 := range bodies {
		if err := h.collectArtifact(ctx, sha256, h.now().Add(-unusedArtifact)); err != nil {
			h.config.Log.Warn("an artifact of a redacted message is not removed yet, will try again", "artifact", sha256, "error", err)
		}
	}
	return m, nil
}

// redact returns the message without its body, and the stored bodies it referred to.
func (s *scene) redact(id, reason string) (m parley.Message, bodies []string, err error) {
	if m, _, err = s.message(id); err != nil || m.RedactedAt != nil {
		return m, nil, err
	}
	if m.Damage != nil {
		return m, nil, m.Damage
	}
	bodies = m.Content.Digests()
	m = m.Redacted(s.now)
	if err := s.Messages().Redact(m); err != nil {
		return m, nil, err
	}
	if err := s.Search().Forget(m.Seq); err != nil {
		return m, nil, err
	}
	by, err := s.Runs().PostedBy(m.ID)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return m, nil, err
	}
	// Here, and not after the update: what a run that ends next keeps of its output must not hold it.
	s.hub.live.forget(m.Conversation, by.ID)
	s.note(parley.Event{Kind: parley.EventMessageRedacted, Conversation: m.Conversation, Agent: m.From, Message: m.ID})
	return m, bodies, s.audit("message.redact", m.ID, map[string]any{"reason": reason, "body_digest": m.Digest})
}
