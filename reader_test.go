package parley

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestVerifiedEndsOnlyWhereTheDigestHolds(t *testing.T) {
	sum := sha256.Sum256([]byte("hello"))
	for body, want := range map[string]error{"hello": nil, "hellO": ErrDamaged, "hell": ErrDamaged, "hello!": ErrDamaged, "": ErrDamaged} {
		r := Verified(io.NopCloser(iotest.DataErrReader(strings.NewReader(body))), hex.EncodeToString(sum[:]))
		if _, err := io.ReadAll(r); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", body, err, want)
		}
	}
	large := strings.Repeat("0123456789", 100_000)
	sum = sha256.Sum256([]byte(large))
	for name, body := range map[string]string{"changed at its start": "x" + large[1:], "changed at its end": large[1:] + "x", "cut": large[1:], "longer": large + "x"} {
		got, err := io.ReadAll(Verified(io.NopCloser(strings.NewReader(body)), hex.EncodeToString(sum[:])))
		if !errors.Is(err, ErrDamaged) || len(got) >= len(body) {
			t.Errorf("a large body %s: %d of %d bytes were read, %v", name, len(got), len(body), err)
		}
	}
	if got, err := io.ReadAll(Verified(io.NopCloser(iotest.HalfReader(strings.NewReader(large))), hex.EncodeToString(sum[:]))); err != nil || string(got) != large {
		t.Errorf("a large body: %d bytes, %v", len(got), err)
	}
	sum = sha256.Sum256([]byte("hello"))
	cut := errors.New("cut")
	r := Verified(io.NopCloser(iotest.ErrReader(cut)), hex.EncodeToString(sum[:]))
	if _, err := io.ReadAll(r); !errors.Is(err, cut) {
		t.Errorf("got %v", err)
	}
}

func TestUntilDoneEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := UntilDone(ctx, strings.NewReader("hello"))
	if n, err := r.Read(make([]byte, 2)); n != 2 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	cancel()
	if n, err := r.Read(make([]byte, 2)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d bytes, %v", n, err)
	}
}
