package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/parley-hub/parley"
)

// Status returns the status of the hub: its version, age, totals, disk space and alerts.
func (c *Client) Status(ctx context.Context) (parley.HubStatus, error) {
	return fetch[parley.HubStatus](ctx, c, nil, "status")
}

// Attention returns what needs the caller's attention, at most limit items of each kind; with 0, at most 10.
func (c *Client) Attention(ctx context.Context, limit int) (parley.Attention, error) {
	return fetch[parley.Attention](ctx, c, query("limit", count(limit)), "attention")
}

// Backup lets the hub make a backup in a new directory on the hub's machine. Only owners may call it, and only over the socket.
func (c *Client) Backup(ctx context.Context, directory string) (parley.Backup, error) {
	raw, err := encode(map[string]string{"directory": directory})
	if err != nil {
		return parley.Backup{}, err
	}
	return callWithoutLimit[parley.Backup](ctx, c, request{method: http.MethodPost, body: raw}, "backups")
}

// CheckDeep lets the hub verify all stored data, and returns the report. It calls progress now and then with the report so
// far, unless progress is nil. Only owners may call it.
func (c *Client) CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (report parley.CheckReport, err error) {
	answer, err := c.open(ctx, request{method: http.MethodPost}, "checks")
	if err != nil {
		return report, err
	}
	defer func() { _ = answer.Close() }()
	lines := json.NewDecoder(io.LimitReader(answer, maxAnswer))
	for {
		var line struct {
			Progress, Report *parley.CheckReport
		}
		switch err := lines.Decode(&line); {
		case err != nil:
			return report, c.streamError(err)
		case line.Report != nil:
			return *line.Report, nil
		case line.Progress != nil && progress != nil:
			progress(*line.Progress)
		}
	}
}

// streamError returns the error of an answer in lines that ends too early or cannot be decoded.
func (c *Client) streamError(err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return c.notAHub("an answer that breaks off").From(err)
}
