package artifacts

import (
	"context"
	"io"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// quota is how much a participant may still store.
type quota struct {
	participant string
	unlimited   bool
	remaining   int64 // less than 0 if it has stored too much
	limit       int64
}

// findQuota reads the quota of the caller in a transaction of its own.
func findQuota(ctx context.Context, core *unit.Core, caller unit.Caller) (room quota, err error) {
	err = core.View(ctx, caller, unit.OpStoreArtifact, func(u *unit.Unit) error {
		room, err = quotaOf(u)
		return err
	})
	return room, err
}

// quotaOf returns the quota of the caller. Owners have no limit.
func quotaOf(u *unit.Unit) (quota, error) {
	room := quota{participant: u.Me.ID, limit: u.Core.Config.Load.Stored}
	if room.unlimited = u.SeesAll() || room.limit < 0; room.unlimited {
		return room, nil
	}
	stored, err := u.Artifacts().StoredBy(u.Me.ID)
	room.remaining = room.limit - stored
	return room, err
}

// exceeded is the error for a participant that would store too much.
func (r quota) exceeded() error {
	return parley.Errorf(parley.Unavailable, "the artifacts of %s would exceed %d MiB in total", r.participant, r.limit>>20).
		Because(parley.StorageFull).
		Suggest("ask an owner to raise limits.stored in config.yaml, or to let the hub remove old artifacts (retention.artifacts.age)")
}

// reader returns a reader of the body that fails once the quota is used up.
func (r quota) reader(body io.Reader) io.Reader {
	if r.unlimited {
		return body
	}
	return &quotaReader{body, r}
}

type quotaReader struct {
	io.Reader
	room quota
}

func (r *quotaReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.room.remaining -= int64(n); r.room.remaining < 0 {
		return n, r.room.exceeded()
	}
	return n, err
}
