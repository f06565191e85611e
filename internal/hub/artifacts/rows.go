package artifacts

import "github.com/parley-hub/parley"

// The rows of this package are written here and nowhere else.

// KeepRow stores who has stored a body.
func KeepRow(tx parley.Tx, a parley.StoredArtifact, by string) error {
	return tx.Artifacts().Keep(a, by)
}
