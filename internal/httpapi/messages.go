package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

type postInput struct {
	Key  string `header:"Idempotency-Key" doc:"The same as idempotency_key in the body. The hub does not store a message again if the sender used the key within 24 hours."`
	Body parley.Draft
}

func post(ctx context.Context, c *call, in *postInput) (parley.Receipt, error) {
	draft := in.Body
	var err error
	if draft.IdempotencyKey, err = idempotencyKey(in.Key, draft.IdempotencyKey); err != nil {
		return parley.Receipt{}, err
	}
	return c.hub.Post(ctx, c.caller, draft)
}

// postedStatus returns 201 for a message that was stored now, and 200 for one that had been stored before.
func postedStatus(r parley.Receipt) int {
	if r.Duplicate {
		return http.StatusOK
	}
	return http.StatusCreated
}

// messageInput is the input of an operation on one message.
type messageInput struct {
	Message string `path:"message" doc:"The message: its short name, its id, or a beginning or end of the id of six characters or more." example:"m1234"`
}

type showMessageInput struct {
	Message string  `path:"message" doc:"The message: its short name, its id, or a beginning or end of the id of six characters or more." example:"m1234"`
	Wait    float64 `query:"wait" minimum:"0" maximum:"50" doc:"How many seconds to wait until the message reaches the state in for."`
	For     string  `query:"for" enum:"delivered,seen,answered" doc:"The state to wait for; default: seen."`
}

func showMessage(ctx context.Context, c *call, in *showMessageInput) (parley.Shown, error) {
	wait, err := checkWait(in.Wait)
	if err != nil {
		return parley.Shown{}, err
	}
	if wait == 0 && in.For == "" {
		return c.hub.Message(ctx, c.caller, in.Message)
	}
	state := parley.DeliveryState(in.For)
	if state == "" {
		state = parley.DeliverySeen
	}
	return whileWaiting(ctx, c, func(ctx context.Context) (parley.Shown, error) {
		return c.hub.AwaitState(ctx, c.caller, in.Message, state, wait)
	})
}

// checkWait returns a number of seconds as a duration, or E003 if a call may not wait that long.
func checkWait(n float64) (time.Duration, error) {
	wait := seconds(n)
	if wait < 0 || wait > maxWait {
		return 0, parley.Errorf(parley.BadInput, "the wait is %g seconds", n).Suggest("wait 0 to %g seconds, and ask again", maxWait.Seconds())
	}
	return wait, nil
}

func thread(ctx context.Context, c *call, in *messageInput) (parley.Thread, error) {
	return c.hub.Thread(ctx, c.caller, in.Message)
}

type redactInput struct {
	Message string `path:"message" doc:"The message: its short name, its id, or a beginning or end of the id of six characters or more." example:"m1234"`
	Body    RedactRequest
}

// RedactRequest has the reason for erasing a message or a note.
type RedactRequest struct {
	Reason string `json:"reason,omitempty" doc:"Why, for the audit log."`
}

func redact(ctx context.Context, c *call, in *redactInput) (parley.Message, error) {
	return c.hub.Redact(ctx, c.caller, in.Message, in.Body.Reason)
}

type traceInput struct {
	Trace string `path:"trace" doc:"A trace's id, or the name of a message, run, approval or task in it: its short name or id."`
}

func trace(ctx context.Context, c *call, in *traceInput) (parley.Traced, error) {
	return c.hub.Trace(ctx, c.caller, in.Trace)
}

type searchInput struct {
	Query  string `query:"q" doc:"Words, \"phrases\", -words that must not occur, and from: in: to: type: task: trace: before: after: is:unanswered." example:"deploy from:arya"`
	Limit  int    `query:"limit" minimum:"0" maximum:"100" doc:"The most items to return; 0 or missing: 20."`
	Cursor string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

// Found is a page of search results, the best first.
type Found struct {
	Items  []parley.Hit `json:"items" doc:"The page."`
	Next   string       `json:"next,omitempty" doc:"Pass it as ?cursor= to continue the search. Missing at the end of the search."`
	Behind bool         `json:"behind,omitempty" doc:"The caller's own last message cannot be found yet."`
}

func search(ctx context.Context, c *call, in *searchInput) (Found, error) {
	place, err := decodeCursor[parley.SearchCursor](in.Cursor)
	if err != nil {
		return Found{}, err
	}
	result, err := c.hub.Search(ctx, c.caller, parley.SearchRequest{Query: in.Query, Limit: in.Limit, Cursor: place})
	found := Found{Items: result.Hits, Behind: result.Behind}
	if result.Next != nil {
		found.Next = encodeCursor(result.Next)
	}
	return found, err
}
