package hub

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

const (
	mostOutput    = 256 << 10 // of a run's output, the last
	mostSaid      = 2 << 10   // of what a run says between two events, the last
	progressPause = time.Second
)

// liveRuns is what is known only in this process of the runs that live in it.
type liveRuns struct {
	mu   sync.Mutex
	runs map[string]*liveRun
	wake chan struct{} // one of them has said something
}

type liveRun struct {
	agent, conv string
	from, upTo  int64  // the seqs that its context reaches from and to
	output      []byte // raw
	said        string // and not told yet
}

func newLiveRuns() *liveRuns {
	return &liveRuns{runs: map[string]*liveRun{}, wake: make(chan struct{}, 1)}
}

func (l *liveRuns) add(r parley.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[r.ID] = &liveRun{agent: r.Agent, conv: r.Conversation}
}

func (l *liveRuns) drop(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, run)
}

// forget drops what a run, and those in a conversation, have put out so far.
func (l *liveRuns) forget(conversation, run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.runs {
		if one.conv == conversation || id == run {
			one.output, one.said = nil, ""
		}
	}
}

// change does something to a run that lives here. Of others it says nothing.
func (l *liveRuns) change(run string, do func(*liveRun)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, known := l.runs[run]; known {
		do(one)
	}
}

func (l *liveRuns) context(run string) (from, upTo int64) {
	l.change(run, func(one *liveRun) { from, upTo = one.from, one.upTo })
	return from, upTo
}

func (l *liveRuns) output(run string) (output []byte) {
	l.change(run, func(one *liveRun) { output = append(output, tail(one.output, mostOutput)...) })
	return output
}

// RunSays tells those who follow what a live run says meanwhile, at most once a second.
func (h *Hub) RunSays(run, text string) {
	h.live.change(run, func(one *liveRun) {
		one.said = tail(one.said+text, mostSaid)
		signal(h.live.wake)
	})
}

// RunLogs keeps the last of a live run's output.
func (h *Hub) RunLogs(run string, output []byte) {
	h.live.change(run, func(one *liveRun) {
		if one.output = append(one.output, output...); len(one.output) > 2*mostOutput {
			one.output = append([]byte(nil), tail(one.output, mostOutput)...)
		}
	})
}

func tail[T ~string | ~[]byte](text T, most int) T { return text[max(0, len(text)-most):] }

// showProgress writes down what runs say, while they say something.
func (h *Hub) showProgress(ctx context.Context, started func()) {
	started()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-h.live.wake:
		}
		if err := h.tellProgress(ctx); err != nil && ctx.Err() == nil {
			h.config.Log.Error("what runs say could not be written down", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(progressPause):
		}
	}
}

func (h *Hub) tellProgress(ctx context.Context) error {
	events := h.live.progress()
	if len(events) == 0 {
		return nil
	}
	return h.write(ctx, theHub, opItself, func(s *scene) error {
		for _, e := range events {
			s.note(e)
		}
		return nil
	})
}

// progress is what runs have said since it was last asked.
func (l *liveRuns) progress() (events []parley.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.runs {
		if one.said == "" {
			continue
		}
		data, err := json.Marshal(map[string]string{"run": id, "text": strings.ToValidUTF8(one.said, "")})
		if err == nil {
			events = append(events, parley.Event{Kind: parley.EventRunProgress, Agent: one.agent, Data: data})
		}
		one.said = ""
	}
	return events
}
