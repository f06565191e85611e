package postgres

import (
	"io"
	"strings"
	"testing"
)

// Parts that are there, but not in their places, are damage that storing the body again mends.
func TestPartsOutOfPlaceAreMended(t *testing.T) {
	t.Parallel()
	db := opened(t, migrated.Copy(t))
	content := strings.Repeat("x", chunkSize+1)
	var digest string
	put := func() error {
		return db.Blobs().Put(t.Context(), strings.NewReader(content), 1<<20, func(sha256 string, _ int64) error {
			digest = sha256
			return nil
		})
	}
	read := func() (int64, error) {
		body, _, err := db.Blobs().Open(t.Context(), digest)
		if err != nil {
			return 0, err
		}
		return io.Copy(io.Discard, body)
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	c, err := db.dialer.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	if _, err := c.Exec(t.Context(), "UPDATE artifact_chunks SET n = 7 WHERE n = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := read(); err == nil {
		t.Error("half of a body was read without an error")
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	if n, err := read(); err != nil || n != int64(len(content)) {
		t.Errorf("after it was stored again: %d bytes, %v", n, err)
	}
}
