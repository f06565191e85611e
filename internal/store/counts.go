package store

import (
	"encoding/hex"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

type counts struct{ *tx }

func (s counts) Totals() (t parley.Totals, err error) {
	err = s.row(`SELECT (SELECT count(*) FROM agents WHERE removed_at IS NULL),
			(SELECT count(*) FROM conversations c WHERE `+notDeleted+`),
			(SELECT CAST(coalesce(sum(c.messages), 0) AS BIGINT) FROM conversations c WHERE `+notDeleted+`),
			(SELECT CAST(coalesce(sum(waking + quiet + work), 0) AS BIGINT) FROM inboxes),
			(SELECT count(*) FROM deliveries d JOIN messages m ON m.seq = d.message JOIN conversations c ON c.num = m.conv
				WHERE d.state = 'dead' AND `+notDeleted+")", nil,
		[]any{&t.Agents, &t.Conversations, &t.Messages, &t.OpenDeliveries, &t.DeadLetters})
	return t, err
}

func (s counts) OpenWork() (w storage.OpenWork, err error) {
	err = s.row(`SELECT (SELECT count(*) FROM tasks WHERE status = 'queued'), (SELECT count(*) FROM tasks WHERE status = 'active'),
			(SELECT count(*) FROM approvals WHERE state = 'pending')`, nil,
		[]any{&w.QueuedTasks, &w.ActiveTasks, &w.PendingApprovals})
	return w, err
}

func (s counts) Conversations(limit int) (found []string, err error) {
	err = s.each(`SELECT c.id, c.messages, c.last_seq, count(m.seq), coalesce(max(m.seq), 0)
		FROM conversations c LEFT JOIN messages m ON m.conv = c.num WHERE `+notDeleted+`
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

func (s counts) MessageBytes(limit int) (found []string, err error) {
	err = s.each("SELECT w.seq, w.bytes, (SELECT coalesce(sum("+bodyBytes+`), 0) FROM messages m WHERE m.seq <= w.seq) AS counted
		FROM message_weight w LIMIT 0 + $1`, []any{limit}, func(r Rows) error {
		var seq, bytes, counted int64
		err := r.Scan(&seq, &bytes, &counted)
		if err == nil && bytes != counted {
			found = append(found, fmt.Sprintf("messages up to %d are counted as %d bytes, but have %d", seq, bytes, counted))
		}
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

func (s counts) Inboxes(limit int) (found []string, err error) {
	err = s.each(`SELECT a.id, coalesce(i.waking, 0), coalesce(i.quiet, 0), coalesce(i.work, 0),
			coalesce(n.waking, 0), coalesce(n.quiet, 0), coalesce(n.work, 0)
		FROM agents a LEFT JOIN inboxes i ON i.agent = a.num LEFT JOIN
			(SELECT d.agent, `+inboxShares+` FROM deliveries d JOIN messages m ON m.seq = d.message JOIN conversations c ON c.num = m.conv
			WHERE `+notDeleted+" AND "+openDelivery+` GROUP BY d.agent) n ON n.agent = a.num
		WHERE coalesce(i.waking, 0) <> coalesce(n.waking, 0) OR coalesce(i.quiet, 0) <> coalesce(n.quiet, 0)
			OR coalesce(i.work, 0) <> coalesce(n.work, 0) LIMIT 0 + $1`,
		[]any{limit}, func(r Rows) error {
			var (
				id              string
				stored, counted parley.Inbox
			)
			err := r.Scan(&id, &stored.Waking, &stored.Quiet, &stored.Work, &counted.Waking, &counted.Quiet, &counted.Work)
			found = append(found, fmt.Sprintf("the inbox of %s says that %d waking, %d quiet and %d other deliveries are open, but %d, %d and %d are",
				id, stored.Waking, stored.Quiet, stored.Work, counted.Waking, counted.Quiet, counted.Work))
			return err
		})
	return found, err
}
