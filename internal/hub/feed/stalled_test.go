package feed

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestStalledSubscribersShareQueuedEvents checks that two thousand subscribers that do not read share the queued events.
func TestStalledSubscribersShareQueuedEvents(t *testing.T) {
	const subscribersThere, each = 2000, 16 << 10
	st := newStream(nil)
	service := &Service{stream: st}
	for n := range subscribersThere {
		s := &Subscription{hub: service, agent: fmt.Sprint("a", n%100), woken: make(chan struct{}, 1), live: true}
		st.add(s)
		st.live++
	}
	before := heap()
	for n := range int64(streamQueue) {
		st.route(routedEvent{&parley.Event{Num: n + 1, Kind: parley.EventMessagePosted, Message: strings.Repeat("m", 200)}, recipients{everybody: true}})
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

// heap returns how many bytes of memory are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // a test uses less
}
