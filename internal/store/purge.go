package store

// What is erased next of a buried conversation.
const (
	nextOf   = "SELECT seq FROM messages WHERE conv = $1 ORDER BY seq LIMIT 0 + $2"
	nextRuns = "SELECT id FROM runs WHERE conv = $1 ORDER BY id LIMIT 0 + $2"
)

// partOf is a statement that erases rows of a table, but no more than the limit.
func partOf(table, key, where string) string {
	return "DELETE FROM " + table + " WHERE (" + key + ") IN (SELECT " + key + " FROM " + table + " WHERE " + where +
		" ORDER BY " + key + " LIMIT 0 + $2)"
}

// Each statement finishes its kind of row unless the limit ends it, so that nothing is erased before what
// refers to it. What runs have cost is kept, for whom and in which task: deleting a
// conversation gives no budget back.
var (
	purgeBefore = []string{
		partOf("deliveries", "message, agent", "message IN ("+nextOf+")"),
		partOf("waits", "id", "message IN ("+nextOf+")"),
		partOf("run_outputs", "run", "run IN ("+nextRuns+")"),
		partOf("run_triggers", "run, message", "run IN ("+nextRuns+")"),
		partOf("run_posts", "run, message", "run IN ("+nextRuns+")"),
		`UPDATE runs SET conv = NULL, trace = '', session = NULL, answer = NULL, failure = NULL, cancel = NULL, output = 0
			WHERE id IN (` + nextRuns + ")",
		partOf("run_posts", "message, run", "message IN ("+nextOf+")"),
	}
	purgeAfter = []string{
		"DELETE FROM messages WHERE seq IN (" + nextOf + ")",
		`UPDATE exchanges SET conv = NULL WHERE (low, high) IN
			(SELECT low, high FROM exchanges WHERE conv = $1 ORDER BY low, high LIMIT 0 + $2)`,
		partOf("participants", "conv, agent", "conv = $1"),
		partOf("conversations", "num", "num = $1"),
	}
)

func (s conversations) Purge(limit int) (int, error) {
	var num int64
	err := s.row("SELECT num FROM conversations WHERE buried = 1 LIMIT 1", nil, []any{&num})
	if gone, err := absent(err); gone || err != nil {
		return 0, err
	}
	if err := s.keepSeq(); err != nil {
		return 0, err
	}
	if err := s.forgetOf(num, limit); err != nil {
		return 0, err
	}
	dropped, err := s.dropReferences(`(sha256, message) IN (SELECT r.sha256, r.message
		FROM messages m JOIN artifact_refs r ON r.message = m.seq WHERE m.conv = $1 LIMIT 0 + $2)`, num, limit)
	if err != nil {
		return 0, err
	}
	total, err := s.purge(purgeBefore, num, len(dropped), limit)
	if err != nil || total >= limit {
		return total, err
	}
	if err := s.lighten(nextOf, num, limit-total); err != nil {
		return total, err
	}
	return s.purge(purgeAfter, num, total, limit)
}

// purge runs statements one after the other until as many rows are gone as may be.
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
