package peer

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Registry knows which processes belong to which agent. It is safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	pids  map[int]claim
	first time.Duration // when the first child of this process that was added was started; 0: none was
}

// claim says whose a process is, and how often that was said.
type claim struct {
	agent string
	times int
}

// NewRegistry makes one that knows nobody.
func NewRegistry() *Registry { return &Registry{pids: map[int]claim{}} }

// Add says that a process, and all that descends from it, speaks for an agent. Whoever adds one removes it
// after having waited for it, before its number can be another's. A process that was added several times
// stays the first one's until each has removed it.
func (r *Registry) Add(pid int, agent string) (remove func()) {
	p, err := look(pid)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && p.parent == os.Getpid() && (r.first == 0 || p.started < r.first) {
		r.first = p.started
	}
	known, ok := r.pids[pid]
	if !ok {
		known.agent = agent
	}
	known.times++
	r.pids[pid] = known
	return sync.OnceFunc(func() { r.remove(pid) })
}

func (r *Registry) remove(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.pids[pid]
	if known.times--; known.times > 0 {
		r.pids[pid] = known
		return
	}
	delete(r.pids, pid)
}

func (r *Registry) agentOf(pid int) (string, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	known, ok := r.pids[pid]
	return known.agent, ok
}

func (r *Registry) firstRun() (started time.Duration, some bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.first, r.first != 0
}

const (
	longestLine = 1000 // no ancestry is longer
	walkTries   = 5
)

// errMoved says that an ancestry changed while it was being walked, or cannot be seen.
var errMoved = errors.New("its ancestors keep changing, or are hidden from the hub (hidepid)")

// Who finds the agent a process descends from. Without one, descends says whether it comes from this process:
// then it was left behind by a run that has ended. This process itself descends from nobody.
func (r *Registry) Who(pid int) (agent string, descends bool, err error) {
	if pid == os.Getpid() {
		return "", false, nil
	}
	for range walkTries {
		agent, descends, err = r.walk(pid)
		if !errors.Is(err, errMoved) {
			return agent, descends, err
		}
	}
	return "", false, err
}

// walk goes up from a process. A parent that is younger than its child, or gone, is not its parent any more:
// the child has been given to another one meanwhile.
func (r *Registry) walk(pid int) (agent string, descends bool, err error) {
	self := os.Getpid()
	child, err := look(pid)
	if err != nil {
		return "", false, err
	}
	for range longestLine {
		if agent, known := r.agentOf(pid); known {
			return agent, true, nil
		}
		if pid == self {
			return "", true, nil
		}
		if pid <= 1 || child.parent <= 0 {
			return "", false, nil
		}
		parent, err := look(child.parent)
		if errors.Is(err, errGone) || err == nil && parent.started > child.started {
			return "", false, errMoved
		}
		if err != nil {
			return "", false, err
		}
		pid, child = child.parent, parent
	}
	return "", false, fmt.Errorf("its ancestry has no end")
}
