package bridge

import (
	"context"
	"io/fs"
	"time"

	"github.com/parley-hub/parley"
)

// layout is the part of a bridge that is specific to one kind of tree. The engine reads and writes documents; the layout says
// where, and does the rest. One goroutine calls incoming and mirrored, another calls outgoing.
type layout interface {
	incoming
	outgoing
	mirrored
}

// incoming has the methods for documents that arrive from the tree.
type incoming interface {
	// inlets returns the folders to read, in the order in which they take turns. The engine calls it at each poll. A missing
	// folder is no error. With an error, inlets returns the folders that can be read nevertheless; if it returns none, the
	// engine keeps the folders of the last poll.
	inlets(view bridgeView) ([]inlet, error)
	// complete adds to a decoded document what follows from its folder and its file. E001 or E003 refuses the document for
	// good. After any other error, the engine reads the document again at a later poll.
	complete(in inlet, f file, a *parley.Arrival) error
	// settle finishes a file, for example by moving it away. The engine calls it after the hub has committed the document, and
	// again for a file that still exists after a restart. A missing file is no error. The engine itself keeps the reason of a
	// refused file, and moves the file if the inlet is consumed.
	settle(in inlet, f file, o outcome) error
}

// outgoing has the methods for departures into the tree.
type outgoing interface {
	// encode encodes a departure as a document. It returns E003 if the format cannot express the departure; the hub then tells the
	// sender. After another error the engine retries.
	encode(d parley.Departure) ([]byte, error)
	// targetFolder returns the folder for the file of a departure, which is called d.Name + ".json". The engine creates a missing
	// folder.
	targetFolder(d parley.Departure) string
	// beforeWrite prepares the folder. The engine calls it before it writes a new document, not if the file exists already.
	beforeWrite(ctx context.Context, d parley.Departure) error
	// afterWrite finishes a departure. The engine calls it once the document is in place, and again if it could not report that
	// to the hub.
	afterWrite(ctx context.Context, d parley.Departure) error
	// wasTaken reports whether the recipient has taken a document that was written.
	wasTaken(d parley.Departure) (bool, error)
}

// mirrored has the methods for everything besides documents that the tree shows of the hub, or the hub of the tree.
type mirrored interface {
	// tick mirrors changes. The engine calls it at each poll.
	tick(ctx context.Context, view bridgeView) error
	// stop shows in the tree that the bridge has stopped. The engine calls it once at the end, with a context that ends soon.
	stop(ctx context.Context, view bridgeView) error
	// watched returns the folders besides inlets whose changes the bridge should see at once.
	watched() []string
	// logFile returns the path of the log for people, below the root.
	logFile() string
}

// layoutBase is the common part of all layouts.
type layoutBase struct {
	tree *tree
	hub  parley.BridgeHub
	id   string
	now  func() time.Time
	// ahead is how far the clock that stamps files is ahead of this machine's clock.
	ahead time.Duration
	// logf writes a line into the log of the tree and the log of the hub.
	logf func(format string, args ...any)
	// onEvict tells the hub that a file made room for a newer one. It tells nothing if no departure wrote the file.
	onEvict func(ctx context.Context, path string) error
}

// bridgeView is the state of the bridge and of all participants, as the hub returned it at the last poll.
type bridgeView struct {
	bridge    parley.Bridge
	presences []parley.Presence
	inTree    map[string]bool // the agents of the bridge that live in the tree
	ofHub     map[string]bool // the agents that the hub answers for, and people
}

// inlet is a folder of documents.
type inlet struct {
	path          string // below the root
	agent         string // the agent whose inbox it is, or ""
	channel       string // the channel that it is, or ""
	consume       bool   // the bridge removes documents that have arrived
	forQueueAgent bool   // it has requests without a recipient
	byName        bool   // files are read in the order of their names; otherwise of their timestamps
	fixed         bool   // its files never change, so the path identifies a file
	limit         int64  // the size limit of a file
}

// file is a file as the bridge found it.
type file struct {
	name   string
	path   string      // below the root
	info   fs.FileInfo // nil if the file was missing
	size   int64
	mtime  time.Time
	raw    []byte
	head   []byte // the beginning of a file that is too large
	digest string // the digest of raw
}

// outcome says what became of a file.
type outcome int

const (
	arrived outcome = iota // now or earlier
	expired
	refused
)
