package unit

import (
	"errors"

	"github.com/parley-hub/parley"
)

// ErrMisuse marks the refusal of a token that is good, but not for this. It is audited: somebody may have stolen it.
var ErrMisuse = errors.New("the token is good for something else")

func ErrReplyOnly() error {
	return parley.Errorf(parley.NotPermitted, "the token is good only for one answer to a message that woke its run").
		Because(parley.Unauthenticated).From(ErrMisuse).
		Suggest(`POST {"in_reply_to": "<id of a trigger>", "content": {"text": "…"}} to /v1/messages`)
}
