package peer

import (
	"hash/fnv"
)

// A mark is a hard limit that every process of a run inherits, and that only root can raise again. It survives changes of the
// environment, the group, the session and the parent, and it outlives the hub. It is the limit of file locks (RLIMIT_LOCKS),
// which Linux keeps and has not used since 2003. A process with a lower limit than the hub descends from a run of this hub, or
// of another hub of the same user. Lowering the limit further does not change that.
//
// The number says what to end when a run has ended. Alone it proves nothing more: a process can lower its limit to the
// number of another run. So a run has a second limit, which is the higher the lower the first one is. A process that
// takes the first number of another run would have to raise its second limit, which only root can. Both numbers
// together prove which run a process comes from. The second one is the hard limit of real-time computing
// (RLIMIT_RTTIME), so high that no process reaches it.
const (
	highest   = 1 << 62
	markBits  = 52 // of which a hub has runBits for its runs
	runBits   = 20
	nodeBits  = markBits - runBits
	markSpace = 1 << markBits
)

func nodeNumber(node string) uint64 { return hashOf(node) >> (64 - nodeBits) }

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // never fails
	x := h.Sum64()               // whose upper bits depend little on the end of the text
	x = (x ^ x>>32) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// ceiling returns the value below which marks are, for a process with the given limit.
func ceiling(own uint64) uint64 { return min(own, highest) }

// markOf returns the mark of a run, or 0 if the limit of this process leaves no room for marks.
func (r *Registry) markOf(run string) uint64 {
	top := ceiling(ownLimit())
	if top <= markSpace {
		return 0
	}
	return top - markSpace + r.node<<runBits + hashOf(run)>>(64-runBits)
}

// proofOf returns the second limit of a run, or 0 if it has none.
func (r *Registry) proofOf(run string) uint64 {
	mark, top := r.markOf(run), ceiling(ownProof())
	if mark == 0 || top <= markSpace {
		return 0
	}
	return top - 1 - (mark - (ceiling(ownLimit()) - markSpace))
}

// limits are the two numbers of a run or of a process.
type limits struct{ mark, proof uint64 }

func (r *Registry) limitsFor(run string) limits { return limits{r.markOf(run), r.proofOf(run)} }

// marked finds the origin of a process by its marks, even if the process has detached itself: a live run, or a leftover. If two
// runs have the same marks, the process counts as a leftover.
func (r *Registry) marked(pid int) (Origin, error) {
	found, err := limitsOf(pid)
	if err != nil || found.mark >= ownLimit() {
		return Origin{}, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, c := range r.claims {
		if c.run != "" && c.limits == found && c.proof != 0 && !r.unsure[found.mark] {
			return Origin{Agent: c.agent, Run: c.run}, nil
		}
	}
	return Origin{Left: true}, nil
}

// isOurs reports whether a mark belongs to a run of this hub.
func (r *Registry) isOurs(mark uint64) bool {
	floor := ceiling(ownLimit()) - markSpace
	return mark >= floor && (mark-floor)>>runBits == r.node
}
