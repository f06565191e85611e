package unit

import (
	"time"
)

// MaxWith is how many other participants a conversation may be created with.
const MaxWith = 256

// MostAsks is more than the number of asks that one agent can have open.
const MostAsks = 10_000

// LongestWait is the longest time that a call may wait, so that a mistake in a request ends at some time.
const LongestWait = 24 * time.Hour

// ShortestNumberedPiece is how many characters a piece of an id has at least if all of them are digits.
const ShortestNumberedPiece = 6

// KeyMemory is how long the hub remembers a sender's idempotency key.
const KeyMemory = 24 * time.Hour

// ReadBatch is how many messages the hub reads at once.
const ReadBatch = 200

// ReadBytes is how many bytes of text one trace or thread returns. Without a limit a thousand messages could have 256 MB.
const ReadBytes = 4 << 20

// SweepBatch is how many rows a sweep changes in one update.
const SweepBatch = 200

// PurgeBatch is how many rows a sweep removes in one update.
const PurgeBatch = 1000

// MaxSuggested is how many names the hub compares to find a suggestion.
const MaxSuggested = 1000
