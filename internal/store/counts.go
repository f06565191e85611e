package store

import (
	"encoding/hex"
	"fmt"
)

type counts struct{ *tx }

func (s counts) Conversations(limit int) (found []string, err error) {
	err = s.each(`SELECT c.id, c.messages, c.last_seq, count(m.seq), coalesce(max(m.seq), 0)
		FROM conversations c LEFT JOIN messages m ON m.conv = c.num WHERE `+alive+`
		GROUP BY c.num, c.id, c.messages, c.last_seq
		HAVING c.messages <> count(m.seq) OR c.last_seq <> coalesce(max(m.seq), 0) LIMIT 0 + $1`,
		[]any{limit}, func(r Rows) error {
			var (
				raw                           []byte
				messages, last, counted, seen int64
			)
			if err := r.Scan(&raw, &messages, &last, &counted, &seen); err != nil {
				return err
			}
			id, err := uuidText(raw)
			found = append(found, fmt.Sprintf("conversation %s says that it has %d messages up to %d, but has %d up to %d",
				id, messages, last, counted, seen))
			return err
		})
	return found, err
}

func (s counts) Artifacts(limit int) (found []string, err error) {
	err = s.each(`SELECT a.sha256, a.refs, count(r.message) FROM artifacts a LEFT JOIN artifact_refs r ON r.sha256 = a.sha256
		GROUP BY a.sha256, a.refs HAVING a.refs <> count(r.message) LIMIT 0 + $1`,
		[]any{limit}, func(r Rows) error {
			var (
				digest        []byte
				refs, counted int64
			)
			err := r.Scan(&digest, &refs, &counted)
			found = append(found, fmt.Sprintf("artifact %s says that %d messages refer to it, but %d do",
				hex.EncodeToString(digest), refs, counted))
			return err
		})
	return found, err
}
