package store

import (
	"encoding/hex"
	"fmt"

	"github.com/parley-hub/parley"
)

// mayQuote selects the runs in a message's conversation that were there when it was, or came later: each may
// have read it, and repeated it in its output.
const mayQuote = `SELECT r.id FROM messages m JOIN runs r ON r.conv = m.conv
	WHERE m.seq = $1 AND r.output = 1 AND coalesce(r.ended_at, m.created_at) >= m.created_at`

func (s messages) Redact(m parley.Message) error {
	digest, err := hex.DecodeString(m.Digest)
	if err != nil || len(digest) == 0 || m.RedactedAt == nil {
		return fmt.Errorf("message %s is to be redacted and does not say what it was", m.ID)
	}
	const it = "SELECT seq FROM messages WHERE seq = $1"
	if err := s.lighten(it, m.Seq); err != nil {
		return err
	}
	dropped, err := s.dropReferences("message IN ("+it+")", m.Seq)
	if err != nil {
		return err
	}
	for _, sha256 := range dropped {
		// As if it had been stored long ago: what is redacted is not kept for somebody who may yet refer to it.
		if err := s.write("UPDATE artifacts SET stored_at = 0 WHERE sha256 = $1 AND refs = 0", digestOf(sha256)); err != nil {
			return err
		}
	}
	if _, err := s.dropOutputs(mayQuote+" UNION "+runsOf(it), m.Seq); err != nil {
		return err
	}
	n, err := s.exec(`UPDATE messages SET text = '', code = NULL, artifacts = NULL, payload = NULL, metadata = NULL,
		redacted_at = $2, body_digest = $3 WHERE seq = $1`, m.Seq, millisOrNull(m.RedactedAt), digest)
	return changed(n, err, parley.ErrNotFound)
}
