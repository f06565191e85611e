package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// MessageLog is the message log that the API reads.
type MessageLog interface {
	// Tail passes the newest lines that a filter selects to send, the newest last. With follow, it also passes new lines, until
	// ctx is done. If send returns an error, Tail stops and returns the error.
	Tail(ctx context.Context, f parley.LogFilter, follow bool, send func([]parley.LogLine) error) error
}

const (
	defaultLines = 50
	maxLogLines  = 10_000
)

type readLogInput struct {
	Trace  string `query:"trace" doc:"Only lines of this trace, by its id or that of one of its messages."`
	Agent  string `query:"agent" doc:"Only lines of messages from or for this agent."`
	Status string `query:"status" enum:"sent,delivered,processed,failed" doc:"Only lines with this status."`
	Since  string `query:"since" doc:"Only lines since this time." example:"2026-02-25T18:50:00Z"`
	Limit  int    `query:"limit" minimum:"0" maximum:"10000" doc:"The most lines to return, the newest; 0 or missing: 50."`
	Follow bool   `query:"follow" doc:"Also send new lines, until the connection is closed."`
}

// readMessageLog sends lines of the message log, unchanged.
func readMessageLog(w http.ResponseWriter, r *http.Request, c *call, in *readLogInput) error {
	filter, err := c.logFilter(r.Context(), in)
	if err != nil {
		return err
	}
	if c.options.Messages == nil {
		return parley.Errorf(parley.Unavailable, "this hub keeps no message log").
			Suggest("give log.messages.size a size in config.yaml, and restart the hub")
	}
	w.Header().Set("Content-Type", jsonLines)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = whileValid(r.Context(), c, func(ctx context.Context) (noInput, error) {
		return noInput{}, c.options.Messages.Tail(ctx, filter, in.Follow, func(lines []parley.LogLine) error { return sendLines(w, lines) })
	})
	return err
}

func (c *call) logFilter(ctx context.Context, in *readLogInput) (f parley.LogFilter, err error) {
	f, err = c.hub.LogFilter(ctx, c.caller, parley.LogFilter{Trace: in.Trace, Agent: in.Agent, Status: in.Status, Limit: in.Limit})
	if err != nil {
		return f, err
	}
	if in.Limit == 0 {
		f.Limit = defaultLines
	}
	if f.Limit < 0 || f.Limit > maxLogLines {
		return f, parley.Errorf(parley.BadInput, "the limit is %d", in.Limit).Suggest("use 1 to %d", maxLogLines)
	}
	if in.Since != "" {
		if f.Since, err = time.Parse(time.RFC3339, in.Since); err != nil {
			return f, parley.Errorf(parley.BadInput, "since cannot be %q", shorten(in.Since)).Suggest("give a time like 2026-02-25T18:50:00Z")
		}
	}
	return f, nil
}

// sendLines sends lines and flushes them. It returns os.ErrDeadlineExceeded if the reader does not read.
func sendLines(w http.ResponseWriter, lines []parley.LogLine) error {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(sendTime)) // only a real connection has one
	out := json.NewEncoder(w)
	for _, line := range lines {
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return control.Flush()
}

// metrics answers with the hub's metrics.
func metrics(w http.ResponseWriter, r *http.Request, c *call, _ *noInput) error {
	if err := c.hub.MayObserve(r.Context(), c.caller); err != nil {
		return err
	}
	if c.options.Metrics == nil {
		return parley.Errorf(parley.Unavailable, "this hub has no metrics").Suggest("start it with: parley up")
	}
	c.options.Metrics.ServeHTTP(w, r)
	return nil
}
