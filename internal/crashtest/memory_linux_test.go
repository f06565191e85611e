package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

const (
	// maxMemory is the most memory that a hub on SQLite occupies under this load. docs/operating.md states the same bound.
	maxMemory   = 320 << 20
	shortLoad   = 8 * time.Second
	longLoad    = 10 * time.Minute // in a load of at least this length, memory must not grow in the last third
	tolerance   = 16 << 20
	sampleCount = 60
	loadAgents  = 12
)

// TestMemoryStaysUnderItsBound has many callers post, take, acknowledge, ask, read, search and follow events at a hub. Meanwhile it
// measures the memory of the hub. PARLEY_MEMORY_TIME sets the duration.
func TestMemoryStaysUnderItsBound(t *testing.T) {
	length := shortLoad
	if s := os.Getenv("PARLEY_MEMORY_TIME"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(t.TempDir(), "home")
	hub := startProgram(t, home)
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	l := newMixedLoad(t, home)
	done := make(chan struct{})
	go func() {
		l.run(ctx)
		close(done)
	}()
	var sampled []int64
	for ticker := time.NewTicker(length / sampleCount); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			ticker.Stop()
		case <-ticker.C:
			sampled = append(sampled, residentBytes(t, hub))
			if len(sampled)%6 == 0 {
				t.Logf("%2d/%d: %d MiB, %d calls", len(sampled), sampleCount, sampled[len(sampled)-1]>>20, l.calls.Load())
			}
		}
	}
	<-done
	if n := l.calls.Load(); n < 200 {
		t.Errorf("only %d calls were made: the test shows little", n)
	}
	for _, err := range l.errs {
		t.Error(err)
	}
	maxSampled := slices.Max(sampled)
	if maxSampled > maxMemory {
		t.Errorf("%d MiB were occupied, and at most %d are stated", maxSampled>>20, maxMemory>>20)
	}
	if third := len(sampled) / 3; length >= longLoad && slices.Max(sampled[2*third:]) > slices.Max(sampled[third:2*third])+tolerance {
		t.Errorf("it still grows: %v", sampled)
	}
}

// startProgram starts a hub that ends with the test.
func startProgram(t *testing.T, home string) (pid int) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	hub := exec.Command(program(t), "--home", home, "up", "--addr", "127.0.0.1:0", "--rate-per-second", "0")
	hub.Stdout, hub.Stderr = log, log
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = hub.Process.Signal(os.Interrupt)
		if err := hub.Wait(); err != nil {
			output, _ := os.ReadFile(log.Name())
			t.Errorf("the hub: %v: %s", err, output[max(0, len(output)-2000):])
		}
	})
	return hub.Process.Pid
}

// residentBytes returns the resident memory of a process, in bytes.
func residentBytes(t *testing.T, pid int) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatal("nothing says what is occupied")
	return 0
}

// mixedLoad makes calls of many kinds as several agents. Each agent draws its calls by a seed of its own.
type mixedLoad struct {
	owner  *client.Client
	agents []*client.Client
	calls  atomic.Int64

	mu   sync.Mutex
	errs []error
}

func newMixedLoad(t *testing.T, home string) *mixedLoad {
	t.Helper()
	l := &mixedLoad{}
	clientFor := func(id string) *client.Client {
		o, err := client.Find(home)
		if err != nil {
			t.Fatal(err)
		}
		o.As = id
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	l.owner = clientFor("")
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := l.owner.Status(t.Context()); err == nil {
			break
		} else if time.Since(began) > time.Minute {
			t.Fatal(err)
		}
	}
	var members []string
	for n := range loadAgents {
		profile := parley.Profile{InboxDepth: 1000}
		if n == 0 {
			profile.Runtime, profile.RuntimeConfig = parley.RuntimeScript, json.RawMessage(`{"rules": "- else:\n    - reply: yes, indeed"}`)
		}
		if _, err := l.owner.AddAgent(t.Context(), parley.NewAgent{ID: agent(n), Profile: profile}); err != nil {
			t.Fatal(err)
		}
		members = append(members, agent(n))
		l.agents = append(l.agents, clientFor(agent(n)))
	}
	if _, err := l.owner.CreateConversation(t.Context(), parley.NewConversation{Name: "general", With: members}); err != nil {
		t.Fatal(err)
	}
	return l
}

func agent(n int) string { return fmt.Sprintf("agent-%d", n%loadAgents) }

func (l *mixedLoad) run(ctx context.Context) {
	var group sync.WaitGroup
	for n := 1; n < loadAgents; n++ { // the hub runs the first agent
		random := rand.New(rand.NewPCG(1, uint64(n)))
		group.Go(func() {
			for ctx.Err() == nil {
				l.note(ctx, l.step(ctx, n, random))
			}
		})
		group.Go(func() { l.followEvents(ctx, n) })
	}
	group.Wait()
}

// note counts a call and keeps its error. It ignores errors after the end of the load, and errors of a full inbox.
func (l *mixedLoad) note(ctx context.Context, err error) {
	l.calls.Add(1)
	if err == nil || ctx.Err() != nil || parley.CodeOf(err) == parley.Unavailable {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) < 10 {
		l.errs = append(l.errs, err)
	}
}

// step makes one random call as the nth agent or as the owner.
func (l *mixedLoad) step(ctx context.Context, n int, random *rand.Rand) error {
	me, other := l.agents[n], agent(1+random.IntN(loadAgents-1))
	text := parley.Content{Text: fmt.Sprintf("word-%d word-%d %s", random.IntN(1000), random.IntN(1000), strings.Repeat("x ", random.IntN(1000)))}
	switch random.IntN(10) {
	case 0, 1:
		_, err := me.Post(ctx, parley.Draft{Conversation: "#general", Content: text})
		return err
	case 2, 3, 4:
		_, err := l.owner.Post(ctx, parley.Draft{Direct: []string{other}, Content: text})
		return err
	case 5, 6:
		taken, err := me.Take(ctx, parley.Take{Limit: 10})
		for _, d := range taken.Deliveries {
			_, acked := me.Ack(ctx, taken.Lease, d.Message)
			err = errors.Join(err, acked)
		}
		return err
	case 7:
		_, err := me.History(ctx, "#general", client.HistoryOptions{Limit: 100, Before: random.Int64N(100_000)})
		return err
	case 8:
		_, err := l.owner.Search(ctx, fmt.Sprint("word-", random.IntN(1000)), client.PageRequest{Limit: 20})
		return err
	default:
		_, err := l.owner.Contact(ctx, parley.Contact{Pattern: parley.PatternAsk, Agent: agent(0), Message: "well?"})
		return err
	}
}

// followEvents reads the events of the nth agent until the end of the load. It reconnects after 1,000 events.
func (l *mixedLoad) followEvents(ctx context.Context, n int) {
	for ctx.Err() == nil {
		seen := 0
		for _, err := range l.agents[n].Events(ctx, client.EventsOptions{Bodies: true}) {
			if seen++; err != nil || seen == 1000 { // reconnect
				break
			}
		}
	}
}
