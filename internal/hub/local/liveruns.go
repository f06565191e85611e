package local

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
)

const MostOutput = 256 << 10 // of a run's output, the last

const MostSaid = 2 << 10 // of what a run says between two events, the last

// LiveRuns is what is known only in this process of the runs that live in it.
type LiveRuns struct {
	mu   sync.Mutex
	runs map[string]*LiveRun
	Wake chan struct{} // one of them has said something
}

type LiveRun struct {
	agent, Conv string
	From, UpTo  int64  // the seqs that its context reaches from and to
	Output      []byte // raw
	Said        string // and not told yet
}

func NewLiveRuns() *LiveRuns {
	return &LiveRuns{runs: map[string]*LiveRun{}, Wake: make(chan struct{}, 1)}
}

func (l *LiveRuns) Add(r parley.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[r.ID] = &LiveRun{agent: r.Agent, Conv: r.Conversation}
}

func (l *LiveRuns) Drop(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, run)
}

// Forget drops what a run, and those in a conversation, have put out so far.
func (l *LiveRuns) Forget(conversation, run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.runs {
		if one.Conv == conversation || id == run {
			one.Output, one.Said = nil, ""
		}
	}
}

// Change does something to a run that lives here. Of others it says nothing.
func (l *LiveRuns) Change(run string, do func(*LiveRun)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, known := l.runs[run]; known {
		do(one)
	}
}

func (l *LiveRuns) Context(run string) (from, upTo int64) {
	l.Change(run, func(one *LiveRun) { from, upTo = one.From, one.UpTo })
	return from, upTo
}

func (l *LiveRuns) Output(run string) (output []byte) {
	l.Change(run, func(one *LiveRun) { output = append(output, Tail(one.Output, MostOutput)...) })
	return output
}

func Tail[T ~string | ~[]byte](text T, most int) T { return text[max(0, len(text)-most):] }

// Progress is what runs have said since it was last asked.
func (l *LiveRuns) Progress() (events []parley.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.runs {
		if one.Said == "" {
			continue
		}
		data, err := json.Marshal(map[string]string{"run": id, "text": strings.ToValidUTF8(one.Said, "")})
		if err == nil {
			events = append(events, parley.Event{Kind: parley.EventRunProgress, Agent: one.agent, Data: data})
		}
		one.Said = ""
	}
	return events
}
