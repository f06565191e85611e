package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/parley-hub/parley"
)

// RunsOptions selects runs. The zero value selects all that the caller may see: an agent sees its own runs, an owner sees all.
type RunsOptions struct {
	Agent        string
	Conversation string
	Live         bool // only runs that have not ended
}

// Runs returns a page of runs, the newest first.
func (c *Client) Runs(ctx context.Context, o RunsOptions, page PageRequest) (Page[parley.Run], error) {
	q := page.query()
	for name, value := range map[string]string{"agent": o.Agent, "conversation": o.Conversation, "live": flag(o.Live)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return fetch[Page[parley.Run]](ctx, c, q, "runs")
}

// Run returns one run with the messages that it posted.
func (c *Client) Run(ctx context.Context, id string) (parley.RunView, error) {
	return fetch[parley.RunView](ctx, c, nil, "runs", id)
}

// RunOutput writes the output of a run so far to w. Of a long output it writes only the end.
func (c *Client) RunOutput(ctx context.Context, id string, w io.Writer) error {
	return c.copyTo(ctx, w, nil, "runs", id, "output")
}

// CancelRun asks the hub to end a run. The run can go on for a short time: it has ended when its state says so.
func (c *Client) CancelRun(ctx context.Context, id, reason string) (parley.Run, error) {
	in := struct {
		Reason string `json:"reason,omitempty"`
	}{reason}
	return call[parley.Run](ctx, c, http.MethodPost, in, "runs", id, "cancel")
}

// Command starts, stops, pauses or resumes an agent, or asks for its health. Owners and the agent's manager may call it.
func (c *Client) Command(ctx context.Context, agent string, command parley.Command) (parley.Receipt, error) {
	return call[parley.Receipt](ctx, c, http.MethodPost, command, "agents", agent, "commands")
}

// ReportHealth stores the health that the caller reports about itself. agent must name the caller. The hub sets the time of
// the report.
func (c *Client) ReportHealth(ctx context.Context, agent string, h parley.Health) (parley.Health, error) {
	in := struct {
		Health   string          `json:"health"`
		Metrics  json.RawMessage `json:"metrics,omitempty"`
		UptimeMS int64           `json:"uptime_ms,omitempty"`
	}{h.Health, h.Metrics, h.UptimeMS}
	return call[parley.Health](ctx, c, http.MethodPut, in, "agents", agent, "health")
}

// ResumePair lets two agents wake each other again after the hub has stopped them because of a loop. It returns false if the
// hub had not stopped them.
func (c *Client) ResumePair(ctx context.Context, agent, other string) (bool, error) {
	in := struct {
		With string `json:"with"`
	}{other}
	out, err := call[struct {
		Resumed bool `json:"resumed"`
	}](ctx, c, http.MethodPost, in, "agents", agent, "resume-pair")
	return out.Resumed, err
}
