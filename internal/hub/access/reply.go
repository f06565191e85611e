package access

import (
	"time"

	"github.com/parley-hub/parley"
)

// repliesKept is how long a reply token is remembered after its answer, for a receiver that has lost the receipt.
const repliesKept = time.Hour

// KeptReply says that a token of an ended run has answered, and is remembered for whoever repeats the answer.
func KeptReply(t parley.Token) bool { return t.Kind == parley.TokenReply && t.RevokedAt != nil }
