package bridge

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeHub is a hub in memory that keeps the rule that each file arrives once.
type fakeHub struct {
	mu      sync.Mutex
	signal  chan struct{} // closed and made anew when something is to depart
	bridge  parley.Bridge
	removed bool
	who     []parley.Presence
	known   map[parley.BridgeFile]parley.Arrived
	came    []parley.Arrival
	refused []parley.Arrival // that the bridge has refused, each once
	asked   int              // files that were asked for
	failed  []parley.FailedRun
	beats   []parley.Beat
	heard   func(parley.Beat)
	status  parley.BridgeStatus
	due     []parley.Departure
	written []parley.Departure // that were written, and are not known to be gone
	reports []parley.DepartureReport
	down    error                              // why nothing can be had
	judge   func(parley.Arrival) *parley.Error // why a document is refused
	stored  func(n int) (err error)            // what happens after n documents are stored
	slow    time.Duration                      // what a document takes
	taken   func(report parley.DepartureReport) error
}

func newFakeHub(b parley.Bridge, agents ...parley.Presence) *fakeHub {
	return &fakeHub{bridge: b, who: agents, signal: make(chan struct{}), known: map[parley.BridgeFile]parley.Arrived{}}
}

func treeAgent(id string) parley.Presence {
	return parley.Presence{ID: id, Kind: parley.KindAgent, Runtime: parley.RuntimeBridge}
}

func ownAgent(id string) parley.Presence {
	return parley.Presence{ID: id, Kind: parley.KindAgent, Runtime: "script", State: parley.Awake, Substate: parley.Idle}
}

func (h *fakeHub) Bridge(context.Context, string) (parley.BridgeView, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.removed {
		return parley.BridgeView{}, parley.Errorf(parley.BadInput, "there is no bridge").Because(parley.NotFound)
	}
	return parley.BridgeView{Bridge: h.bridge}, h.down
}

func (h *fakeHub) Who(context.Context) ([]parley.Presence, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.who), h.down
}

func (h *fakeHub) BridgeTasks(_ context.Context, _ string, after int64) (page parley.BridgeTasks, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if page.UpTo = int64(len(h.failed)) + 1; after > 0 {
		page.FailedRuns = h.failed[min(after-1, int64(len(h.failed))):]
	}
	return page, nil
}

func (h *fakeHub) NoteBridge(_ context.Context, _ string, s parley.BridgeStatus) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = s
	return h.down
}

func (h *fakeHub) Unknown(_ context.Context, _ string, files []parley.BridgeFile) ([]parley.BridgeFile, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked += len(files)
	return slices.DeleteFunc(slices.Clone(files), func(f parley.BridgeFile) bool { _, ok := h.known[f]; return ok }), h.down
}

func (h *fakeHub) Arrive(_ context.Context, _ string, list []parley.Arrival) (done []parley.Arrived, err error) {
	time.Sleep(time.Duration(len(list)) * h.slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down != nil {
		return nil, h.down
	}
	for _, a := range list {
		done = append(done, h.arrive(a))
		if h.stored != nil {
			if err := h.stored(len(h.came)); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

func (h *fakeHub) arrive(a parley.Arrival) parley.Arrived {
	if a.Refused != nil {
		if !slices.ContainsFunc(h.refused, func(b parley.Arrival) bool { return b.BridgeFile == a.BridgeFile }) {
			h.refused = append(h.refused, a)
		}
		return parley.Arrived{Error: a.Refused}
	}
	if first, ok := h.known[a.BridgeFile]; ok {
		first.Duplicate = true
		return first
	}
	if h.judge != nil {
		if why := h.judge(a); why != nil {
			if refusalOf(why) != nil {
				h.known[a.BridgeFile] = parley.Arrived{}
			}
			return parley.Arrived{Error: why}
		}
	}
	h.came = append(h.came, a)
	h.known[a.BridgeFile] = parley.Arrived{Message: "message-" + strconv.Itoa(len(h.came))}
	return h.known[a.BridgeFile]
}

func (h *fakeHub) Beat(_ context.Context, _ string, beats []parley.Beat) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.beats = append(h.beats, beats...)
	for _, b := range beats {
		if h.heard != nil {
			h.heard(b)
		}
	}
	return h.down
}

func (h *fakeHub) Departures(ctx context.Context, _ string, q parley.DepartureQuery) ([]parley.Departure, error) {
	if q.Written {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Clone(h.written), h.down
	}
	end := time.NewTimer(q.Wait)
	defer end.Stop()
	for {
		h.mu.Lock()
		list, signal, down := h.toWrite(q), h.signal, h.down
		h.mu.Unlock()
		if len(list) > 0 || down != nil || q.Wait == 0 {
			return list, down
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-end.C:
			return nil, nil
		case <-signal:
		}
	}
}

func (h *fakeHub) toWrite(q parley.DepartureQuery) (list []parley.Departure) {
	after, _ := strconv.Atoi(q.After)
	for _, d := range h.due {
		n, _ := strconv.Atoi(d.ID)
		if n > after && (d.Channel == "" || slices.Contains(q.Channels, d.Channel)) && len(list) < q.Limit {
			list = append(list, d)
		}
	}
	return list
}

// send has something depart.
func (h *fakeHub) send(d ...parley.Departure) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.due = append(h.due, d...)
	close(h.signal)
	h.signal = make(chan struct{})
}

func (h *fakeHub) Report(_ context.Context, _ string, reports []parley.DepartureReport) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range reports {
		if h.taken != nil {
			if err := h.taken(r); err != nil {
				return err
			}
		}
		h.reports = append(h.reports, r)
		h.due = slices.DeleteFunc(h.due, func(d parley.Departure) bool { return d.ID == r.ID })
	}
	return h.down
}

// do changes the hub.
func (h *fakeHub) do(change func(*fakeHub)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// names are the files that came, in their order.
func (h *fakeHub) names() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.came {
		list = append(list, a.Path)
	}
	return list
}

// noted is what the bridge has said of itself last.
func (h *fakeHub) noted() parley.BridgeStatus {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// reported returns what it has said of departures.
func (h *fakeHub) reported() []parley.DepartureReport {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.reports)
}
