package mcpapi

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// Caller is the participant that makes a request, with its view of the hub.
type Caller struct {
	ID        string
	Workspace parley.Workspace
	InRun     bool // a run of the hub calls

	// Principal tells one participant from another, also from an earlier one with the same id, and from an owner that acts as it.
	// A session of the protocol and a task are known only to the principal that began them.
	Principal string
	// WatchCredential returns a context that ends with the caller's credential. It is nil if the credential lasts as long as the caller.
	WatchCredential func(ctx context.Context) (held context.Context, release func(), err error)
	// Session is the key of the participant's live session, if the caller has one.
	Session string

	takes   *tools.Takes  // of the session
	maxWait time.Duration // of one call
}

type callerKey struct{}

// callerOf returns the caller of a request.
func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// callerExtra is the name of the caller in the credential that the SDK passes on with each request.
const callerExtra = "parley"

// callerOfRequest returns the caller of a request over HTTP.
func callerOfRequest(req mcp.Request) (Caller, bool) {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return Caller{}, false
	}
	c, ok := extra.TokenInfo.Extra[callerExtra].(Caller)
	return c, ok
}

// participant returns the caller as the tools see it. waits is called when a call begins to wait.
func (c Caller) participant(waits func(string)) tools.Participant {
	return tools.Participant{ID: c.ID, Workspace: c.Workspace, Session: c.Session, Takes: c.takes, InRun: c.InRun, MaxWait: c.maxWait, Waits: waits}
}

// endWithCredential calls end when the caller's credential ends, until ctx is done. A call of a session of the protocol goes on when its
// HTTP request has ended, and the hub watches the credential of the request only.
func (c Caller) endWithCredential(ctx context.Context, end context.CancelCauseFunc) {
	if c.WatchCredential == nil {
		return
	}
	held, release, err := c.WatchCredential(ctx)
	if err != nil {
		end(err)
		return
	}
	context.AfterFunc(held, func() {
		end(context.Cause(held))
		release()
	})
}
