package storage

import (
	"github.com/parley-hub/parley"
)

// Tx gives access to the stored rows within one transaction. It has one interface for each table.
type Tx interface {
	ParticipantTables
	ConversationTables
	DeliveryTables
	WorkTables
	BridgeTables
	HistoryTables
	ReadLimits
}

// ParticipantTables hold agents and what they may do.
type ParticipantTables interface {
	Agents() AgentStore
	Tokens() TokenStore
	Permissions() PermissionStore
}

// ConversationTables hold conversations, their messages and notes, and the ways to find them.
type ConversationTables interface {
	Conversations() ConversationStore
	Members() MemberStore
	Messages() MessageStore
	Artifacts() ArtifactStore
	Search() SearchStore
	Names() NameStore
	Notes() NoteStore
}

// DeliveryTables hold deliveries, the client sessions that take them, and the agents that wait for each other.
type DeliveryTables interface {
	Deliveries() DeliveryStore
	Queue() QueueStore
	Waits() WaitStore
	Loops() LoopStore
	Sessions() SessionStore
}

// WorkTables hold runs, tasks, approvals and the notices about them.
type WorkTables interface {
	Runs() RunStore
	Tasks() TaskStore
	Approvals() ApprovalStore
	Notices() NoticeStore
}

// BridgeTables hold bridges, and how far the readers of the event log have come.
type BridgeTables interface {
	Bridges() BridgeStore
	Cursors() CursorStore
}

// HistoryTables hold the logs, and the numbers that retention and checks use.
type HistoryTables interface {
	Log() LogStore
	Retention() RetentionStore
	Counts() CountStore
}

// ReadLimits change how the reads of one transaction behave.
type ReadLimits interface {
	// LimitBytes limits how many bytes of messages, deliveries, tasks, approvals and runs this transaction reads from now on. The
	// read that exceeds the limit fails with E003 and the reason too_large, and so do all later reads.
	LimitBytes(bytes int64)
	// SkipUnreadable makes the reads of this transaction leave out each row of a task, run or approval that cannot be read, until
	// the caller calls restore. For each such row the store notes the damage and calls report, unless report is nil. It may call
	// report several times for one row. Without SkipUnreadable, a read fails at such a row.
	SkipUnreadable(report func(parley.Damage)) (restore func())
}
