package bridge

import (
	"context"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// counter is a hub that counts what arrives, and remembers none of it.
type counter struct {
	*fakeHub
	total   int
	came    int
	other   int       // what had come when the document of the small folder did
	small   string    // where that one is
	pace    []float64 // seconds for each tenth
	since   time.Time
	highest uint64 // bytes in use
	done    chan struct{}
}

func (c *counter) Unknown(_ context.Context, _ string, files []parley.BridgeFile) ([]parley.BridgeFile, error) {
	return files, nil
}

func (c *counter) Arrive(_ context.Context, _ string, list []parley.Arrival) ([]parley.Arrived, error) {
	for _, a := range list {
		c.came++
		if path.Dir(a.Path) == c.small {
			c.other = c.came
		}
		if c.came%(c.total/10) == 0 {
			c.measure()
		}
	}
	if c.came == c.total+1 {
		close(c.done)
	}
	return slices.Repeat([]parley.Arrived{{Message: "m"}}, len(list)), nil
}

func (c *counter) measure() {
	now := time.Now()
	c.pace, c.since = append(c.pace, now.Sub(c.since).Seconds()), now
	c.highest = max(c.highest, inUse())
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestVeryManyFilesInOneFolder imports them with little more in memory than their names, while another folder is not kept
// waiting. With PARLEY_FILES=100000 it does so with as many. How steady the pace is, the benchmarks say.
func TestVeryManyFilesInOneFolder(t *testing.T) {
	total := 2000
	if n, err := strconv.Atoi(os.Getenv("PARLEY_FILES")); err == nil {
		total = n
	}
	for _, l := range []parley.Layout{parley.LayoutAgentOS, parley.LayoutInbox} {
		t.Run(string(l), func(t *testing.T) {
			s := newBridgeFixtureWith(t, l)
			big, small := "channels/big", "channels/small"
			if l == parley.LayoutInbox {
				big, small = "state/agents/ana/inbox", "state/agents/gil/inbox"
			}
			s.hub.who = append(s.hub.who, ownAgent("gil"))
			for _, dir := range []string{big, small} {
				s.must(os.MkdirAll(s.at(dir), 0o755))
			}
			write := func(dir string, n int, to string) {
				text, at := doc(name(n), path.Base(dir), "old"), name(n)
				if l == parley.LayoutInbox {
					text, at = mailDoc(l, n, n%60, to), fmt.Sprintf("msg_%08x", n)
				}
				s.must(os.WriteFile(s.at(path.Join(dir, at+".json")), []byte(text), 0o600))
			}
			for n := range total {
				write(big, n+1, "ana")
			}
			write(small, total+1, "gil")
			c := &counter{fakeHub: s.hub, total: total, small: small, since: time.Now(), done: make(chan struct{})}
			s.Hub = c
			told := 0
			s.Progress = func(int64, int64) { told++ }
			before := inUse()
			c.run(s)
			t.Logf("%d files: %.2f s for each tenth, %d kB at most, %d B for each file, %d lines of progress, the other folder after %d",
				total, c.pace, (c.highest-before)>>10, (c.highest-before)/uint64(total), told, c.other)
			if grown := c.highest - min(before, c.highest); grown > uint64(total)*300+12<<20 {
				t.Errorf("%d bytes were in use", grown)
			}
			if c.other > total/10 {
				t.Errorf("the other folder had to wait for %d files", c.other)
			}
		})
	}
}

func (c *counter) run(s *bridgeFixture) {
	ctx, stop := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s.Options) }()
	<-c.done
	stop()
	s.must(<-ended)
}
