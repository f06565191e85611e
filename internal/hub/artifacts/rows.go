package artifacts

import "github.com/parley-hub/parley/internal/storage"

// The rows of this package are written here and nowhere else.

// KeepRow stores a body's row and the participant that stored it.
func KeepRow(tx storage.Tx, a storage.StoredArtifact, by string) error {
	return tx.Artifacts().Keep(a, by)
}
