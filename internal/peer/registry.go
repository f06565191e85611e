package peer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
)

// Registry knows which processes belong to which agent, each by its number and the time at which it was started. It is
// safe for concurrent use.
type Registry struct {
	node    uint64       // of the hub, in the marks of its runs
	version atomic.Int64 // changes with every claim

	mu      sync.RWMutex
	claims  map[int]claim
	first   time.Duration   // when the first run was started; 0: none was
	unknown map[string]int  // sessions by agent whose client was not recognised
	unsure  map[uint64]bool // marks that are of two runs, or may be of something that could not be ended
}

// claim says whose a process is, and how often that was said.
type claim struct {
	agent   string
	run     string // none: it is the client of a session
	limits         // of what the run starts
	started time.Duration
	times   int
}

// NewRegistry makes an empty registry. The name of the node tells processes left by its runs from those left by runs of other
// hubs.
func NewRegistry(node string) *Registry {
	return &Registry{node: nodeNumber(node), claims: map[int]claim{}, unknown: map[string]int{}, unsure: map[uint64]bool{}}
}

// Add makes a process, and everything that descends from it, speak for an agent: as the run, or as the client of a session
// if run is empty. The caller must remove the process of a run after it has waited for it, before the system reuses its
// number. A process that was added several times stays the first agent's until each addition is removed.
func (r *Registry) Add(pid int, agent, run string) (remove func()) {
	p, err := look(pid)
	if err != nil {
		return func() {} // it is gone
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if run != "" && (r.first == 0 || p.started < r.first) {
		r.first = p.started
	}
	known, ok := r.claims[pid]
	if !ok || known.started != p.started {
		known = claim{agent: agent, run: run, started: p.started}
		if run != "" {
			known.limits = r.limitsFor(run)
			r.checkMark(known)
		}
	}
	known.times++
	r.claims[pid] = known
	r.version.Add(1)
	return sync.OnceFunc(func() { r.remove(pid, p.started) })
}

func (r *Registry) remove(pid int, started time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.claims[pid]
	if !ok || known.started != started {
		return // its number is another's by now
	}
	r.version.Add(1)
	if known.times--; known.times > 0 {
		r.claims[pid] = known
		return
	}
	delete(r.claims, pid)
}

// checkMark notes that a mark is that of another run too. r.mu is held.
func (r *Registry) checkMark(new claim) {
	for _, c := range r.claims {
		if c.run != "" && c.run != new.run && c.mark == new.mark {
			r.unsure[new.mark] = true
		}
	}
}

// distrust lets marks prove nothing any more, because something that has them may be left of a run that has ended.
func (r *Registry) distrust(marks ...uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, mark := range marks {
		r.unsure[mark] = true
	}
}

// claimOf is whose a process is by itself, whatever it descends from.
func (r *Registry) claimOf(pid int, started time.Duration) (claim, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.claims[pid]
	return known, ok && known.started == started
}

// runIn is the run whose session a process is in. Nothing can join a session: it is where a process was started.
func (r *Registry) runIn(session int) (claim, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.claims[session]
	return known, ok && known.run != ""
}

// runs are the processes that runs began with, by the ids of the runs.
func (r *Registry) runs() map[string]parley.Process {
	r.mu.RLock()
	defer r.mu.RUnlock()
	found := map[string]parley.Process{}
	for pid, c := range r.claims {
		if c.run != "" {
			found[c.run] = parley.Process{PID: pid, Started: int64(c.started)}
		}
	}
	return found
}

func (r *Registry) firstRun() (started time.Duration, some bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.first, r.first != 0
}

// UnknownClients are the agents that have a session on the socket whose client was not recognised.
func (r *Registry) UnknownClients() (agents []string) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for agent := range r.unknown {
		agents = append(agents, agent)
	}
	slices.Sort(agents)
	return agents
}

const (
	longestLine  = 1000 // no ancestry is longer
	walkAttempts = 5
)

// errAncestryChanged says that an ancestry changed while it was being walked, or cannot be seen.
var errAncestryChanged = errors.New("its ancestors keep changing, or are hidden from the hub (hidepid)")

// Origin is what a process comes from.
type Origin struct {
	Agent string // whose it is
	Run   string // the run that it descends from
	Left  bool   // it comes from a run that has ended, or that nobody knows
}

// Who finds the agent a process descends from. The nearest counts, but a run before every session: what a run starts
// cannot make itself another's. Where the ancestry does not lead to a run, the marks of the process do: a daemon has left
// its parents. This process itself comes from nobody.
func (r *Registry) Who(pid int) (o Origin, err error) {
	if pid == os.Getpid() {
		return o, nil
	}
	for range walkAttempts {
		if o, err = r.walk(pid); !errors.Is(err, errAncestryChanged) {
			break
		}
	}
	if err != nil || o.Run != "" {
		return o, err
	}
	byMark, err := r.marked(pid)
	if byMark.Run != "" || o == (Origin{}) {
		o = byMark
	}
	return o, err
}

// walk goes up from a process. A parent that is younger than its child, or gone, is not its parent any more:
// the child has been given to another one meanwhile.
func (r *Registry) walk(pid int) (o Origin, err error) {
	self := os.Getpid()
	p, err := look(pid)
	if err != nil {
		return o, err
	}
	for range longestLine {
		known, ok := r.claimOf(pid, p.started)
		if ok && o.Agent == "" {
			o.Agent = known.agent
		}
		if !ok || known.run == "" {
			known, ok = r.runIn(p.session)
		}
		switch {
		case ok && known.run != "":
			return Origin{Agent: known.agent, Run: known.run}, nil
		case pid == self:
			o.Left = o.Agent == ""
			return o, nil
		case pid <= 1 || p.parent <= 0:
			return o, nil
		}
		parent, err := look(p.parent)
		if errors.Is(err, errGone) || err == nil && parent.started > p.started {
			return o, errAncestryChanged
		}
		if err != nil {
			return o, err
		}
		pid, p = p.parent, parent
	}
	return o, fmt.Errorf("its ancestry has no end")
}
