package post

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// FillArtifactSizes returns the artifacts of a draft, with the sizes that the sender has left out. The size of a body never changes, so the
// hub reads it outside of the transaction of the post, which would have to digest the body again.
func FillArtifactSizes(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, d parley.Draft) ([]parley.Artifact, error) {
	list := slices.Clone(d.Content.Artifacts)
	if len(d.Content.Digests()) == 0 {
		return list, nil
	}
	err := core.View(ctx, caller, do, func(u *unit.Unit) error {
		if _, found, err := FindByKey(u, d.IdempotencyKey); found || err != nil {
			return nil // Store returns the duplicate or the error
		}
		for i, a := range list {
			if a.SHA256 == "" || a.Size != 0 {
				continue
			}
			size, err := artifacts.FindSize(u, a.SHA256)
			if err != nil {
				return err
			}
			list[i].Size = size
		}
		return nil
	})
	return list, err
}
