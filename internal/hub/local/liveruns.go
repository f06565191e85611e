package local

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/parley-hub/parley"
)

// MaxOutput is how many bytes of a run's output the hub keeps: the last ones.
const MaxOutput = 256 << 10

// MaxProgressText is how many bytes of a run's progress text one event holds: the last ones.
const MaxProgressText = 2 << 10

// LiveRuns are the context, output and progress of the runs that live in this process. No other process knows them.
type LiveRuns struct {
	mu   sync.Mutex
	runs map[string]*LiveRun
	Wake chan struct{} // signalled when a run has new progress text
}

// LiveRun is the memory of one live run.
type LiveRun struct {
	agent, Conv string
	From, UpTo  int64  // the first and the last seq of its context
	Output      []byte // raw
	Said        string // progress text that no event holds yet
}

// NewLiveRuns returns an empty set of runs.
func NewLiveRuns() *LiveRuns {
	return &LiveRuns{runs: map[string]*LiveRun{}, Wake: make(chan struct{}, 1)}
}

// Add adds a run that starts.
func (l *LiveRuns) Add(r parley.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[r.ID] = &LiveRun{agent: r.Agent, Conv: r.Conversation}
}

// Remove removes a run that ended.
func (l *LiveRuns) Remove(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.runs, run)
}

// Forget drops the output and the progress of a run, and of all runs in a conversation.
func (l *LiveRuns) Forget(conversation, run string) {
	l.forget(func(id string, one *LiveRun) bool { return one.Conv == conversation || id == run })
}

// ForgetAgent drops the output and the progress of all runs of an agent.
func (l *LiveRuns) ForgetAgent(agent string) {
	l.forget(func(_ string, one *LiveRun) bool { return one.agent == agent })
}

func (l *LiveRuns) forget(selected func(id string, one *LiveRun) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.runs {
		if selected(id, one) {
			one.Output, one.Said = nil, ""
		}
	}
}

// Change calls do with a live run, under the lock. It does nothing if the run does not live in this process.
func (l *LiveRuns) Change(run string, do func(*LiveRun)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, known := l.runs[run]; known {
		do(one)
	}
}

// Context returns the first and the last seq of a run's context, or zeros.
func (l *LiveRuns) Context(run string) (from, upTo int64) {
	l.Change(run, func(one *LiveRun) { from, upTo = one.From, one.UpTo })
	return from, upTo
}

// Output returns the last output of a run, or nil.
func (l *LiveRuns) Output(run string) (output []byte) {
	l.Change(run, func(one *LiveRun) { output = append(output, Tail(one.Output, MaxOutput)...) })
	return output
}

// Tail returns the last bytes of a text.
func Tail[T ~string | ~[]byte](text T, most int) T { return text[max(0, len(text)-most):] }

// Progress returns an event for each run with new progress text, and forgets these texts.
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
