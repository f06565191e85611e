package peer

import (
	"hash/fnv"
)

// A mark is a hard limit that every process of a run inherits, and that only root can raise again. It survives changes of the
// environment, the group, the session and the parent, and it outlives the hub. It is the limit of file locks (RLIMIT_LOCKS),
// which Linux keeps and has not used since 2003. A process with a lower limit than the hub descends from a run of this hub, or
// of another hub of the same user. Lowering the limit further does not change that.
//
// The number itself only says what to end when a run has ended. It proves nothing more: a process can take the number
// of an older run.
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

// ceiling is what marks are below, for a process that has itself a limit.
func ceiling(own uint64) uint64 { return min(own, highest) }

// markOf is the mark of a run, or 0 if this process has no room for marks below its own.
func (r *Registry) markOf(run string) uint64 {
	top := ceiling(ownLimit())
	if top <= markSpace {
		return 0
	}
	return top - markSpace + r.node<<runBits + hashOf(run)>>(64-runBits)
}

// isOurs says whether a mark is of a run of this hub.
func (r *Registry) isOurs(mark uint64) bool {
	floor := ceiling(ownLimit()) - markSpace
	return mark >= floor && (mark-floor)>>runBits == r.node
}
