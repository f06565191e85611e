package hub

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestTheBoundsAreThoseOfTheDocumentation.
func TestTheBoundsAreThoseOfTheDocumentation(t *testing.T) {
	load := DefaultLoad()
	for _, row := range []string{
		fmt.Sprintf("| searches of all participants together | %d |", load.AllSearching),
		fmt.Sprintf("| waiting calls of all participants together | %d |", load.AllWaiting),
		fmt.Sprintf("| reads a second; a search counts as %d reads |", searchCost),
		fmt.Sprintf("| one take, one look into the inbox | %d MiB |", takenBytes>>20),
		fmt.Sprintf("| one trace, thread or search | %d MiB |", readBytes>>20),
		fmt.Sprintf("| what one call reads from the database | %d MiB |", viewBytes>>20),
		fmt.Sprintf("| channels and groups that one participant has made, not archived | %d |", mostConversations),
		fmt.Sprintf("| tokens, sessions and sign-in links of one person | %d |", mostCredentials),
		fmt.Sprintf("| open approvals of one agent | %d |", maxPending),
	} {
		documented(t, row)
	}
}

// documented requires a row of the table in docs/security.md.
func documented(t *testing.T, row string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), row) {
		t.Errorf("docs/security.md has no row %q", row)
	}
}

// TestStalledSubscribersShareWhatWaitsForThem: two thousand who do not read cost little more than one.
func TestStalledSubscribersShareWhatWaitsForThem(t *testing.T) {
	const subscribersThere, each = 2000, 16 << 10
	st := newStream(nil)
	h := &Hub{stream: st}
	for n := range subscribersThere {
		s := &Subscription{hub: h, agent: fmt.Sprint("a", n%100), woken: make(chan struct{}, 1), live: true}
		st.add(s)
		st.live++
	}
	before := heap()
	for n := range int64(streamQueue) {
		st.tell(news{&parley.Event{Num: n + 1, Kind: parley.EventMessagePosted, Message: strings.Repeat("m", 200)}, hearers{everybody: true}})
	}
	for _, all := range st.open {
		for s := range all {
			if got, _, _ := s.take(); len(got) != streamBatch || len(s.queue) != streamQueue-streamBatch {
				t.Fatalf("%d were handed over, %d wait", len(got), len(s.queue))
			}
		}
	}
	if grown := heap() - before; grown > subscribersThere*each {
		t.Errorf("each costs %d bytes", grown/subscribersThere)
	}
	runtime.KeepAlive(st)
}

// heap is how much memory is in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // a test has less
}
