package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/parley-hub/parley"
)

type listRunsInput struct {
	Agent        string `query:"agent" doc:"Only runs of this agent."`
	Conversation string `query:"conversation" doc:"Only runs in this conversation: an id, a name or #name."`
	Live         bool   `query:"live" doc:"Only runs that have not ended."`
	Limit        int    `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: the default."`
	Cursor       string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

func listRuns(ctx context.Context, c *call, in *listRunsInput) (page List[parley.Run], err error) {
	size := pageInput{Limit: in.Limit}.size()
	filter := parley.RunFilter{Agent: in.Agent, Conversation: in.Conversation, Live: in.Live, Limit: size}
	if place, err := decodeCursor[string](in.Cursor); err != nil {
		return page, err
	} else if place != nil {
		filter.Before = *place
	}
	page.Items, err = c.hub.Runs(ctx, c.caller, filter)
	if len(page.Items) == size {
		page.Next = encodeCursor(page.Items[size-1].ID)
	}
	return page, err
}

type runInput struct {
	Run string `path:"run" doc:"The run: its short name, its id, or a beginning or end of the id of six characters or more." example:"run-12"`
}

func showRun(ctx context.Context, c *call, in *runInput) (parley.RunView, error) {
	return c.hub.Run(ctx, c.caller, in.Run)
}

// runOutput sends the output of a run as plain bytes, which no browser shows or runs.
func runOutput(w http.ResponseWriter, r *http.Request, c *call, in *runInput) error {
	output, err := c.hub.RunOutput(r.Context(), c.caller, in.Run)
	if err != nil {
		return err
	}
	asFile(w, "run.log", int64(len(output)))
	if r.Method != http.MethodHead {
		_, err = w.Write(output)
	}
	return err
}

type cancelRunInput struct {
	Run  string `path:"run" doc:"The run: its short name, its id, or a beginning or end of the id of six characters or more." example:"run-12"`
	Body CancelRequest
}

// CancelRequest has the reason for cancelling a run or a task.
type CancelRequest struct {
	Reason string `json:"reason,omitempty" doc:"Why."`
}

func cancelRun(ctx context.Context, c *call, in *cancelRunInput) (parley.Run, error) {
	return c.hub.CancelRun(ctx, c.caller, in.Run, in.Body.Reason)
}

type commandInput struct {
	Agent string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"arya"`
	Body  parley.Command
}

func command(ctx context.Context, c *call, in *commandInput) (parley.Receipt, error) {
	return c.hub.Command(ctx, c.caller, in.Agent, in.Body)
}

type reportHealthInput struct {
	Agent string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"arya"`
	Body  HealthReport
}

// HealthReport is the health that an agent reports about itself.
type HealthReport struct {
	Health   string          `json:"health" enum:"healthy,degraded,unhealthy" doc:"The health that the agent reports: healthy, degraded or unhealthy."`
	Metrics  json.RawMessage `json:"metrics,omitempty" doc:"The metrics that the agent reports, as a JSON object."`
	UptimeMS int64           `json:"uptime_ms,omitempty" minimum:"0" doc:"Milliseconds since the agent was started."`
}

// reportHealth stores the health that the caller reports about itself. The path must name the caller, so that an agent does not
// report for another one by mistake.
func reportHealth(ctx context.Context, c *call, in *reportHealthInput) (health parley.Health, err error) {
	mine, err := c.isMe(ctx, in.Agent)
	if err != nil {
		return health, err
	}
	if !mine {
		return health, parley.Errorf(parley.NotPermitted, "%s cannot report the health of %s", c.caller.Agent, shorten(in.Agent)).
			Suggest("agents report their own health")
	}
	b := in.Body
	return c.hub.ReportHealth(ctx, c.caller, parley.Health{Health: b.Health, Metrics: b.Metrics, UptimeMS: b.UptimeMS})
}

type resumePairInput struct {
	Agent string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"arya"`
	Body  PairRequest
}

// PairRequest names the other agent of a pair.
type PairRequest struct {
	With string `json:"with" doc:"The other agent." example:"gendry"`
}

// Resumed says whether the hub had stopped the pair.
type Resumed struct {
	Resumed bool `json:"resumed" doc:"False if the hub had not stopped the pair."`
}

func resumePair(ctx context.Context, c *call, in *resumePairInput) (Resumed, error) {
	resumed, err := c.hub.ResumePair(ctx, c.caller, in.Agent, in.Body.With)
	return Resumed{resumed}, err
}
