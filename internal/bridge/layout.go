package bridge

import (
	"context"
	"io/fs"
	"time"

	"github.com/parley-hub/parley"
)

// layout is what is specific to one kind of tree. The engine reads and writes; the layout says where, and what else must be
// done. One goroutine calls incoming and mirrored, another calls outgoing.
type layout interface {
	incoming
	outgoing
	mirrored
}

// incoming is where documents come from.
type incoming interface {
	// inlets returns the folders that are read at present, in the order in which they take turns. One that is not there is no
	// error. With an error come those that can be read all the same; none: nothing is known. Called at each poll.
	inlets(w bridgeView) ([]inlet, error)
	// complete adds to a decoded document what its place and its file say. An error refuses it.
	complete(in inlet, f file, a *parley.Arrival) error
	// settle does with a file what has to be done once it is known what became of it: it is called after the hub's commit, and
	// again for a file that is still there after a restart. A file that is gone by then is no error. Of refused files the
	// engine itself keeps the reason, and moves those of an inlet that is consumed.
	settle(in inlet, f file, o outcome) error
}

// outgoing is where departures go.
type outgoing interface {
	// encode makes a departure a document. E003 if it can never be one: its sender is told.
	encode(d parley.Departure) ([]byte, error)
	// place is the folder that it is written into, as d.Name + ".json". It is made where it is missing.
	place(d parley.Departure) string
	// before is called before a document is written that is not there yet; after, once it is in place, and again when that
	// could not be reported.
	before(ctx context.Context, d parley.Departure) error
	after(ctx context.Context, d parley.Departure) error
	// taken says whether a document that was written is seen by now.
	taken(d parley.Departure) (bool, error)
}

// mirrored is what a tree shows of the hub, and the hub of a tree, besides documents.
type mirrored interface {
	// tick is called at each poll, stop once at the end, with a context that ends soon.
	tick(ctx context.Context, w bridgeView) error
	stop(ctx context.Context, w bridgeView) error
	// watched are the folders besides inlets in which something may come that should be seen at once.
	watched() []string
	// logFile is where lines for people go, below the root.
	logFile() string
}

// layoutBase is what every layout works with.
type layoutBase struct {
	tree *tree
	hub  parley.BridgeHub
	id   string
	now  func() time.Time
	// ahead is how far the clock that stamps files is ahead of this machine's.
	ahead time.Duration
	// say writes a line into the layout's log and the hub's.
	say func(format string, args ...any)
	// evicted tells the hub that a file made room for a newer one. Nothing, if no departure wrote it.
	evicted func(ctx context.Context, path string) error
}

// bridgeView is what the hub knows of the bridge and its agents, as of the last poll.
type bridgeView struct {
	bridge parley.Bridge
	who    []parley.Presence
	inTree map[string]bool // the agents of the bridge that live in the tree
	ofHub  map[string]bool // the agents that the hub answers for, and people
}

// inlet is a folder of documents.
type inlet struct {
	path    string // below the root
	agent   string // whose inbox it is, if anybody's
	channel string // which channel it is, if one
	consume bool   // what has arrived is taken out of it
	queue   bool   // requests for nobody
	byName  bool   // its files are in the order of their names; else in that of their timestamps
	fixed   bool   // its files never change: they are known by their path alone
	limit   int64  // the size of a file
}

// file is a document as it was found.
type file struct {
	name   string
	path   string      // below the root
	info   fs.FileInfo // what had its name when it was looked at; nil: nothing did
	size   int64
	mtime  time.Time
	raw    []byte
	head   []byte // the beginning of one that is too large
	digest string // of raw
}

// outcome is what became of a file.
type outcome int

const (
	arrived outcome = iota // also: it had arrived before
	expired
	refused
)
