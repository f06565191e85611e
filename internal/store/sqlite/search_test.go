package sqlite

import (
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// A search looks at so many messages and no more; whoever goes on from where it ended finds the rest.
func TestSearchLooksAtABoundedNumberOfMessages(t *testing.T) {
	t.Parallel()
	home, ids := filled(t)
	raw(t, home,
		`WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 51000)
			INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
			SELECT i, randomblob(16), conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum
			FROM n, (SELECT * FROM messages ORDER BY seq LIMIT 1)`,
		"INSERT INTO search (rowid, tokens) SELECT seq, 'word' FROM messages",
		`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks)
			SELECT seq, sender, 'accepted', 1, '', 5, seq, 1, 0, 0, 0 FROM messages ORDER BY seq LIMIT 1`,
	)
	db := opened(t, home)
	q := storage.SearchQuery{All: []parley.Phrase{{Words: []string{"word"}}}, Unanswered: true, Limit: 100}
	for calls := 1; ; calls++ {
		var found storage.Matches
		err := db.View(t.Context(), func(tx storage.Tx) (err error) {
			found, err = tx.Search().Match(q)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if calls < 3 && (len(found.Messages) > 0 || found.Rest != 51_001-int64(calls)*20_000) {
			t.Fatalf("call %d found %d messages and ended at %d", calls, len(found.Messages), found.Rest)
		}
		if q.Below = found.Rest; found.Rest > 0 {
			continue
		}
		if calls != 3 || len(found.Messages) != 1 || found.Messages[0].ID != ids[0] {
			t.Errorf("call %d found %d messages, and nothing is left", calls, len(found.Messages))
		}
		return
	}
}
