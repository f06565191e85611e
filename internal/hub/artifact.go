package hub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

const (
	// unusedArtifact is how long a body that no message refers to is kept after it was last stored.
	unusedArtifact = 24 * time.Hour
	artifactBatch  = 500
)

// PutArtifact stores a body, so that the caller can refer to it by its digest. The hub removes a body that no message refers
// to within a day. E002 if the caller would store more than one participant may; owners have no limit.
func (h *Hub) PutArtifact(ctx context.Context, caller Caller, body io.Reader) (parley.Artifact, error) {
	if err := h.limit(ctx, caller); err != nil { // before anything of the body is read
		return parley.Artifact{}, err
	}
	room, err := h.artifactRoom(ctx, caller)
	if err != nil {
		return parley.Artifact{}, err // before a stranger fills the disk
	}
	var a parley.Artifact
	err = h.store.Blobs().Put(ctx, room.reader(body), h.config.Limits.Artifact, func(sha256 string, size int64) error {
		a = parley.Artifact{SHA256: sha256, Size: size}
		return h.write(ctx, caller, opStoreArtifact, func(s *scene) error {
			err := s.Artifacts().Keep(parley.StoredArtifact{SHA256: sha256, Size: size, StoredAt: s.now}, s.me.ID)
			if err != nil {
				return err
			}
			left, err := s.artifactRoom()
			if err == nil && left.bytes < 0 {
				err = left.exceeded()
			}
			return err
		})
	})
	if err == nil {
		return a, nil
	}
	if a.SHA256 != "" {
		_ = h.removeWithoutRow(context.WithoutCancel(ctx), a.SHA256) // else a sweep does
	}
	return parley.Artifact{}, h.explain(ctx, caller, err)
}

// OpenArtifact returns a body the caller has stored, or that a message it may read refers to. A small body is verified
// before it is returned. The reader of a large body gets the last part only if the digest matches: see parley.Verified.
func (h *Hub) OpenArtifact(ctx context.Context, caller Caller, sha256 string) (io.ReadCloser, parley.Artifact, error) {
	sha256 = parley.FoldDigest(sha256)
	a := parley.Artifact{SHA256: sha256}
	mayRead := func(s *scene) (err error) {
		a.Size, err = s.artifact(sha256)
		return err
	}
	if err := h.view(ctx, caller, opFetchArtifact, mayRead); err != nil {
		return nil, a, err
	}
	body, size, err := h.store.Blobs().Open(ctx, sha256)
	switch {
	case errors.Is(err, parley.ErrNotFound): // removed just now, or lost
		if err := h.view(ctx, caller, opFetchArtifact, mayRead); err != nil {
			return nil, a, err
		}
		err = h.damagedBody(ctx, sha256, "its body is missing")
	case errors.Is(err, parley.ErrDamaged):
		err = h.damagedBody(ctx, sha256, "its body does not match its digest")
	}
	if err != nil {
		return nil, a, h.explain(ctx, caller, err)
	}
	if size != a.Size {
		why := fmt.Sprintf("its body has %d bytes, not %d", size, a.Size)
		return nil, a, h.explain(ctx, caller, errors.Join(h.damagedBody(ctx, sha256, why), body.Close()))
	}
	whole, err := verifiedFirst(&namedBody{body, h, ctx, sha256}, size)
	return whole, a, h.explain(ctx, caller, err)
}

// damagedBody notes that the body of an artifact is damaged, and is the failure that its reader gets.
func (h *Hub) damagedBody(ctx context.Context, sha256, why string) error {
	damage := parley.Damage{What: "artifact", ID: sha256, Why: why}
	h.noteDamage(context.WithoutCancel(ctx), damage)
	return parley.Errorf(parley.Internal, "%s", damage).From(parley.ErrDamaged).
		Suggest("store the artifact again, which mends it, or restore the newest backup")
}

// namedBody is a body that is being read. If it turns out to be damaged, the error names it.
type namedBody struct {
	io.ReadCloser
	hub    *Hub
	ctx    context.Context
	sha256 string
}

func (b *namedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, parley.ErrDamaged) {
		err = b.hub.damagedBody(b.ctx, b.sha256, "its body does not match its digest")
	}
	return n, err
}

// smallBody is the largest size of a body that is verified before its first byte is sent.
const smallBody = 256 << 10

// verifiedFirst reads a small body to its end.
func verifiedFirst(body io.ReadCloser, size int64) (io.ReadCloser, error) {
	if size > smallBody {
		return body, nil
	}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// ArtifactTotals says how many bodies are stored, how large they are together, and how often messages
// refer to them.
func (h *Hub) ArtifactTotals(ctx context.Context, caller Caller) (totals parley.ArtifactTotals, err error) {
	err = h.view(ctx, caller, opCountArtifacts, func(s *scene) error {
		totals, err = s.Artifacts().Totals()
		return err
	})
	return totals, err
}

// artifact is the size of a body the caller may use. One that is stored but not the caller's to see
// looks absent: nobody learns from a digest that somebody has a file, or gets it.
func (s *scene) artifact(sha256 string) (size int64, err error) {
	known := s.seesAll()
	if !known {
		if known, err = s.Artifacts().Known(sha256, s.me.ID); err != nil {
			return 0, err
		}
	}
	if !known {
		return 0, unknown{"artifact", sha256}
	}
	stored, err := s.Artifacts().Get(sha256)
	switch {
	case errors.Is(err, parley.ErrNotFound):
		return 0, unknown{"artifact", sha256}
	case err == nil && stored.RemovedAt != nil:
		return 0, removedByRetention(stored)
	}
	return stored.Size, err
}

func removedByRetention(a parley.StoredArtifact) error {
	return parley.Errorf(parley.BadInput, "artifact %s was removed on %s, because artifacts are not kept for ever",
		a.SHA256, a.RemovedAt.Format(time.DateOnly)).Because(parley.NotFound).
		Suggest("store the file again, if you have it")
}

// sizeArtifacts returns the artifacts of a draft with the sizes its sender has left out. The size of a
// digest never changes, so this need not be done in the post's update, where the body would have to be
// digested again.
func (h *Hub) sizeArtifacts(ctx context.Context, caller Caller, do op, d parley.Draft) ([]parley.Artifact, error) {
	list := slices.Clone(d.Content.Artifacts)
	if len(d.Content.Digests()) == 0 {
		return list, nil
	}
	err := h.view(ctx, caller, do, func(s *scene) error {
		if _, found, err := s.posted(d.IdempotencyKey); found || err != nil {
			return nil // the update says what is to be said of it
		}
		for i, a := range list {
			if a.SHA256 == "" || a.Size != 0 {
				continue
			}
			size, err := s.artifact(a.SHA256)
			if err != nil {
				return err
			}
			list[i].Size = size
		}
		return nil
	})
	return list, err
}

// checkArtifacts makes sure that the sender may use each stored body it refers to.
func (s *scene) checkArtifacts(list []parley.Artifact) error {
	for _, a := range list {
		if a.SHA256 == "" {
			continue
		}
		size, err := s.artifact(a.SHA256)
		if err != nil {
			return err
		}
		if a.Size != size {
			return parley.Errorf(parley.BadInput, "artifact %s has %d bytes, not %d", a.SHA256, size, a.Size).
				Suggest("leave the size out")
		}
	}
	return nil
}
