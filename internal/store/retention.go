package store

import (
	"github.com/parley-hub/parley/internal/storage"
)

type retention struct{ *tx }

// bodyBytes is the expression for the size of a message's body.
const bodyBytes = `(octet_length(m.text) + coalesce(octet_length(m.code), 0) + coalesce(octet_length(m.artifacts), 0)
	+ coalesce(octet_length(m.payload), 0) + coalesce(octet_length(m.metadata), 0))`

// stillNeeded is the condition for a message that is still needed: it has an open delivery, or is an ask that has not ended. The
// answer to an ask may come long after its delivery.
const stillNeeded = "(EXISTS (SELECT 1 FROM deliveries d WHERE d.message = m.seq AND (" + openDelivery + " OR d.state = 'dead'))" +
	" OR EXISTS (SELECT 1 FROM waits w WHERE w.message = m.seq AND w.ask = 1 AND " + openWait + "))"

func (s retention) Oldest(after int64, limit int) (list []storage.OldMessage, err error) {
	err = s.each("SELECT m.seq, m.created_at, "+bodyBytes+", CASE WHEN "+stillNeeded+` THEN 1 ELSE 0 END
		FROM messages m JOIN conversations c ON c.num = m.conv
		WHERE m.seq > $1 AND `+notDeleted+` ORDER BY m.seq LIMIT 0 + $2`, []any{after, limit}, func(r Rows) error {
		var (
			m       storage.OldMessage
			created int64
			owed    int
		)
		err := r.Scan(&m.Seq, &created, &m.Bytes, &owed)
		m.CreatedAt, m.Owed = fromMillis(created), owed != 0
		list = append(list, m)
		return err
	})
	return list, err
}

// erasable selects the messages that Erase erases. The selection does not change while Erase works, because it erases no delivery
// that makes its message owed.
const erasable = `SELECT m.seq FROM messages m JOIN conversations c ON c.num = m.conv
	WHERE m.seq > $1 AND m.seq <= $2 AND ` + notDeleted + ` AND NOT ` + stillNeeded

func (s retention) Erase(after, upTo int64) (erased storage.Erased, err error) {
	perConversation, erased, err := s.countErasable(after, upTo)
	if err != nil || erased.Messages == 0 {
		return erased, err
	}
	if err := s.saveSeq(); err != nil {
		return erased, err
	}
	if _, err := s.exec("DELETE FROM search WHERE rowid IN ("+erasable+")", after, upTo); err != nil {
		return erased, err
	}
	if err := s.countErasure(); err != nil {
		return erased, err
	}
	if _, err := s.dropReferences("message IN ("+erasable+")", after, upTo); err != nil {
		return erased, err
	}
	if err := s.subtractBytes(erasable, after, upTo); err != nil {
		return erased, err
	}
	if _, err := s.dropOutputs(runsOf(erasable), after, upTo); err != nil {
		return erased, err
	}
	for _, statement := range []string{
		"DELETE FROM run_triggers WHERE message IN (" + erasable + ")", "DELETE FROM run_posts WHERE message IN (" + erasable + ")",
		"DELETE FROM waits WHERE message IN (" + erasable + ")",
		"DELETE FROM deliveries WHERE message IN (" + erasable + ")", "DELETE FROM messages WHERE seq IN (" + erasable + ")",
	} {
		if _, err := s.exec(statement, after, upTo); err != nil {
			return erased, err
		}
	}
	return erased, s.recount(perConversation)
}

// countErasable counts the messages that Erase erases, in each conversation and in total.
func (s retention) countErasable(after, upTo int64) (perConversation map[int64]int64, total storage.Erased, err error) {
	perConversation = map[int64]int64{}
	err = s.each("SELECT m.conv, count(*), sum("+bodyBytes+") FROM messages m WHERE m.seq IN ("+erasable+") GROUP BY m.conv",
		[]any{after, upTo}, func(r Rows) error {
			var conv, n, bytes int64
			err := r.Scan(&conv, &n, &bytes)
			perConversation[conv] = n
			total.Messages += int(n)
			total.Bytes += bytes
			return err
		})
	return perConversation, total, err
}

// recount corrects the counters of conversations after messages were erased.
func (s retention) recount(erased map[int64]int64) error {
	for conv, n := range erased {
		err := s.write(`UPDATE conversations SET messages = messages - $2,
			last_seq = (SELECT coalesce(max(seq), 0) FROM messages WHERE conv = $1) WHERE num = $1`, conv, n)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s retention) CountBytes(limit int64) (bytes int64, more bool, err error) {
	last, err := s.lastSeq()
	if err != nil {
		return 0, false, err
	}
	var from int64
	if err := s.row("SELECT seq FROM message_weight", nil, []any{&from}); err != nil {
		return 0, false, err
	}
	upTo := min(from+limit, last)
	_, err = s.exec(`UPDATE message_weight SET seq = $2, bytes = bytes +
		(SELECT coalesce(sum(`+bodyBytes+"), 0) FROM messages m WHERE m.seq > $1 AND m.seq <= $2)", from, upTo)
	if err != nil {
		return 0, false, err
	}
	err = s.row("SELECT bytes FROM message_weight", nil, []any{&bytes})
	return bytes, upTo < last, err
}

// subtractBytes subtracts the sizes of messages from the stored sum, before the messages are erased. seqs is a query for their
// seqs.
func (t *tx) subtractBytes(seqs string, args ...any) error {
	_, err := t.exec("UPDATE message_weight SET bytes = bytes - (SELECT coalesce(sum("+bodyBytes+`), 0) FROM messages m
		WHERE m.seq <= message_weight.seq AND m.seq IN (`+seqs+"))", args...)
	return err
}
