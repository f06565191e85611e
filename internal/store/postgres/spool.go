package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/parley-hub/parley"
)

// spooled is a body in a temporary file. The file has no name any more, so the system removes it at the latest when the process
// ends.
type spooled struct {
	file   *os.File
	digest []byte
	size   int64
	parts  [][sha256.Size]byte // the digests of its chunks; an empty body has one empty chunk
}

// spool reads a body to its end into a temporary file. It returns an error if the body has more than limit bytes.
func spool(ctx context.Context, r io.Reader, limit int64) (_ *spooled, err error) {
	file, err := os.CreateTemp("", "parley-artifact-*")
	if err != nil {
		return nil, spoolError(err)
	}
	s := &spooled{file: file}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if err := os.Remove(file.Name()); err != nil {
		return nil, spoolError(err)
	}
	return s, s.fill(io.LimitReader(parley.UntilDone(ctx, r), limit+1), limit)
}

func (s *spooled) fill(r io.Reader, limit int64) error {
	sum, buffer := sha256.New(), make([]byte, chunkSize)
	for ended := false; !ended; {
		n, err := readFull(r, buffer)
		if ended = errors.Is(err, io.EOF); err != nil && !ended {
			return err
		}
		if s.size += int64(n); s.size > limit {
			return parley.TooLargeArtifact(limit)
		}
		if n == 0 && len(s.parts) > 0 {
			break
		}
		s.parts = append(s.parts, sha256.Sum256(buffer[:n]))
		sum.Write(buffer[:n])
		if _, err := s.file.Write(buffer[:n]); err != nil {
			return spoolError(err)
		}
	}
	s.digest = sum.Sum(nil)
	return nil
}

// readFull fills a buffer. Unlike io.ReadFull it returns the error of r unchanged, because a body that was cut off must not look
// complete.
func readFull(r io.Reader, buffer []byte) (n int, err error) {
	for n < len(buffer) && err == nil {
		var more int
		more, err = r.Read(buffer[n:])
		n += more
	}
	return n, err
}

// eachChunk calls fn with each chunk.
func (s *spooled) eachChunk(fn func(n int, data []byte) error) error {
	for n := range s.parts {
		at := int64(n) * chunkSize
		data := make([]byte, min(chunkSize, s.size-at))
		if _, err := s.file.ReadAt(data, at); err != nil {
			return fmt.Errorf("reading the temporary file of an artifact: %w", err)
		}
		if err := fn(n, data); err != nil {
			return err
		}
	}
	return nil
}

func (s *spooled) close() error { return s.file.Close() }

func spoolError(err error) error {
	failed := parley.Errorf(parley.Unavailable, "cannot write the artifact to %s: %w", os.TempDir(), err).Retryable(0).
		Suggest("free space there, or set TMPDIR to another directory")
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return failed.Because(parley.StorageFull)
	}
	return failed
}
