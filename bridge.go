package parley

import (
	"context"
	"time"
)

// Layout says where a bridged directory tree has its files. It also determines the dialect of the files.
type Layout string

// The layouts.
const (
	LayoutAgentOS    Layout = "agentos"    // the Multi-Agent OS: channels, presence files
	LayoutBlackboard Layout = "blackboard" // ClawOS: an inbox for each agent, requests without a recipient, mirrored tasks
	LayoutInbox      Layout = "inbox"      // the Routing Protocol: an inbox for each agent, sequences
)

// Bridge is a connection between a directory tree and the hub. Files become messages, and messages become files.
type Bridge struct {
	ID          string     `json:"id" doc:"The bridge's id. Default: the layout and the last part of the root."`
	Layout      Layout     `json:"layout" doc:"How the tree is laid out. The layout also sets the format of its files."`
	Root        string     `json:"root" doc:"The root of the tree: an absolute path where the bridge runs."`
	Agents      []string   `json:"agents" doc:"The agents that may send through the bridge. Agents with the runtime bridge live in the tree."`
	Channels    []string   `json:"channels,omitempty" doc:"agentos: the directories under channels/ that the bridge connects; none: all."`
	QueueAgent  string     `json:"queue_agent,omitempty" doc:"blackboard: the agent that gets requests without a recipient. Default: gm."`
	ReplaySince *time.Time `json:"replay_since,omitempty" doc:"agentos: files written since this time are delivered. Older files are stored as history."`
	Outside     bool       `json:"outside,omitempty" doc:"The command parley bridge run runs the bridge, not the hub."`
	Paused      bool       `json:"paused,omitempty" doc:"The bridge is paused."`
	CreatedBy   string     `json:"created_by" doc:"The participant that created it."`
	CreatedAt   time.Time  `json:"created_at" doc:"When it was created."`
	Reached     bool       `json:"reached,omitempty" doc:"The bridge has opened its tree once. From then on it refuses a directory without .parley until it is paused and resumed."`
	Since       int64      `json:"since" doc:"The newest number in the hub's order when the bridge was added. The bridge exports only later messages."`
}

// NewBridge describes a bridge to add. The hub adds agents that do not exist, with the runtime bridge.
type NewBridge struct {
	ID          string     `json:"id,omitempty" doc:"The bridge's id. Default: the layout and the last part of the root."`
	Layout      Layout     `json:"layout" doc:"How the tree is laid out. The layout also sets the format of its files."`
	Root        string     `json:"root" doc:"The root of the tree: an absolute path where the bridge runs."`
	Agents      []string   `json:"agents" doc:"The agents that may send through the bridge. Agents with the runtime bridge live in the tree."`
	Channels    []string   `json:"channels,omitempty" doc:"agentos: the directories under channels/ that the bridge connects; none: all."`
	QueueAgent  string     `json:"queue_agent,omitempty" doc:"blackboard: the agent that gets requests without a recipient. Default: gm."`
	ReplaySince *time.Time `json:"replay_since,omitempty" doc:"agentos: files written since this time are delivered. Older files are stored as history."`
	Outside     bool       `json:"outside,omitempty" doc:"The command parley bridge run runs the bridge, not the hub."`
}

// BridgeChange is what an owner may change in a bridge. Nil fields stay unchanged.
type BridgeChange struct {
	Agents   *[]string `json:"agents,omitempty" doc:"The agents that may send through the bridge. Agents with the runtime bridge live in the tree."`
	Channels *[]string `json:"channels,omitempty" doc:"agentos: the directories under channels/ that the bridge connects; none: all."`
	Paused   *bool     `json:"paused,omitempty" doc:"The bridge is paused."`
}

// BridgeView is a bridge with what it is doing.
type BridgeView struct {
	Bridge
	State   BridgeState  `json:"state" doc:"What the bridge does: paused, not_running (it needs parley bridge run), looking (it reads the tree for the first time), running, waiting (a problem blocks a part of its work), stopped (its lock was removed) or failing (it has ended and the hub restarts it)."`
	Status  BridgeStatus `json:"status" doc:"What the running bridge reports."`
	Notices []string     `json:"notices,omitempty" doc:"Side effects of adding the bridge, such as agents that were added."`
	// Elsewhere are the agents that live in the trees of other bridges. Messages to them go through the hub.
	Elsewhere []string `json:"elsewhere,omitempty" doc:"The agents that live in the trees of other bridges. Messages to them go through the hub."`
}

// BridgeState says what a bridge does at present.
type BridgeState string

// The states of a bridge.
const (
	BridgePaused     BridgeState = "paused"
	BridgeNotRunning BridgeState = "not_running" // it needs parley bridge run
	BridgeLooking    BridgeState = "looking"     // it reads the tree for the first time
	BridgeRunning    BridgeState = "running"
	BridgeWaiting    BridgeState = "waiting" // it runs, but a problem blocks a part of its work
	BridgeStopped    BridgeState = "stopped" // its lock was removed; it is idle until it is paused and resumed
	BridgeFailing    BridgeState = "failing" // it has ended, and the hub restarts it
)

// CurrentState derives the state of a bridge from its settings and its last report.
func (v BridgeView) CurrentState() BridgeState {
	switch {
	case v.Paused:
		return BridgePaused
	case v.Status.Stopped:
		return BridgeStopped
	case v.Status.Running && v.Status.Trouble != "":
		return BridgeWaiting
	case v.Status.Running && (v.Status.Looked || v.Status.ScannedAt != nil): // older programs do not report Looked
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

// BridgeStatus is the report of a running bridge. The hub keeps it in memory only.
type BridgeStatus struct {
	Running   bool       `json:"running" doc:"Whether the bridge runs."`
	Added     time.Time  `json:"added,omitzero" doc:"When the reporting bridge was added. The hub ignores reports of a removed bridge with the same id."`
	Looked    bool       `json:"looked,omitempty" doc:"The bridge has read the whole tree once. It delivers every file that appears later."`
	ScannedAt *time.Time `json:"scanned_at,omitempty" doc:"When the bridge last read the tree."`
	Imported  int64      `json:"imported" doc:"Files imported since the bridge was started."`
	Exported  int64      `json:"exported" doc:"Files written since the bridge was started."`
	Rejected  int64      `json:"rejected" doc:"Files refused since the bridge was started."`
	Evicted   int64      `json:"evicted" doc:"Files removed to make room for newer ones since the bridge was started."`
	Waiting   int64      `json:"waiting" doc:"Files that are not imported yet."`
	// Trouble is the problem that blocks the bridge, such as a full disk or a missing permission.
	Trouble string `json:"trouble,omitempty" doc:"The problem that blocks the bridge, such as a full disk or a missing permission."`
	Stopped bool   `json:"stopped,omitempty" doc:"The bridge's lock in the tree was removed or replaced. The bridge is idle until it is paused and resumed."`
}

// BridgeFile identifies a file of a tree. A file that never changes once written has no digest.
type BridgeFile struct {
	Path   string `json:"path" doc:"The path below the root, with slashes."`
	Digest string `json:"digest,omitempty" doc:"The SHA-256 of the contents; none for a file that never changes once written."`
}

// Arrival is a document from a bridged tree in canonical form. Fields that the document's dialect does not have are empty.
type Arrival struct {
	BridgeFile
	Name     string `json:"name" doc:"The document's id in its own format."`
	From     string `json:"from" doc:"The sender: an agent's id."`
	FromTier Tier   `json:"from_tier,omitempty" doc:"The sender's tier, as the document claims."`
	// To may be All. Then the document is for every participant that the sender may contact or, if ToTier is set, for those of them
	// with that tier.
	To     string `json:"to,omitempty" doc:"The recipient: an agent's id, or all."`
	ToTier Tier   `json:"to_tier,omitempty" doc:"With all: only agents of this tier."`
	// Channel is the document's channel. Without one, the message belongs to the direct conversation of From and To.
	Channel  string    `json:"channel,omitempty" doc:"agentos: the channel that the document is in."`
	At       time.Time `json:"at" doc:"When the document was written, as it claims."`
	ReplyTo  string    `json:"reply_to,omitempty" doc:"The id, in its own format, of the document it answers."`
	History  bool      `json:"history,omitempty" doc:"The hub stores the document as history and does not deliver it."`
	Queue    bool      `json:"queue,omitempty" doc:"blackboard: a request without a recipient."`
	Callback string    `json:"callback,omitempty" doc:"A conversation or NATS subject that also gets the response."`
	// Draft is the message without an address. It has a type, priority, ttl, deadline, trace, content, payload, metadata and
	// sequence.
	Draft     Draft     `json:"draft" doc:"The message, without an address."`
	Warnings  []string  `json:"warnings,omitempty" doc:"What looks wrong in the document."`
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"After this time the hub only logs the document."`
	// Refused says why the bridge itself refused the document. The bridge sets it only if it could read the id and the sender. The
	// hub does not turn the document into a message, but tells the sender.
	Refused *Error `json:"refused,omitempty" doc:"Why the bridge refused the document. It becomes no message, and the hub tells its sender."`
}

// Arrived is the result of importing an arrival.
type Arrived struct {
	Message   string   `json:"message,omitempty" doc:"The message that the hub stored."`
	Duplicate bool     `json:"duplicate,omitempty" doc:"The document was imported before."`
	Notices   []string `json:"notices,omitempty" doc:"What the sender should know."`
	// Error says why the hub refused the arrival. E001 and E003 are final. After any other code the file stays in place, and the
	// bridge retries.
	Error *Error `json:"error,omitempty" doc:"Why it was refused. E001 and E003 are final; the bridge retries after any other code."`
}

// Departure is a message to write into a bridged tree. The hub fixes its file name before the bridge writes the file.
type Departure struct {
	ID        string  `json:"id" doc:"The departure's id, for reports."`
	Name      string  `json:"name" doc:"The id in the tree's format. It never changes; the file is <name>.json."`
	Message   Message `json:"message" doc:"The message."`
	Recipient string  `json:"recipient,omitempty" doc:"The agent that gets the file in its inbox; none in a channel."`
	Channel   string  `json:"channel,omitempty" doc:"agentos: the channel that gets the file."`
	// Sequence is the pair_seq of the delivery.
	Sequence int64 `json:"sequence,omitempty" doc:"The count of deliveries from this sender to this recipient, from 1."`
	// ReplyTo is set if the answered document is in this tree.
	ReplyTo  string `json:"reply_to,omitempty" doc:"The id, in the tree's format, of the document it answers."`
	Wakes    bool   `json:"wakes,omitempty" doc:"Whether the message wakes the recipient."`
	Final    bool   `json:"final,omitempty" doc:"Of an error: the hub makes no further attempt."`
	ByRun    bool   `json:"by_run,omitempty" doc:"A run of the sender posted it."`
	Task     *Task  `json:"task,omitempty" doc:"The task that the message requests or ends."`
	FromTier Tier   `json:"from_tier,omitempty" doc:"The sender's tier."`
	ToTier   Tier   `json:"to_tier,omitempty" doc:"The recipient's tier."`
	// Written reports whether the file was renamed into place before. The bridge must then report the file's state.
	Written bool `json:"written,omitempty" doc:"The file was written before."`
}

// DepartureQuery selects the departures that a bridge can take.
type DepartureQuery struct {
	Channels []string      // agentos: the existing directories
	Written  bool          // departures whose file was written and not yet removed; else departures to write
	After    string        // only departures after this id
	Limit    int           // default 100
	Wait     time.Duration // how long to wait for the first departure to write
}

// DepartureReport is a bridge's report of a departure.
type DepartureReport struct {
	ID    string         `json:"id" doc:"The departure's id."`
	State DepartureState `json:"state" doc:"The new state: written, seen (the file was removed, or moved to processed/), failed for good, or evicted."`
	Error *Error         `json:"error,omitempty" doc:"Why it failed."`
}

// Beat is the contents of a presence file: the state that an agent in a tree reports.
type Beat struct {
	Agent    string    `json:"agent" doc:"The agent's id."`
	State    State     `json:"state" doc:"AWAKE or OFFLINE."`
	Substate Substate  `json:"substate,omitempty" doc:"What the agent does."`
	At       time.Time `json:"at" doc:"When the presence file was written, as the file claims."`
	Interval int64     `json:"interval,omitempty" doc:"How often the agent renews its presence file, in seconds. The agent is away after twice that time without renewal. Default: 900."`
}

// PresentFor returns how long the agent counts as present after this report: twice its interval. A missing or invalid interval
// counts as PresenceInterval.
func (b Beat) PresentFor() time.Duration {
	if b.Interval <= 0 || b.Interval > int64(24*time.Hour/time.Second) {
		return 2 * PresenceInterval
	}
	return 2 * time.Duration(b.Interval) * time.Second
}

// BridgeTasks lists the changed tasks of the agents in a tree, and the position up to which the hub has read its order. For a
// tree of channels it lists failed runs instead of tasks.
type BridgeTasks struct {
	Tasks      []Task      `json:"tasks" doc:"The tasks."`
	FailedRuns []FailedRun `json:"failed_runs,omitempty" doc:"agentos: the runs that failed in the tree's channels."`
	UpTo       int64       `json:"up_to" doc:"The position up to which the hub's order was read. Pass it as after in the next call."`
	More       bool        `json:"more,omitempty" doc:"There are more changed tasks."`
}

// FailedRun is a run of the hub that failed in a channel of a bridged tree.
type FailedRun struct {
	Run     string    `json:"run" doc:"The short name of the run."`
	Agent   string    `json:"agent" doc:"The agent that the run belonged to."`
	Channel string    `json:"channel" doc:"The channel in which the agent was woken."`
	Attempt int       `json:"attempt" doc:"The attempt number."`
	At      time.Time `json:"at" doc:"When it failed."`
	// Name is the name of the newest document that woke the run, if that document is in this tree.
	Name  string `json:"name,omitempty" doc:"The id, in the tree's format, of the document that woke it."`
	Error *Error `json:"error,omitempty" doc:"Why it failed."`
}

// BridgeHub has the calls of the hub that a bridge uses. They are the same inside and outside of the hub's process. Only owners
// may make them; other callers get E001. Each call with the id of a bridge returns E003 if the bridge does not exist or was
// removed. The bridge must then end.
type BridgeHub interface {
	BridgeReader
	BridgeArrivals
	BridgeDepartures
}

// BridgeReader has the calls by which a bridge reads from the hub and reports its status.
type BridgeReader interface {
	// Bridge returns the bridge with this id, and its state.
	Bridge(ctx context.Context, id string) (BridgeView, error)
	// Who returns the presence of every participant.
	Who(ctx context.Context) ([]Presence, error)
	// BridgeTasks returns the tasks that have changed after a number in the hub's order; after 0 it returns all tasks. For a tree of
	// channels it returns the runs that failed there after that number; after 0 it returns none. If nothing has changed, the lists
	// are empty.
	BridgeTasks(ctx context.Context, id string, after int64) (BridgeTasks, error)
	// NoteBridge stores what a bridge reports, in place of the report before. The first report of a running bridge with ScannedAt
	// sets Reached, unless the bridge is paused.
	NoteBridge(ctx context.Context, id string, s BridgeStatus) error
}

// BridgeArrivals has the calls by which a bridge imports from a tree.
type BridgeArrivals interface {
	// Unknown returns those of the given files that the hub has not imported yet, in their order. The list is empty if the hub has
	// imported all of them.
	Unknown(ctx context.Context, id string, files []BridgeFile) ([]BridgeFile, error)
	// Arrive imports documents in their order and returns the result for each, in the same order. The hub stores a repeated document
	// once. If the hub itself fails, Arrive returns the results so far and an error, and imports none of the later documents.
	Arrive(ctx context.Context, id string, list []Arrival) ([]Arrived, error)
	// Beat stores what the presence files of the tree say about the agents that live there.
	Beat(ctx context.Context, id string, beats []Beat) error
}

// BridgeDepartures has the calls by which a bridge exports into a tree.
type BridgeDepartures interface {
	// Departures returns the departures that a query selects. The list is empty if there are none when the time to wait is over.
	Departures(ctx context.Context, id string, q DepartureQuery) ([]Departure, error)
	// Report stores the new state of departures. Repeating a report changes nothing.
	Report(ctx context.Context, id string, reports []DepartureReport) error
}

// Protocol is a format and its version.
type Protocol struct {
	Name    string `json:"name" doc:"agentos, clawos or routing."`
	Version string `json:"version" doc:"The newest supported version. Older versions with the same major number are supported too."`
}

// Issues lists why a document or a payload is invalid, in the form of the Routing Protocol.
type Issues struct {
	Error  string   `json:"error" doc:"VALIDATION_FAILED."`
	MsgID  string   `json:"msg_id" doc:"The id that the document has in its own format, or the sender's key."`
	Issues []string `json:"issues" doc:"Every problem, each as a sentence."`
	Action string   `json:"action" doc:"What the hub did with the document."`
}
