package hub

import (
	"context"
	"io"

	"github.com/parley-hub/parley"
)

// artifactRoom is how much a participant may still store.
type artifactRoom struct {
	who       string
	unlimited bool
	bytes     int64 // less than 0: it has stored too much
	limit     int64
}

func (h *Hub) artifactRoom(ctx context.Context, caller Caller) (room artifactRoom, err error) {
	err = h.view(ctx, caller, opStoreArtifact, func(s *scene) error {
		room, err = s.artifactRoom()
		return err
	})
	return room, err
}

func (s *scene) artifactRoom() (artifactRoom, error) {
	room := artifactRoom{who: s.me.ID, limit: s.hub.config.Load.Stored}
	if room.unlimited = s.seesAll() || room.limit < 0; room.unlimited {
		return room, nil
	}
	stored, err := s.Artifacts().StoredBy(s.me.ID)
	room.bytes = room.limit - stored
	return room, err
}

func (r artifactRoom) exceeded() error {
	return parley.Errorf(parley.Unavailable, "the artifacts of %s would have more than %d MiB together", r.who, r.limit>>20).
		Because(parley.StorageFull).
		Suggest("ask an owner to raise limits.stored in config.yaml, or to have artifacts removed after a time (retention.artifacts.age)")
}

// reader reads a body as far as there is room for it.
func (r artifactRoom) reader(body io.Reader) io.Reader {
	if r.unlimited {
		return body
	}
	return &roomReader{body, r}
}

type roomReader struct {
	io.Reader
	room artifactRoom
}

func (r *roomReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.room.bytes -= int64(n); r.room.bytes < 0 {
		return n, r.room.exceeded()
	}
	return n, err
}
