// Package artifacts holds the bodies of artifacts: storing, reading and removing them, and how much one participant may store.
//
// A client stores a body first and refers to it later, by its digest. storage.Blobs stores the body (as a file beside SQLite, as
// rows on PostgreSQL). It writes the row while nothing can remove the body.
//
// A post that names a digest checks within its update whether the sender may use it. The message and its references are written
// together. The sweep removes rows that nothing refers to, and then their bodies. So every row has its body, whatever crashes. A
// body without a row is waste; the hub finds it after its next start (decision 7).
package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
	alerts *alerts.Service

	WasteDue atomic.Bool // bodies without a row may exist
}

// New makes the use cases from the core of a hub and from the use cases of other packages.
func New(core *unit.Core, access *access.Service, alerts *alerts.Service) *Service {
	s := &Service{Core: core, access: access, alerts: alerts}
	s.WasteDue.Store(true) // after a crash
	return s
}

// The rows of this package are written here and nowhere else.

// Save stores a body's row and the participant that stored it.
func Save(tx storage.Tx, a storage.StoredArtifact, by string) error {
	return tx.Artifacts().Put(a, by)
}

const (
	// UnusedArtifact is how long the hub keeps a body that no message refers to after it was last stored.
	UnusedArtifact = 24 * time.Hour
	// ArtifactBatch is how many artifacts one update looks at.
	ArtifactBatch = 500
)

// PutArtifact stores a body, so that the caller can refer to it by its digest. The hub removes a body that no message refers to within
// a day. E002 if the caller would exceed its quota; owners have none.
func (s *Service) PutArtifact(ctx context.Context, caller unit.Caller, body io.Reader) (parley.Artifact, error) {
	if err := access.Limit(ctx, s.access, caller); err != nil { // before the hub reads any of the body
		return parley.Artifact{}, err
	}
	available, err := findQuota(ctx, s.Core, caller)
	if err != nil {
		return parley.Artifact{}, err // before a participant without a quota fills the disk
	}
	var a parley.Artifact
	err = s.Store.Blobs().Put(ctx, available.reader(body), s.Config.Limits.Artifact, func(sha256 string, size int64) error {
		a = parley.Artifact{SHA256: sha256, Size: size}
		return s.Write(ctx, caller, unit.OpStoreArtifact, func(u *unit.Unit) error {
			err := Save(u.Tx, storage.StoredArtifact{SHA256: sha256, Size: size, StoredAt: u.Now}, u.Me.ID)
			if err != nil {
				return err
			}
			available, err := quotaOf(u)
			if err == nil && available.remaining < 0 {
				err = available.exceeded()
			}
			return err
		})
	})
	if err == nil {
		return a, nil
	}
	if a.SHA256 != "" {
		_ = s.removeWithoutRow(context.WithoutCancel(ctx), a.SHA256) // if this fails, a sweep removes it
	}
	return parley.Artifact{}, s.Explain(ctx, caller, err)
}

// OpenArtifact returns a body the caller has stored, or that a message it may read refers to. A small body is verified
// before it is returned. The reader of a large body gets the last part only if the digest matches: see parley.Verified.
func (s *Service) OpenArtifact(ctx context.Context, caller unit.Caller, sha256 string) (io.ReadCloser, parley.Artifact, error) {
	sha256 = parley.FoldDigest(sha256)
	a := parley.Artifact{SHA256: sha256}
	mayRead := func(u *unit.Unit) (err error) {
		a.Size, err = FindSize(u, sha256)
		return err
	}
	if err := s.View(ctx, caller, unit.OpFetchArtifact, mayRead); err != nil {
		return nil, a, err
	}
	body, size, err := s.Store.Blobs().Open(ctx, sha256)
	switch {
	case errors.Is(err, parley.ErrNotFound): // removed just now, or missing
		if err := s.View(ctx, caller, unit.OpFetchArtifact, mayRead); err != nil {
			return nil, a, err
		}
		err = s.noteDamagedBody(ctx, sha256, "its body is missing")
	case errors.Is(err, parley.ErrDamaged):
		err = s.noteDamagedBody(ctx, sha256, "its body does not match its digest")
	}
	if err != nil {
		return nil, a, s.Explain(ctx, caller, err)
	}
	if size != a.Size {
		problem := fmt.Sprintf("its body has %d bytes, not %d", size, a.Size)
		return nil, a, s.Explain(ctx, caller, errors.Join(s.noteDamagedBody(ctx, sha256, problem), body.Close()))
	}
	whole, err := verifySmall(&namedBody{body, s, ctx, sha256}, size)
	return whole, a, s.Explain(ctx, caller, err)
}

// noteDamagedBody notes that the body of an artifact is damaged, and returns the error for its reader.
func (s *Service) noteDamagedBody(ctx context.Context, sha256, problem string) error {
	damage := parley.Damage{What: "artifact", ID: sha256, Why: problem}
	alerts.NoteDamage(context.WithoutCancel(ctx), s.alerts, damage)
	return parley.Errorf(parley.Internal, "%s", damage).From(parley.ErrDamaged).
		Suggest("store the artifact again to repair it, or restore the newest backup")
}

// namedBody is a body that is being read. If it turns out to be damaged, the error names it.
type namedBody struct {
	io.ReadCloser
	service *Service
	ctx     context.Context
	sha256  string
}

func (b *namedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, parley.ErrDamaged) {
		err = b.service.noteDamagedBody(b.ctx, b.sha256, "its body does not match its digest")
	}
	return n, err
}

// smallBody is the largest size of a body that is verified before its first byte is sent.
const smallBody = 256 << 10

// verifySmall reads a small body to its end, which verifies it. It returns a large body unread.
func verifySmall(body io.ReadCloser, size int64) (io.ReadCloser, error) {
	if size > smallBody {
		return body, nil
	}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// ArtifactTotals returns how many bodies are stored, their total size, and how many references messages have to them.
func (s *Service) ArtifactTotals(ctx context.Context, caller unit.Caller) (totals parley.ArtifactTotals, err error) {
	err = s.View(ctx, caller, unit.OpCountArtifacts, func(u *unit.Unit) error {
		totals, err = u.Artifacts().Totals()
		return err
	})
	return totals, err
}

// FindSize returns the size of a body that the caller may use. Any other body is unknown, even if it is stored: nobody learns or gets a
// file by guessing a digest.
func FindSize(u *unit.Unit, sha256 string) (size int64, err error) {
	known := u.SeesAll()
	if !known {
		if known, err = u.Artifacts().Accessible(sha256, u.Me.ID); err != nil {
			return 0, err
		}
	}
	if !known {
		return 0, unit.Unknown{Noun: "artifact", Name: sha256}
	}
	stored, err := u.Artifacts().Get(sha256)
	switch {
	case errors.Is(err, parley.ErrNotFound):
		return 0, unit.Unknown{Noun: "artifact", Name: sha256}
	case err == nil && stored.RemovedAt != nil:
		return 0, removedError(stored)
	}
	return stored.Size, err
}

// removedError is the error for a body that the retention has removed.
func removedError(a storage.StoredArtifact) error {
	return parley.Errorf(parley.BadInput, "the retention of this hub removed artifact %s on %s",
		a.SHA256, a.RemovedAt.Format(time.DateOnly)).Because(parley.NotFound).
		Suggest("store the file again, if you have it")
}

// Check refuses a list that has a stored body which the sender may not use, or one of another size.
func Check(u *unit.Unit, list []parley.Artifact) error {
	for _, a := range list {
		if a.SHA256 == "" {
			continue
		}
		size, err := FindSize(u, a.SHA256)
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
