package artifacts

import (
	"context"
	"io"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// room is how much a participant may still store.
type room struct {
	who       string
	unlimited bool
	bytes     int64 // less than 0: it has stored too much
	limit     int64
}

func findRoom(ctx context.Context, core *unit.Core, caller unit.Caller) (room room, err error) {
	err = core.View(ctx, caller, unit.OpStoreArtifact, func(u *unit.Unit) error {
		room, err = roomOf(u)
		return err
	})
	return room, err
}

func roomOf(u *unit.Unit) (room, error) {
	room := room{who: u.Me.ID, limit: u.Core.Config.Load.Stored}
	if room.unlimited = u.SeesAll() || room.limit < 0; room.unlimited {
		return room, nil
	}
	stored, err := u.Artifacts().StoredBy(u.Me.ID)
	room.bytes = room.limit - stored
	return room, err
}

func (r room) exceeded() error {
	return parley.Errorf(parley.Unavailable, "the artifacts of %s would have more than %d MiB together", r.who, r.limit>>20).
		Because(parley.StorageFull).
		Suggest("ask an owner to raise limits.stored in config.yaml, or to have artifacts removed after a time (retention.artifacts.age)")
}

// reader reads a body as far as there is room for it.
func (r room) reader(body io.Reader) io.Reader {
	if r.unlimited {
		return body
	}
	return &roomReader{body, r}
}

type roomReader struct {
	io.Reader
	room room
}

func (r *roomReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.room.bytes -= int64(n); r.room.bytes < 0 {
		return n, r.room.exceeded()
	}
	return n, err
}
