package store

import (
	"database/sql"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type artifacts struct{ *tx }

func (s artifacts) Put(a storage.StoredArtifact, agent string) error {
	digest, err := hex.DecodeString(a.SHA256)
	if err != nil {
		return err
	}
	holder, err := s.agentNamed(agent)
	if err != nil {
		return err
	}
	err = s.write(`INSERT INTO artifacts (sha256, size, stored_at, refs) VALUES ($1, $2, $3, 0)
		ON CONFLICT (sha256) DO UPDATE SET size = excluded.size, stored_at = excluded.stored_at, removed_at = NULL`, digest, a.Size, millis(a.StoredAt))
	if err != nil {
		return err
	}
	return s.write("INSERT INTO artifact_owners (sha256, agent) VALUES ($1, $2) ON CONFLICT DO NOTHING", digest, holder.num)
}

func (s artifacts) Get(sha256 string) (storage.StoredArtifact, error) {
	list, err := s.list("WHERE sha256 = $1", digestOf(sha256))
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return storage.StoredArtifact{}, err
	}
	return list[0], nil
}

func (s artifacts) Accessible(sha256, agent string) (bool, error) {
	holder, err := s.agentNamed(agent)
	if missing, err := notFound(err); missing || err != nil {
		return false, err
	}
	var one int
	digest := digestOf(sha256)
	err = s.row("SELECT 1 FROM artifact_owners WHERE sha256 = $1 AND agent = $2", []any{digest, holder.num}, []any{&one})
	if missing, err := notFound(err); !missing || err != nil {
		return err == nil, err
	}
	err = s.row(`SELECT 1 FROM artifact_refs r JOIN messages m ON m.seq = r.message JOIN conversations c ON c.num = m.conv
		WHERE r.sha256 = $1 AND `+notDeleted+` AND (c.kind = 'channel' AND c.visibility = 'public'
			OR EXISTS (SELECT 1 FROM participants p WHERE p.conv = c.num AND p.agent = $2)) LIMIT 1`,
		[]any{digest, holder.num}, []any{&one})
	missing, err := notFound(err)
	return !missing && err == nil, err
}

func (s artifacts) OfMessage(message string) ([]string, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	return s.digests(`SELECT r.sha256 FROM artifact_refs r JOIN messages m ON m.seq = r.message
		WHERE m.id = $1 ORDER BY r.sha256`, id[:])
}

func (s artifacts) List(after string, limit int) ([]storage.StoredArtifact, error) {
	return s.list("WHERE sha256 > $1 ORDER BY sha256 LIMIT 0 + $2", digestOf(after), limit)
}

func (s artifacts) Unused(since time.Time, limit int) ([]string, error) {
	return s.digests("SELECT sha256 FROM artifacts WHERE refs = 0 AND stored_at < $1 ORDER BY stored_at LIMIT 0 + $2",
		millis(since), limit)
}

func (s artifacts) Forget(sha256 string, since time.Time) (bool, error) {
	a, err := s.Get(sha256)
	if missing, err := notFound(err); missing || err != nil {
		return false, err
	}
	if a.Refs != 0 || !a.StoredAt.Before(since) {
		return false, nil
	}
	for _, statement := range []string{
		"DELETE FROM artifact_owners WHERE sha256 = $1", "DELETE FROM artifacts WHERE sha256 = $1",
	} {
		if err := s.write(statement, digestOf(sha256)); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (s artifacts) Oldest(limit int) ([]storage.StoredArtifact, error) {
	return s.list("WHERE removed_at IS NULL ORDER BY stored_at LIMIT 0 + $1", limit)
}

func (s artifacts) Expire(sha256 string, storedBy, removed time.Time) (bool, error) {
	n, err := s.exec("UPDATE artifacts SET removed_at = $3 WHERE sha256 = $1 AND stored_at <= $2 AND removed_at IS NULL",
		digestOf(sha256), millis(storedBy), millis(removed))
	return n > 0, err
}

func (s artifacts) Totals() (t parley.ArtifactTotals, err error) {
	err = s.row(`SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT), CAST(coalesce(sum(refs), 0) AS BIGINT)
		FROM artifacts WHERE removed_at IS NULL`, nil, []any{&t.Artifacts, &t.Bytes, &t.Refs})
	return t, err
}

func (s artifacts) StoredBy(agent string) (bytes int64, err error) {
	holder, err := s.agentNamed(agent)
	if err != nil {
		return 0, err
	}
	err = s.row(`SELECT CAST(coalesce(sum(a.size), 0) AS BIGINT) FROM artifact_owners o JOIN artifacts a ON a.sha256 = o.sha256
		WHERE o.agent = $1 AND a.removed_at IS NULL`, []any{holder.num}, []any{&bytes})
	return bytes, err
}

func (s artifacts) list(where string, args ...any) (list []storage.StoredArtifact, err error) {
	err = s.each("SELECT sha256, size, stored_at, refs, removed_at FROM artifacts "+where, args, func(r Rows) error {
		var (
			a       storage.StoredArtifact
			digest  []byte
			at      int64
			removed sql.NullInt64
		)
		err := r.Scan(&digest, &a.Size, &at, &a.Refs, &removed)
		a.SHA256, a.StoredAt, a.RemovedAt = hex.EncodeToString(digest), fromMillis(at), timeOrNil(removed)
		list = append(list, a)
		return err
	})
	return list, err
}

// digestOf decodes a digest. For a text that is no digest it returns an empty one, which no row has and which sorts before all
// digests.
func digestOf(sha256 string) []byte {
	digest, err := hex.DecodeString(sha256)
	if err != nil || digest == nil {
		return []byte{}
	}
	return digest
}

func (t *tx) digests(query string, args ...any) (list []string, err error) {
	err = t.each(query, args, func(r Rows) error {
		var digest []byte
		err := r.Scan(&digest)
		list = append(list, hex.EncodeToString(digest))
		return err
	})
	return list, err
}

// checkReferences returns ErrNotFound if a body that a message refers to is not stored. The caller calls it before it writes
// anything.
func (t *tx) checkReferences(m parley.Message) error {
	for _, sha256 := range m.Content.Digests() {
		a, err := (artifacts{t}).Get(sha256)
		if err == nil && a.RemovedAt != nil {
			err = parley.ErrNotFound
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addReferences stores the references of a message to bodies. Most messages have none.
func (t *tx) addReferences(m parley.Message) error {
	for _, sha256 := range m.Content.Digests() {
		digest := digestOf(sha256)
		if err := t.write("UPDATE artifacts SET refs = refs + 1 WHERE sha256 = $1", digest); err != nil {
			return err
		}
		if err := t.write("INSERT INTO artifact_refs (sha256, message) VALUES ($1, $2)", digest, m.Seq); err != nil {
			return err
		}
	}
	return nil
}

// dropReferences deletes references, and returns the digests of their bodies.
func (t *tx) dropReferences(where string, args ...any) (dropped []string, err error) {
	if !t.writable {
		return nil, errReadOnly
	}
	dropped, err = t.digests("DELETE FROM artifact_refs WHERE "+where+" RETURNING sha256", args...)
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	for _, sha256 := range dropped {
		times[sha256]++
	}
	for _, sha256 := range slices.Sorted(maps.Keys(times)) {
		err := t.write("UPDATE artifacts SET refs = refs - $2 WHERE sha256 = $1", digestOf(sha256), times[sha256])
		if err != nil {
			return nil, err
		}
	}
	return dropped, nil
}
