package peer

import (
	"hash/fnv"
	"strconv"
)

// A mark is the value of a hard limit that every process of a run inherits and that only root can raise again. A process keeps
// its mark when it changes its environment, its process group, its session or its parent, and when the hub ends. The limit is
// that of file locks (RLIMIT_LOCKS), which Linux still stores but has not used since 2003. A process with a lower limit than the
// hub descends from a run of this hub or of another hub of the same user. This stays true if the process lowers the limit
// further.
//
// When a run has ended, the hub kills the processes with its mark. The mark alone proves nothing more, because a process can
// lower its limit to the mark of another run. So each run has a second limit, its proof. The lower the mark of a run, the higher
// is its proof. A process that lowers its first limit to the mark of another run would have to raise its second limit, which only
// root can do. Mark and proof together prove the run from which a process descends. The proof is the hard limit of real-time
// computing (RLIMIT_RTTIME), and so high that no process reaches it.
const (
	highest   = 1 << 62
	markBits  = 52 // nodeBits for the hub, and runBits for the run
	runBits   = 20
	nodeBits  = markBits - runBits
	markSpace = 1 << markBits
)

func nodeNumber(node string) uint64 { return hashOf(node) >> (64 - nodeBits) }

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	x := h.Sum64()               // the upper bits depend little on the end of the text, so the next lines mix the bits
	x = (x ^ x>>32) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// ceiling returns the value below which all marks are, for a hub with a limit.
func ceiling(own uint64) uint64 { return min(own, highest) }

// markOf returns the mark of a run, or 0 if the limit of this process is too low for marks.
func (r *Registry) markOf(run string) uint64 { return markFor(r.node, run) }

// markFor returns the mark for a name among those of a number.
func markFor(node uint64, name string) uint64 {
	top := ceiling(ownLimit())
	if top <= markSpace {
		return 0
	}
	return top - markSpace + node<<runBits + hashOf(name)>>(64-runBits)
}

// proofOf returns the proof of a run, or 0 if it has none.
func (r *Registry) proofOf(run string) uint64 { return proofFor(r.markOf(run)) }

// proofFor returns the proof that belongs to a mark, or 0 if there is none.
func proofFor(mark uint64) uint64 {
	top := ceiling(ownProof())
	if mark == 0 || top <= markSpace {
		return 0
	}
	return top - 1 - (mark - (ceiling(ownLimit()) - markSpace))
}

// limits are the mark and the proof of a run or of a process.
type limits struct{ mark, proof uint64 }

func (r *Registry) limitsFor(run string) limits { return limits{r.markOf(run), r.proofOf(run)} }

// limitsOfClient returns the mark and the proof of a connected client. They are not among those of runs, because the hub kills
// processes with the mark of an ended run.
func (r *Registry) limitsOfClient(c foundClient) limits {
	mark := markFor(r.clients, strconv.Itoa(c.pid)+"/"+c.started.String())
	return limits{mark, proofFor(mark)}
}

// originByMark returns the origin of a process by its mark and proof: a live run, a connected client, or Leftover for a process that
// neither explains. This also works for a process that has detached itself from its parents. If two runs have the same mark, the
// origin is Leftover. The origin is zero for a process without a mark.
func (r *Registry) originByMark(pid int) (Origin, error) {
	found, err := limitsOf(pid)
	if err != nil {
		return Origin{}, err
	}
	if c, ok := r.connectedBy(found); ok { // a hub that such a client started has the same limits itself
		return Origin{Agent: c.Agent, AgentUUID: c.AgentUUID, Client: c.ClientProcess}, nil
	}
	if found.mark >= ownLimit() {
		return Origin{}, nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, c := range r.claims {
		if c.run != "" && c.limits == found && c.proof != 0 && !r.untrusted[found.mark] {
			return Origin{Agent: c.agent, Run: c.run}, nil
		}
	}
	return Origin{Leftover: true}, nil
}

// isOurs reports whether a mark is that of a run of this hub.
func (r *Registry) isOurs(mark uint64) bool {
	floor := ceiling(ownLimit()) - markSpace
	return mark >= floor && (mark-floor)>>runBits == r.node
}
