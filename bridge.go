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
	ID          string     `json:"id" doc:"The bridge's id. Default: the layout and the last part of the root."`
	Layout      Layout     `json:"layout" doc:"How the tree is laid out, and with it in which format its files are."`
	Root        string     `json:"root" doc:"The root of the tree: an absolute path where the bridge runs."`
	Agents      []string   `json:"agents" doc:"Who may speak through it. Those of them with the runtime bridge live in the tree."`
	Channels    []string   `json:"channels,omitempty" doc:"agentos: which directories under channels/ it joins; none: all."`
	QueueAgent  string     `json:"queue_agent,omitempty" doc:"blackboard: who gets the requests for nobody. Default: gm."`
	ReplaySince *time.Time `json:"replay_since,omitempty" doc:"agentos: what was written since is no history, but is delivered."`
	Outside     bool       `json:"outside,omitempty" doc:"parley bridge run runs it, not the hub."`
	Paused      bool       `json:"paused,omitempty" doc:"It does nothing."`
	CreatedBy   string     `json:"created_by" doc:"Who made it."`
	CreatedAt   time.Time  `json:"created_at" doc:"When it was made."`
	Reached     bool       `json:"reached,omitempty" doc:"It has been at its tree: it is not joined to a directory without .parley any more, unless it is paused and resumed."`
	Since       int64      `json:"since" doc:"The newest number of the order when it was added: only what came later is exported."`
}

// NewBridge is a bridge as its owner asks for it. Agents that do not exist are added, with the runtime bridge.
type NewBridge struct {
	ID          string     `json:"id,omitempty" doc:"The bridge's id. Default: the layout and the last part of the root."`
	Layout      Layout     `json:"layout" doc:"How the tree is laid out, and with it in which format its files are."`
	Root        string     `json:"root" doc:"The root of the tree: an absolute path where the bridge runs."`
	Agents      []string   `json:"agents" doc:"Who may speak through it. Those of them with the runtime bridge live in the tree."`
	Channels    []string   `json:"channels,omitempty" doc:"agentos: which directories under channels/ it joins; none: all."`
	QueueAgent  string     `json:"queue_agent,omitempty" doc:"blackboard: who gets the requests for nobody. Default: gm."`
	ReplaySince *time.Time `json:"replay_since,omitempty" doc:"agentos: what was written since is no history, but is delivered."`
	Outside     bool       `json:"outside,omitempty" doc:"parley bridge run runs it, not the hub."`
}

// BridgeChange is what an owner may change of a bridge; what is nil stays.
type BridgeChange struct {
	Agents   *[]string `json:"agents,omitempty" doc:"Who may speak through it. Those of them with the runtime bridge live in the tree."`
	Channels *[]string `json:"channels,omitempty" doc:"agentos: which directories under channels/ it joins; none: all."`
	Paused   *bool     `json:"paused,omitempty" doc:"It does nothing."`
}

// BridgeView is a bridge with what it is doing.
type BridgeView struct {
	Bridge
	State   BridgeState  `json:"state" doc:"What it does: paused, not_running (it waits for parley bridge run), looking (its first look at the tree is not over), running, waiting (something keeps it from a part of its work) or failing (it does not run, and is started again)."`
	Status  BridgeStatus `json:"status" doc:"How it gets on."`
	Notices []string     `json:"notices,omitempty" doc:"What adding it has done besides."`
	// Elsewhere are the agents that live in the trees of other bridges. What is written to them here goes through the hub.
	Elsewhere []string `json:"elsewhere,omitempty" doc:"The agents that live in the trees of other bridges. What is written to them here goes through the hub."`
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
	Running   bool       `json:"running" doc:"Whether it runs."`
	Added     time.Time  `json:"added,omitzero" doc:"When the bridge was added that this is about: what a removed bridge with the same id says does not count."`
	Looked    bool       `json:"looked,omitempty" doc:"Its first look at the tree is over: every file that appears later is delivered."`
	ScannedAt *time.Time `json:"scanned_at,omitempty" doc:"When it last looked through the tree."`
	Imported  int64      `json:"imported" doc:"Files imported, since it was started."`
	Exported  int64      `json:"exported" doc:"Files written, since it was started."`
	Rejected  int64      `json:"rejected" doc:"Files refused, since it was started."`
	Evicted   int64      `json:"evicted" doc:"Files that made room for newer ones, since it was started."`
	Waiting   int64      `json:"waiting" doc:"Files that are not imported yet."`
	// Trouble is, for example, a full disk or a missing permission.
	Trouble string `json:"trouble,omitempty" doc:"Why it does not get on."`
	Stopped bool   `json:"stopped,omitempty" doc:"Its lock in the tree was removed or replaced. It does nothing until it is paused and resumed."`
}

// BridgeFile is a file of a tree, as it is known again. One that never changes once it is there has no digest.
type BridgeFile struct {
	Path   string `json:"path" doc:"Where it is below the root, with slashes."`
	Digest string `json:"digest,omitempty" doc:"The SHA-256 of what it holds; none for a file that never changes once it is there."`
}

// Arrival is a document of a dialect, found in a bridged tree and made canonical. What a dialect cannot say is empty.
type Arrival struct {
	BridgeFile
	Name     string `json:"name" doc:"Its id in its own format."`
	From     string `json:"from" doc:"Who wrote it: an agent's id."`
	FromTier Tier   `json:"from_tier,omitempty" doc:"The sender's tier, as the document claims."`
	// To may be All: everybody whom the sender may contact, of ToTier where given.
	To     string `json:"to,omitempty" doc:"Whom it is for: an agent's id, or all."`
	ToTier Tier   `json:"to_tier,omitempty" doc:"With all: only those of this tier."`
	// Channel is where it is. Elsewhere it lives in the DM of From and To.
	Channel  string    `json:"channel,omitempty" doc:"agentos: the channel it is in."`
	At       time.Time `json:"at" doc:"When it was written, as the document says."`
	ReplyTo  string    `json:"reply_to,omitempty" doc:"The id, in its own format, of what it answers."`
	History  bool      `json:"history,omitempty" doc:"It is stored, and neither delivered nor acted on."`
	Queue    bool      `json:"queue,omitempty" doc:"blackboard: a request for nobody."`
	Callback string    `json:"callback,omitempty" doc:"A conversation or NATS subject that gets the response too."`
	// Draft has type, priority, ttl, deadline, trace, content, payload, metadata, sequence; no address.
	Draft     Draft     `json:"draft" doc:"What it says. It has no address."`
	Warnings  []string  `json:"warnings,omitempty" doc:"What is odd about it."`
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"Past this it is no more than logged."`
	// Refused is why the bridge itself has refused it, as far as its id and its sender could be read: it becomes no message, and
	// its sender is told.
	Refused *Error `json:"refused,omitempty" doc:"Why the bridge has refused it. It becomes no message, and its sender is told."`
}

// Arrived is what became of an arrival.
type Arrived struct {
	Message   string   `json:"message,omitempty" doc:"The message it has become."`
	Duplicate bool     `json:"duplicate,omitempty" doc:"It had come before."`
	Notices   []string `json:"notices,omitempty" doc:"What its sender should know."`
	// Error is why it was refused: E001 or E003 for good; any other may go away by itself, and the file stays where it is
	// until then.
	Error *Error `json:"error,omitempty" doc:"Why it was refused: E001 or E003 for good; any other may go away by itself."`
}

// Departure is a message on its way into a bridged tree. Its name is fixed before it is written.
type Departure struct {
	ID        string  `json:"id" doc:"By which it is reported on."`
	Name      string  `json:"name" doc:"Its id in the tree's format, which stays; the file is <name>.json."`
	Message   Message `json:"message" doc:"The message."`
	Recipient string  `json:"recipient,omitempty" doc:"In whose inbox it is written; none in a channel."`
	Channel   string  `json:"channel,omitempty" doc:"agentos: the channel it is written to."`
	// Sequence is the pair_seq of its delivery.
	Sequence int64 `json:"sequence,omitempty" doc:"How manieth it is from its sender to its recipient."`
	// ReplyTo is set where that is in this tree.
	ReplyTo  string `json:"reply_to,omitempty" doc:"The id, in the tree's format, of what it answers."`
	Wakes    bool   `json:"wakes,omitempty" doc:"Whether it wakes its recipient."`
	Final    bool   `json:"final,omitempty" doc:"Of an error: nothing more is tried."`
	ByRun    bool   `json:"by_run,omitempty" doc:"Its sender's run has posted it."`
	Task     *Task  `json:"task,omitempty" doc:"The task that it asks for, or ends."`
	FromTier Tier   `json:"from_tier,omitempty" doc:"The sender's tier."`
	ToTier   Tier   `json:"to_tier,omitempty" doc:"The recipient's tier."`
	// Written says that its file was renamed into place before; what became of it is to be reported.
	Written bool `json:"written,omitempty" doc:"Its file was written before."`
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
	ID    string         `json:"id" doc:"Which departure."`
	State DepartureState `json:"state" doc:"What became of it: written, seen (it is gone, or in processed/), failed for good, or evicted."`
	Error *Error         `json:"error,omitempty" doc:"Why it has failed."`
}

// Beat is what a presence file of a tree says of an agent that lives there.
type Beat struct {
	Agent    string    `json:"agent" doc:"The agent's id."`
	State    State     `json:"state" doc:"AWAKE or OFFLINE."`
	Substate Substate  `json:"substate,omitempty" doc:"What it does."`
	At       time.Time `json:"at" doc:"When its presence file was written, as the file says."`
	Interval int64     `json:"interval,omitempty" doc:"How often it renews its file, in seconds. It is away after twice that time without a sign. Default: 900."`
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
	Tasks      []Task      `json:"tasks" doc:"The tasks."`
	FailedRuns []FailedRun `json:"failed_runs,omitempty" doc:"agentos: the runs that have failed in its channels."`
	UpTo       int64       `json:"up_to" doc:"How far the order was read: after of the next call."`
	More       bool        `json:"more,omitempty" doc:"There are more that have changed."`
}

// FailedRun is a run of the hub's that has failed in a channel of a bridged tree.
type FailedRun struct {
	Run     string    `json:"run" doc:"The short name of the run."`
	Agent   string    `json:"agent" doc:"Whose run it was."`
	Channel string    `json:"channel" doc:"The channel in which it was woken."`
	Attempt int       `json:"attempt" doc:"The attempt number."`
	At      time.Time `json:"at" doc:"When it failed."`
	// Name is that of the newest document that woke it, where that is in this tree.
	Name  string `json:"name,omitempty" doc:"The id, in the tree's format, of the document that woke it."`
	Error *Error `json:"error,omitempty" doc:"Why it failed."`
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

// Protocol is a format that somebody speaks, in a version.
type Protocol struct {
	Name    string `json:"name" doc:"agentos, clawos or routing."`
	Version string `json:"version" doc:"The newest that is spoken; older ones of the same major are too."`
}

// Issues is why a document or a payload does not have the form it should, in the words of S3.
type Issues struct {
	Error  string   `json:"error" doc:"VALIDATION_FAILED."`
	MsgID  string   `json:"msg_id" doc:"The id that the document has in its own format, or the sender's key."`
	Issues []string `json:"issues" doc:"All that is wrong, each as a sentence."`
	Action string   `json:"action" doc:"What was done with it."`
}
