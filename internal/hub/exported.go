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
	Caller     = unit.Caller
	Config     = unit.Config
	Approvals  = unit.Approvals
	Asks       = unit.Asks
	HeadKeeper = unit.HeadKeeper
	Keep       = unit.Keep
	Load       = unit.Load
	Loops      = unit.Loops
	Observer   = unit.Observer
	Rate       = unit.Rate
	Retention  = unit.Retention

	Operation = unit.Operation
	Who       = unit.Who
	Holding   = unit.Holding
	Work      = unit.Work
	Underway  = unit.Underway

	Assignment   = runs.Assignment
	RunOptions   = runs.RunOptions
	RunPlan      = runs.RunPlan
	DueNotice    = notices.DueNotice
	Figures      = upkeep.Figures
	Followed     = feed.Followed
	Follower     = feed.Follower
	Place        = access.Place
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
	VerifyAudit = access.VerifyAudit
	InPublic    = upkeep.InPublic
)
