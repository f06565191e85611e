package store

// The messages and runs of a deleted conversation that Purge erases next.
const (
	nextMessages = "SELECT seq FROM messages WHERE conv = $1 ORDER BY seq LIMIT 0 + $2"
	nextRuns     = "SELECT id FROM runs WHERE conv = $1 ORDER BY id LIMIT 0 + $2"
)

// deleteSome returns a statement that deletes rows of a table, at most $2.
func deleteSome(table, key, where string) string {
	return "DELETE FROM " + table + " WHERE (" + key + ") IN (SELECT " + key + " FROM " + table + " WHERE " + where +
		" ORDER BY " + key + " LIMIT 0 + $2)"
}

// Each statement erases all its rows unless the limit ends it, so that no row is erased before the rows that refer to it. The
// rows of runs stay, with their cost, agent and task, because deleting a conversation must not give budget back.
var (
	purgeBeforeMessages = []string{
		deleteSome("deliveries", "message, agent", "message IN ("+nextMessages+")"),
		deleteSome("waits", "id", "message IN ("+nextMessages+")"),
		deleteSome("run_outputs", "run", "run IN ("+nextRuns+")"),
		deleteSome("run_triggers", "run, message", "run IN ("+nextRuns+")"),
		deleteSome("run_posts", "run, message", "run IN ("+nextRuns+")"),
		`UPDATE runs SET conv = NULL, trace = '', session = NULL, answer = NULL, failure = NULL, cancel = NULL, output = 0
			WHERE id IN (` + nextRuns + ")",
		deleteSome("run_posts", "message, run", "message IN ("+nextMessages+")"),
	}
	purgeFromMessages = []string{
		"DELETE FROM messages WHERE seq IN (" + nextMessages + ")",
		`UPDATE exchanges SET conv = NULL WHERE (low, high) IN
			(SELECT low, high FROM exchanges WHERE conv = $1 ORDER BY low, high LIMIT 0 + $2)`,
		deleteSome("participants", "conv, agent", "conv = $1"),
		deleteSome("notes", "num", "conv = $1"),
		deleteSome("conversations", "num", "num = $1"),
	}
)

func (s conversations) Purge(limit int) (int, error) {
	var num int64
	err := s.row("SELECT num FROM conversations WHERE buried = 1 LIMIT 1", nil, []any{&num})
	if missing, err := notFound(err); missing || err != nil {
		return 0, err
	}
	if err := s.saveSeq(); err != nil {
		return 0, err
	}
	if err := s.unindexNext(num, limit); err != nil {
		return 0, err
	}
	dropped, err := s.dropReferences(`(sha256, message) IN (SELECT r.sha256, r.message
		FROM messages m JOIN artifact_refs r ON r.message = m.seq WHERE m.conv = $1 LIMIT 0 + $2)`, num, limit)
	if err != nil {
		return 0, err
	}
	total, err := s.purge(purgeBeforeMessages, num, len(dropped), limit)
	if err != nil || total >= limit {
		return total, err
	}
	if err := s.subtractBytes(nextMessages, num, limit-total); err != nil {
		return total, err
	}
	return s.purge(purgeFromMessages, num, total, limit)
}

// purge runs statements one after the other until they have erased limit rows, and returns the total.
func (s conversations) purge(statements []string, conv int64, total, limit int) (int, error) {
	for _, statement := range statements {
		if total >= limit {
			break
		}
		n, err := s.exec(statement, conv, limit-total)
		if err != nil {
			return total, err
		}
		total += int(n)
	}
	return total, nil
}
