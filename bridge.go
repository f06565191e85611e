package parley

import (
	"context"
	"time"
)

// Layout is how a bridged directory tree is laid out, and with it in which dialect its files are.
type Layout string

// The layouts.
const (
	LayoutAgentOS    Layout = "agentos"    // S0: channels, presence files
	LayoutBlackboard Layout = "blackboard" // S1: an inbox for each agent, requests for nobody, mirrored tasks
	LayoutInbox      Layout = "inbox"      // S3: an inbox for each agent, sequences
)

// Bridge joins a directory tree and the hub, both ways.
type Bridge struct {
	ID          string     `json:"id"`
	Layout      Layout     `json:"layout"`
	Root        string     `json:"root"`                   // an absolute path where the bridge runs
	Agents      []string   `json:"agents"`                 // who may speak through it; those of them with the runtime bridge live there
	Channels    []string   `json:"channels,omitempty"`     // agentos: what is mapped; none: every directory under channels/
	QueueAgent  string     `json:"queue_agent,omitempty"`  // blackboard: whose tasks the requests for nobody are
	ReplaySince *time.Time `json:"replay_since,omitempty"` // agentos: what was written since is no history
	Outside     bool       `json:"outside,omitempty"`      // run by parley bridge run, not by the hub
	Paused      bool       `json:"paused,omitempty"`
	CreatedBy   string     `json:"created_by"`
	CreatedAt   time.Time  `json:"created_at"`
	Reached     bool       `json:"reached,omitempty"` // a bridge has been at the tree: what has nothing of Parley's is another directory
	Since       int64      `json:"since"`             // the newest number of the order when it was added: only what came later is exported
}

// NewBridge is a bridge as its owner asks for it. Agents that do not exist are added, with the runtime bridge.
type NewBridge struct {
	ID          string     `json:"id,omitempty"` // default: the layout and the last part of the root
	Layout      Layout     `json:"layout"`
	Root        string     `json:"root"`
	Agents      []string   `json:"agents"`
	Channels    []string   `json:"channels,omitempty"`
	QueueAgent  string     `json:"queue_agent,omitempty"`
	ReplaySince *time.Time `json:"replay_since,omitempty"`
	Outside     bool       `json:"outside,omitempty"`
}

// BridgeChange is what an owner may change of a bridge; what is nil stays.
type BridgeChange struct {
	Agents   *[]string `json:"agents,omitempty"`
	Channels *[]string `json:"channels,omitempty"`
	Paused   *bool     `json:"paused,omitempty"`
}

// BridgeView is a bridge with what it is doing.
type BridgeView struct {
	Bridge
	State   BridgeState  `json:"state"`
	Status  BridgeStatus `json:"status"`
	Notices []string     `json:"notices,omitempty"` // of what adding it has done besides
	// Elsewhere are the agents that live in the trees of other bridges. What is written to them here goes through the hub.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// BridgeState is what a bridge does at present, in a word.
type BridgeState string

// The states of a bridge.
const (
	BridgePaused     BridgeState = "paused"
	BridgeNotRunning BridgeState = "not_running" // it waits for parley bridge run
	BridgeLooking    BridgeState = "looking"     // it has not finished its first look at the tree
	BridgeRunning    BridgeState = "running"
	BridgeWaiting    BridgeState = "waiting" // it runs, and something keeps it from a part of its work
	BridgeStopped    BridgeState = "stopped" // its lock was removed, and it does nothing until it is paused and resumed
	BridgeFailing    BridgeState = "failing" // it does not run, and is started again
)

// Doing derives what a bridge does from its settings and from what it says of itself.
func (v BridgeView) Doing() BridgeState {
	switch {
	case v.Paused:
		return BridgePaused
	case v.Status.Stopped:
		return BridgeStopped
	case v.Status.Running && v.Status.Trouble != "":
		return BridgeWaiting
	case v.Status.Running && (v.Status.Looked || v.Status.ScannedAt != nil): // an older program does not say that it has looked
		return BridgeRunning
	case v.Status.Running:
		return BridgeLooking
	case v.Outside:
		return BridgeNotRunning
	case v.Status.Trouble != "":
		return BridgeFailing
	default:
		return BridgeLooking
	}
}

// BridgeStatus is what a running bridge says of itself. It is not kept.
type BridgeStatus struct {
	Running   bool       `json:"running"`
	Added     time.Time  `json:"added,omitzero"`   // when the bridge was added that it is about: its id may be another's by now
	Looked    bool       `json:"looked,omitempty"` // its first look is over: every file that appears from now on is delivered
	ScannedAt *time.Time `json:"scanned_at,omitempty"`
	Imported  int64      `json:"imported"` // since it was started, as all that follow
	Exported  int64      `json:"exported"`
	Rejected  int64      `json:"rejected"`
	Evicted   int64      `json:"evicted"`
	Waiting   int64      `json:"waiting"`           // files that are not imported yet
	Trouble   string     `json:"trouble,omitempty"` // why it does not get on: a full disk, a missing permission
	Stopped   bool       `json:"stopped,omitempty"` // its lock was removed: it does nothing until it is paused and resumed
}

// BridgeFile is a file of a tree, as it is known again. One that never changes once it is there has no digest.
type BridgeFile struct {
	Path   string `json:"path"` // below the root, with slashes
	Digest string `json:"digest,omitempty"`
}

// Arrival is a document of a dialect, found in a bridged tree and made canonical. What a dialect cannot say is empty.
type Arrival struct {
	BridgeFile
	Name      string    `json:"name"`                // its id in the dialect
	From      string    `json:"from"`                // an agent's id, mapped
	FromTier  Tier      `json:"from_tier,omitempty"` // as the document claims
	To        string    `json:"to,omitempty"`        // an agent's id, mapped; All: everybody whom the sender may contact, of ToTier where given
	ToTier    Tier      `json:"to_tier,omitempty"`
	Channel   string    `json:"channel,omitempty"` // agentos: where it is. Elsewhere it lives in the DM of From and To
	At        time.Time `json:"at"`                // as the document says
	ReplyTo   string    `json:"reply_to,omitempty"`
	History   bool      `json:"history,omitempty"`  // it is stored, and neither delivered nor acted on
	Queue     bool      `json:"queue,omitempty"`    // blackboard: a request for nobody
	Callback  string    `json:"callback,omitempty"` // a conversation or NATS subject that gets the response too
	Draft     Draft     `json:"draft"`              // type, priority, ttl, deadline, trace, content, payload, metadata, sequence; no address
	Warnings  []string  `json:"warnings,omitempty"`
	ExpiresAt time.Time `json:"expires_at,omitzero"` // what is past it when it is found is no more than logged
	// Refused is why the bridge itself has refused it, as far as its id and its sender could be read: it becomes no message, and
	// its sender is told.
	Refused *Error `json:"refused,omitempty"`
}

// Arrived is what became of an arrival.
type Arrived struct {
	Message   string   `json:"message,omitempty"`
	Duplicate bool     `json:"duplicate,omitempty"` // it had come before
	Notices   []string `json:"notices,omitempty"`
	// Error is why it was refused: E001 or E003 for good; any other may go away by itself, and the file stays where it is
	// until then.
	Error *Error `json:"error,omitempty"`
}

// Departure is a message on its way into a bridged tree. Its name is fixed before it is written.
type Departure struct {
	ID        string  `json:"id"`   // by which it is reported on
	Name      string  `json:"name"` // its id in the dialect; the file is Name.json
	Message   Message `json:"message"`
	Recipient string  `json:"recipient,omitempty"` // in whose inbox it is written; none in a channel
	Channel   string  `json:"channel,omitempty"`   // agentos
	Sequence  int64   `json:"sequence,omitempty"`  // the pair_seq of its delivery
	ReplyTo   string  `json:"reply_to,omitempty"`  // the dialect's id of what it answers, where that is in this tree
	Wakes     bool    `json:"wakes,omitempty"`
	Final     bool    `json:"final,omitempty"`  // of an error: nothing more is tried
	ByRun     bool    `json:"by_run,omitempty"` // its sender's run has posted it
	Task      *Task   `json:"task,omitempty"`   // that it asks for, or ends
	FromTier  Tier    `json:"from_tier,omitempty"`
	ToTier    Tier    `json:"to_tier,omitempty"`
	Written   bool    `json:"written,omitempty"` // its file was renamed into place before; what became of it is to be reported
}

// DepartureQuery says what a bridge can take.
type DepartureQuery struct {
	Channels []string      // agentos: the directories there are
	Written  bool          // those whose file was written and is not known to be gone; else those to be written
	After    string        // those after this id
	Limit    int           // default 100
	Wait     time.Duration // for the first one to be written
}

// DepartureReport is what a bridge says of a departure.
type DepartureReport struct {
	ID    string         `json:"id"`
	State DepartureState `json:"state"`
	Error *Error         `json:"error,omitempty"` // why it has failed
}

// Beat is what a presence file of a tree says of an agent that lives there.
type Beat struct {
	Agent    string    `json:"agent"`
	State    State     `json:"state"`
	Substate Substate  `json:"substate,omitempty"`
	At       time.Time `json:"at"`
	Interval int64     `json:"interval,omitempty"` // how often it renews its file, in seconds; none: PresenceInterval
}

// Lasts is for how long the agent counts as there after this sign: twice its interval.
func (b Beat) Lasts() time.Duration {
	if b.Interval <= 0 || b.Interval > int64(24*time.Hour/time.Second) {
		return 2 * PresenceInterval
	}
	return 2 * time.Duration(b.Interval) * time.Second
}

// BridgeTasks are tasks in which somebody of a tree takes part, and how far the order was read for them. A tree of channels has the runs
// instead that have failed for what was said there.
type BridgeTasks struct {
	Tasks      []Task      `json:"tasks"`
	FailedRuns []FailedRun `json:"failed_runs,omitempty"`
	UpTo       int64       `json:"up_to"`
	More       bool        `json:"more,omitempty"`
}

// FailedRun is a run of the hub's that has failed in a channel of a bridged tree.
type FailedRun struct {
	Run     string    `json:"run"` // its short name
	Agent   string    `json:"agent"`
	Channel string    `json:"channel"`
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Name    string    `json:"name,omitempty"` // of the newest document that woke it, where that is in this tree
	Error   *Error    `json:"error,omitempty"`
}

// BridgeHub is the hub as a bridge uses it, by the same calls in the hub's process and outside of it. Only an owner may. E003
// for a bridge that there is not (any more): it must end then.
type BridgeHub interface {
	BridgeReader
	BridgeArrivals
	BridgeDepartures
}

// BridgeReader is what a bridge reads.
type BridgeReader interface {
	Bridge(ctx context.Context, id string) (BridgeView, error)
	Who(ctx context.Context) ([]Presence, error)
	// BridgeTasks returns the tasks that have changed after a number of the order; after 0 all. For a tree of channels it returns the
	// runs that have failed there after it; after 0 none.
	BridgeTasks(ctx context.Context, id string, after int64) (BridgeTasks, error)
	// NoteBridge replaces what the hub knows of how a bridge gets on. Once it has looked at its tree, that is reached.
	NoteBridge(ctx context.Context, id string, s BridgeStatus) error
}

// BridgeArrivals take what is found in a tree.
type BridgeArrivals interface {
	// Unknown returns those of the files that have not arrived, in their order.
	Unknown(ctx context.Context, id string, files []BridgeFile) ([]BridgeFile, error)
	// Arrive stores documents in their order, each once, whatever is repeated, and says what became of each. What fails for a
	// reason of the hub's own fails for all from there on, with an error.
	Arrive(ctx context.Context, id string, list []Arrival) ([]Arrived, error)
	// Beat notes which agents that live in the tree are there.
	Beat(ctx context.Context, id string, beats []Beat) error
}

// BridgeDepartures give what is to be written into a tree.
type BridgeDepartures interface {
	Departures(ctx context.Context, id string, q DepartureQuery) ([]Departure, error)
	// Report tells what became of departures. Repeating it changes nothing.
	Report(ctx context.Context, id string, reports []DepartureReport) error
}

// DepartureRow is a departure as it is stored.
type DepartureRow struct {
	Bridge    string
	Message   string // none: it is gone, or its conversation is
	Recipient string // none in a channel
	Folder    string // names are unique in it: a channel, or a recipient
	Name      string
	State     DepartureState
	At        time.Time
	Num       int64 // its place in the order of departures, by which it is reported on
}

// FileRow is a file that has arrived, or was refused for good, as it is stored.
type FileRow struct {
	Bridge  string
	File    BridgeFile
	Name    string // its id in the dialect
	From    string // who wrote it
	Message string // none: it was refused, or the message or its conversation is gone
	At      time.Time
}

// BridgeStore keeps bridges, what has arrived by them, and what has departed. Files outlive their messages: what was
// imported once is not imported again because it was erased. ErrNotFound if a bridge does not exist.
type BridgeStore interface {
	// Insert adds a bridge, with what was kept of a removed one with the same root and layout. ErrTaken if its id is in use, or
	// its root by another with the same layout.
	Insert(Bridge) error
	// Get returns one.
	Get(id string) (Bridge, error)
	// List returns all, by their ids.
	List() ([]Bridge, error)
	// Put replaces what may change: agents, channels, whether it is paused, and whether its tree was reached.
	Put(Bridge) error
	// Remove removes a bridge. What has come and gone by it is kept.
	Remove(id string, at time.Time) error
	// Cursor is how far the order was read for what is to depart. It begins at Since. MoveCursor moves it forward.
	Cursor(id string) (int64, error)
	MoveCursor(id string, to int64) error

	// Arrived adds a file. ErrTaken if it is there.
	Arrived(FileRow) error
	// File returns one. ErrNotFound if it is not there.
	File(bridge string, f BridgeFile) (FileRow, error)
	// Known returns those of some files that are there, in the order given.
	Known(bridge string, files []BridgeFile) ([]BridgeFile, error)
	// Named returns the newest file with a name in the dialect, from a sender where one is given; one that was refused
	// only where there is no other. ErrNotFound if there is none.
	Named(bridge, name, from string) (FileRow, error)
	// Came returns a file that a message has come by. ErrNotFound if it did not.
	Came(bridge, message string) (FileRow, error)
	// LastFile returns the one with the greatest name that begins with a prefix. ErrNotFound if there is none.
	LastFile(bridge, prefix string) (FileRow, error)

	// Depart adds a departure. Its Num is given by the store. ErrTaken if the message departs there already, or the name is in use in its folder.
	Depart(DepartureRow) (DepartureRow, error)
	// Departure returns one by its message and recipient; DepartureAt by its Num; DepartedAs the newest by its name, in a
	// folder where one is given; LastDeparture the one with the greatest name in a folder that begins with a prefix. ErrNotFound if there is
	// none.
	Departure(bridge, message, recipient string) (DepartureRow, error)
	DepartureAt(bridge string, num int64) (DepartureRow, error)
	DepartedAs(bridge, folder, name string) (DepartureRow, error)
	LastDeparture(bridge, folder, prefix string) (DepartureRow, error)
	// Departures returns those in a state after a Num, by it, at most limit.
	Departures(bridge string, state DepartureState, after int64, limit int) ([]DepartureRow, error)
	// PutDeparture replaces the state of one, and since when it has it. ErrNotFound if there is none.
	PutDeparture(DepartureRow) error
}

// CursorStore keeps how far those who follow the order have come, each by its name.
type CursorStore interface {
	// Get returns a cursor. ErrNotFound if there is none.
	Get(name string) (int64, error)
	// Move moves it, or makes it where from is 0. ErrTaken, and nothing is written, if it is not at from: another process has gone
	// on.
	Move(name string, from, to int64) error
}

// Protocol is a format that somebody speaks, in a version.
type Protocol struct {
	Name    string `json:"name"`    // agentos, clawos, routing
	Version string `json:"version"` // the newest that is spoken; older ones of the same major are too
}

// Issues is why a document or a payload does not have the form it should, in the words of S3.
type Issues struct {
	Error  string   `json:"error"` // VALIDATION_FAILED
	MsgID  string   `json:"msg_id"`
	Issues []string `json:"issues"`
	Action string   `json:"action"`
}
