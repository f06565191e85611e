package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/pgtest"
)

// TestHistoryAndSearchAreMeasured runs both measurements on small libraries. The hub serves no message without a valid checksum,
// so the test fails if a library has wrong ones.
func TestHistoryAndSearchAreMeasured(t *testing.T) {
	const size = 2_000
	large, err := newLibrary(t.Context(), sqliteLibrary(filepath.Join(t.TempDir(), "large")), size, conversationsFor(size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = large.close() })
	results, err := measureHistory(t.Context(), 1, time.Millisecond, large)
	if err != nil || len(results) != 3 {
		t.Errorf("%d results of the history: %v", len(results), err)
	}
	if results, err = measureSearch(t.Context(), time.Millisecond, large); err != nil || len(results) != len(searches) {
		t.Errorf("%d results of searches: %v", len(results), err)
	}
	server := &lazyServer{cluster: pgtest.Private(t, pgtest.Options{})}
	if results, err = measureNewSearch(t.Context(), time.Millisecond, postgresLibrary(server), size); err != nil || len(results) != len(searches) {
		t.Errorf("%d results of searches on PostgreSQL: %v", len(results), err)
	}
}

// TestTheSharedLibraryIsMadeOnce checks that the measurements of history, of search and of the start of a large hub use one home.
func TestTheSharedLibraryIsMadeOnce(t *testing.T) {
	shared := &sharedLibrary{size: smallSize}
	first, err := shared.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := shared.open(t.Context())
	if err != nil || first != second {
		t.Errorf("the library was made twice: %v", err)
	}
	home, err := shared.closedHome(t.Context())
	if err != nil || home != first.home {
		t.Errorf("the home is %q, want %q: %v", home, first.home, err)
	}
	if err := shared.remove(); err != nil {
		t.Error(err)
	}
}
