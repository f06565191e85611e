package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // its package comment says why
)

var blobTests = []test{
	{"a body of any size is stored", blobRoundTrip},
	{"a body over the limit is refused, and nothing is stored", blobLimit},
	{"an error of the reader is returned, and nothing is stored", blobReaderFails},
	{"with an ended context nothing is stored", blobCancelled},
	{"the same body is stored once", blobOnce},
	{"a body whose keep failed stays until it is removed", blobKeepFails},
	{"a body is removed only if it is unneeded", blobRemove},
	{"an unknown or invalid digest is not found", blobUnknown},
	{"a list goes through all digests in order", blobList},
	{"a kept body is never removed, even when puts and removals run at once", blobRace},
}

const maxBlob = 3 << 20 // larger than any chunk a store may use

// content returns bytes that do not repeat.
func content(size int) []byte {
	r := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)})
	b := make([]byte, size)
	_, _ = r.Read(b)
	return b
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func keepNothing(string, int64) error { return nil }

func (f *fixture) putBody(b []byte) string {
	f.Helper()
	if err := f.store.Blobs().Put(f.Context(), bytes.NewReader(b), maxBlob, keepNothing); err != nil {
		f.Fatalf("put: %v", err)
	}
	return digestOf(b)
}

func (f *fixture) body(d string) ([]byte, error) {
	body, size, err := f.store.Blobs().Open(f.Context(), d)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(body)
	if err == nil && int64(len(b)) != size {
		err = fmt.Errorf("%d bytes, said to be %d", len(b), size)
	}
	return b, errors.Join(err, body.Close())
}

func (f *fixture) bodies() []string {
	f.Helper()
	list, err := f.store.Blobs().List(f.Context(), "", noLimit)
	if err != nil {
		f.Fatal(err)
	}
	return list
}

func blobRoundTrip(f *fixture) {
	rapid.Check(f.T, func(t *rapid.T) {
		size := rapid.OneOf(
			rapid.SampledFrom([]int{0, 1, 256 << 10, 256<<10 + 1, 512 << 10, 1 << 20, 1<<20 + 1, maxBlob}),
			rapid.IntRange(0, maxBlob)).Draw(t, "size")
		want := content(size)
		var kept string
		err := f.store.Blobs().Put(f.Context(), iotest.HalfReader(bytes.NewReader(want)), int64(size), func(d string, n int64) error {
			kept = fmt.Sprint(d, n)
			got, err := f.body(d) // the body is stored before Put calls keep
			if err == nil && !bytes.Equal(got, want) {
				err = errors.New("another body")
			}
			return err
		})
		if err != nil || kept != fmt.Sprint(digestOf(want), size) {
			t.Fatalf("size %d: kept %s, error %v", size, kept, err)
		}
	})
}

func blobLimit(f *fixture) {
	for _, size := range []int{0, 1, 1000} {
		f.putBody(content(size))
	}
	before := f.bodies()
	for _, over := range []int{11, 12, 1 << 20} {
		err := f.store.Blobs().Put(f.Context(), bytes.NewReader(content(over)), 10, keepNothing)
		if e := parley.AsError(err); err == nil || e.Code != parley.BadInput || e.Reason != parley.TooLarge || !strings.Contains(e.Message, "10") {
			f.Errorf("%d bytes: %v", over, err)
		}
	}
	f.same("afterwards", f.bodies(), before)
}

func blobReaderFails(f *fixture) {
	for _, size := range []int{0, 10, 2 << 20} {
		for _, want := range []error{errOwn, io.ErrUnexpectedEOF} { // a connection that is cut off gives ErrUnexpectedEOF
			r := io.MultiReader(bytes.NewReader(content(size)), iotest.ErrReader(want))
			if err := f.store.Blobs().Put(f.Context(), r, maxBlob, keepNothing); !errors.Is(err, want) {
				f.Errorf("after %d bytes: got %v, want %v", size, err, want)
			}
		}
	}
	f.same("afterwards", len(f.bodies()), 0)
}

func blobCancelled(f *fixture) {
	ctx, cancel := context.WithCancel(f.Context())
	r := io.MultiReader(bytes.NewReader(content(1<<20)), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil }),
		bytes.NewReader(content(1<<20)))
	if err := f.store.Blobs().Put(ctx, r, maxBlob, keepNothing); !errors.Is(err, context.Canceled) {
		f.Errorf("got %v", err)
	}
	f.same("afterwards", len(f.bodies()), 0)
}

type readerFunc func([]byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

func blobOnce(f *fixture) {
	d := f.putBody(content(1000))
	f.putBody(content(1000))
	f.same("bodies", f.bodies(), []string{d})
	got, err := f.body(d)
	if err != nil || !bytes.Equal(got, content(1000)) {
		f.Errorf("another body: %v", err)
	}
}

func blobKeepFails(f *fixture) {
	b := content(1000)
	err := f.store.Blobs().Put(f.Context(), bytes.NewReader(b), maxBlob, func(string, int64) error { return errOwn })
	if !errors.Is(err, errOwn) {
		f.Errorf("got %v", err)
	}
	f.same("bodies", f.bodies(), []string{digestOf(b)})
	f.removeBody(digestOf(b), true)
	f.same("afterwards", len(f.bodies()), 0)
}

func (f *fixture) removeBody(d string, unneeded bool) {
	f.Helper()
	if err := f.store.Blobs().Remove(f.Context(), d, func() (bool, error) { return unneeded, nil }); err != nil {
		f.Fatal(err)
	}
}

func blobRemove(f *fixture) {
	d, other := f.putBody(content(1000)), f.putBody(content(2000))
	f.removeBody(d, false)
	err := f.store.Blobs().Remove(f.Context(), d, func() (bool, error) { return true, errOwn })
	if !errors.Is(err, errOwn) {
		f.Errorf("got %v", err)
	}
	f.same("both are there", len(f.bodies()), 2)
	body, _, err := f.store.Blobs().Open(f.Context(), d)
	if err != nil {
		f.Fatal(err)
	}
	f.removeBody(d, true)
	f.same("one is left", f.bodies(), []string{other})
	// A reader of the body may go on or get an error, but never gets a shorter body.
	if b, err := io.ReadAll(body); err == nil && !bytes.Equal(b, content(1000)) {
		f.Errorf("half a body: %d bytes", len(b))
	}
	if err := body.Close(); err != nil {
		f.Error(err)
	}
	f.removeBody(d, true) // a missing body
}

func blobUnknown(f *fixture) {
	f.putBody(content(10))
	for _, d := range []string{"", "x", digest("00"), strings.ToUpper(digest("ab")), "../parley.db", strings.Repeat("/", 64)} {
		if _, _, err := f.store.Blobs().Open(f.Context(), d); !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("%q: got %v, want ErrNotFound", d, err)
		}
		f.removeBody(d, true)
	}
	f.same("afterwards", len(f.bodies()), 1)
}

func blobList(f *fixture) {
	var all []string
	for size := range 20 {
		all = append(all, f.putBody(content(size)))
	}
	slices.Sort(all)
	for _, limit := range []int{1, 7, 20, 21} {
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			page, err := f.store.Blobs().List(f.Context(), after, limit)
			if err != nil || len(page) > limit {
				f.Fatalf("a page of %d: %v", len(page), err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
		}
		f.same("list", got, all)
	}
}

// blobRace puts and removes the same few bodies at once. A map records which of them are kept.
func blobRace(f *fixture) {
	var (
		mu   sync.Mutex
		rows = map[string]bool{}
	)
	set := func(d string, kept bool) {
		mu.Lock()
		defer mu.Unlock()
		rows[d] = kept
	}
	f.requireNoErrors(concurrently(8, func(worker int) error {
		for n := range 30 {
			b := content(100 + n%3)
			if worker%2 == 0 {
				err := f.store.Blobs().Put(f.Context(), bytes.NewReader(b), maxBlob, func(d string, _ int64) error {
					set(d, true)
					runtime.Gosched() // another goroutine must not remove the body now
					return errorOf(f.body(d))
				})
				if err != nil {
					return err
				}
				continue
			}
			err := f.store.Blobs().Remove(f.Context(), digestOf(b), func() (bool, error) {
				set(digestOf(b), false)
				runtime.Gosched() // another goroutine must not put the body now
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	for d, kept := range rows {
		_, err := f.body(d)
		if kept && err != nil || !kept && !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("%s: kept %t, but %v", d, kept, err)
		}
	}
}
