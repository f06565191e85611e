package unit

import (
	"time"
)

// MaxWith is how many others a conversation may be made with.
const MaxWith = 256

// MostAsks is more than there may be open to one agent.
const MostAsks = 10_000

// LongestWait keeps a mistake from holding a call for ever.
const LongestWait = 24 * time.Hour

// ShortestNumberedPiece is the length from which on digits alone may be a piece of an id.
const ShortestNumberedPiece = 6

// KeyMemory is how long a sender's idempotency key is remembered.
const KeyMemory = 24 * time.Hour

const ReadBatch = 200

const ReadBytes = 4 << 20 // of the texts of one trace or thread: a thousand messages may have a quarter of a gigabyte

const SweepBatch = 200

const PurgeBatch = 1000

const MaxSuggested = 1000 // names looked at for a suggestion
