package hub

import (
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/upkeep"
)

// The types that the use cases take and return, under one name for all callers. The package that defines a type documents it.

type (
	// Caller is who calls a use case, and by which way.
	Caller = unit.Caller
	// Config configures a hub.
	Config = unit.Config
	// Approvals configures how long approvals wait.
	Approvals = unit.Approvals
	// Asks bounds asks.
	Asks = unit.Asks
	// HeadKeeper keeps the head of the audit log outside the database.
	HeadKeeper = unit.HeadKeeper
	// RetentionLimit says how long and how much of one kind is kept.
	RetentionLimit = unit.RetentionLimit
	// Load bounds the concurrent calls of one participant.
	Load = unit.Load
	// Loops configures the loop breaker.
	Loops = unit.Loops
	// Observer is told how long writes and reads took.
	Observer = unit.Observer
	// Rate is a rate limit.
	Rate = unit.Rate
	// Retention says what is kept for how long.
	Retention = unit.Retention

	// Operation is what the hub demands of the caller of a use case.
	Operation = unit.Operation
	// Callers says which participants may call an operation.
	Callers = unit.Callers
	// Holding says in which modes a call waits for an approval.
	Holding = unit.Holding
	// CallKind is a sort of call, by what it costs the hub.
	CallKind = unit.CallKind
	// Underway is a call that counts against the limits of its caller.
	Underway = unit.Underway
	// SharedSlot is the slot of a call that waits, in which one of its use cases at a time waits too.
	SharedSlot = unit.SharedSlot

	// Assignment is a run that an agent is to start.
	Assignment = runs.Assignment
	// RunOptions are the limits of the next run.
	RunOptions = runs.RunOptions
	// RunPlan is how a runtime runs an agent.
	RunPlan = runs.RunPlan
	// DueNotice is a notice that is due.
	DueNotice = notices.DueNotice
	// Figures are counts of what is in the hub.
	Figures = upkeep.Figures
	// Followed is an event for a follower.
	Followed = feed.Followed
	// Follower is told everything that happens, in order.
	Follower = feed.Follower
	// Connection is where a call comes from.
	Connection = access.Connection
	// Subscription is a stream of events.
	Subscription = feed.Subscription
)

// Who may call an operation.
const (
	Anyone           = unit.Anyone
	Everyone         = unit.Everyone
	Owner            = unit.Owner
	LocalOwner       = unit.LocalOwner
	People           = unit.People
	SelfOrOwner      = unit.SelfOrOwner
	ManagerOrOwner   = unit.ManagerOrOwner
	MemberOrOwner    = unit.MemberOrOwner
	SessionOnly      = unit.SessionOnly
	Itself           = unit.Itself
	Self             = unit.Self
	SuperiorOrOwner  = unit.SuperiorOrOwner
	RunnerOrOwner    = unit.RunnerOrOwner
	AgentOrOwner     = unit.AgentOrOwner
	ConcernedOrOwner = unit.ConcernedOrOwner
	AssigneeOrOwner  = unit.AssigneeOrOwner
	RequesterOrOwner = unit.RequesterOrOwner
	CallerOrDecider  = unit.CallerOrDecider
	Decider          = unit.Decider
)

// When a call of an operation needs an approval.
const (
	NeverHeld      = unit.NeverHeld
	HeldStrict     = unit.HeldStrict
	HeldSupervised = unit.HeldSupervised
)

// The kinds of calls, by what they cost the hub.
const (
	Reading   = unit.Reading
	Searching = unit.Searching
	Changing  = unit.Changing
	Waiting   = unit.Waiting
	Streaming = unit.Streaming
	Uploading = unit.Uploading
	Sending   = unit.Sending
)

// MaxUnread is the highest count of unread messages of a conversation.
const MaxUnread = conversations.MaxUnread

// ErrReadAgain is the error of a follower that waited so long that its caller must read the current state again.
var ErrReadAgain = feed.ErrReadAgain

// Functions that need no hub.
var (
	DefaultLoad = unit.DefaultLoad
	Operations  = unit.Operations
	ShareSlot   = unit.ShareSlot
	VerifyAudit = access.VerifyAudit
	InPublic    = upkeep.InPublic
)
