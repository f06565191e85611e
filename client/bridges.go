package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// A client is the hub as a bridge uses it outside of the hub's process.
var _ parley.BridgeHub = (*Client)(nil)

// Bridges lists all bridges. Owners only, as all that follows.
func (c *Client) Bridges(ctx context.Context) ([]parley.BridgeView, error) {
	page, err := fetch[Page[parley.BridgeView]](ctx, c, nil, "bridges")
	return page.Items, err
}

// FirstLook is how long AddBridge waits for a bridge to look at its tree.
const AddBridgeWait = 30 * time.Second

// AddBridge joins a directory tree to the hub, and waits until the bridge has looked at it: every file that appears later is
// delivered. After FirstLook, or when something keeps the bridge from looking, it returns all the same: the state says so. With
// an error and an id, the bridge was added, and it is not known whether it has looked.
func (c *Client) AddBridge(ctx context.Context, b parley.NewBridge) (parley.BridgeView, error) {
	r := request{method: http.MethodPost, query: query("async", "true")}
	added, err := callWith[parley.BridgeView](ctx, c, r, b, 0, "bridges")
	if err != nil || added.State != parley.BridgeLooking {
		return added, err
	}
	view, err := c.AwaitBridge(ctx, added.ID, AddBridgeWait)
	if err != nil {
		return added, err
	}
	view.Notices = added.Notices
	return view, nil
}

// AwaitBridge returns a bridge once its first look at its tree is over, or earlier when something keeps it from looking, or the
// time is up.
func (c *Client) AwaitBridge(ctx context.Context, id string, wait time.Duration) (parley.BridgeView, error) {
	wait = min(wait, MaxWait)
	r := request{method: http.MethodGet, query: query("wait", seconds(wait))}
	return callWith[parley.BridgeView](ctx, c, r, nil, wait, "bridges", id)
}

// Bridge returns one bridge with how it gets on.
func (c *Client) Bridge(ctx context.Context, id string) (parley.BridgeView, error) {
	return fetch[parley.BridgeView](ctx, c, nil, "bridges", id)
}

// ChangeBridge changes a bridge.
func (c *Client) ChangeBridge(ctx context.Context, id string, b parley.BridgeChange) (parley.BridgeView, error) {
	return call[parley.BridgeView](ctx, c, http.MethodPatch, b, "bridges", id)
}

// RemoveBridge removes a bridge. Its tree stays as it is.
func (c *Client) RemoveBridge(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, nil, "bridges", id)
}

// BridgeTasks returns the tasks in which somebody of a bridge's tree takes part, and which have changed after a number of
// the order.
func (c *Client) BridgeTasks(ctx context.Context, id string, after int64) (parley.BridgeTasks, error) {
	return fetch[parley.BridgeTasks](ctx, c, query("after", count(after)), "bridges", id, "tasks")
}

// NoteBridge replaces what the hub knows of how a bridge gets on.
func (c *Client) NoteBridge(ctx context.Context, id string, s parley.BridgeStatus) error {
	return c.do(ctx, http.MethodPut, s, "bridges", id, "status")
}

// What one request holds at most, in bytes; the hub takes somewhat more.
const (
	maxFiles    = 512 << 10
	maxArrivals = 4 << 20
)

// Unknown returns those of the files that have not arrived, in their order.
func (c *Client) Unknown(ctx context.Context, id string, files []parley.BridgeFile) (unknown []parley.BridgeFile, err error) {
	type list struct {
		Files []parley.BridgeFile `json:"files"`
	}
	err = inParts(files, maxFiles, func(part []json.RawMessage) error {
		got, err := call[list](ctx, c, http.MethodPost, map[string]any{"files": part}, "bridges", id, "unknown")
		unknown = append(unknown, got.Files...)
		return err
	})
	return unknown, err
}

// Arrive stores documents in their order, and says what became of each. Where it fails in the middle, it returns what became
// of those before.
func (c *Client) Arrive(ctx context.Context, id string, arrivals []parley.Arrival) (arrived []parley.Arrived, err error) {
	type list struct {
		Arrived []parley.Arrived `json:"arrived"`
	}
	err = inParts(arrivals, maxArrivals, func(part []json.RawMessage) error {
		got, err := call[list](ctx, c, http.MethodPost, map[string]any{"arrivals": part}, "bridges", id, "arrivals")
		arrived = append(arrived, got.Arrived...)
		return err
	})
	return arrived, err
}

// Beat notes which agents that live in the tree are there.
func (c *Client) Beat(ctx context.Context, id string, beats []parley.Beat) error {
	return inParts(beats, maxFiles, func(part []json.RawMessage) error {
		return c.do(ctx, http.MethodPost, map[string]any{"beats": part}, "bridges", id, "beats")
	})
}

// Departures returns what is to be written into the tree, or what was. It waits at most MaxWait for something.
func (c *Client) Departures(ctx context.Context, id string, q parley.DepartureQuery) ([]parley.Departure, error) {
	wait := min(q.Wait, MaxWait)
	r := request{method: http.MethodGet, query: query(
		"channels", strings.Join(q.Channels, ","), "written", flag(q.Written), "after", q.After, "limit", count(q.Limit),
		"wait", seconds(wait),
	)}
	page, err := callWith[Page[parley.Departure]](ctx, c, r, nil, wait, "bridges", id, "departures")
	return page.Items, err
}

// Report tells what became of departures.
func (c *Client) Report(ctx context.Context, id string, reports []parley.DepartureReport) error {
	return inParts(reports, maxFiles, func(part []json.RawMessage) error {
		return c.do(ctx, http.MethodPost, map[string]any{"reports": part}, "bridges", id, "reports")
	})
}

// inParts hands on a list as JSON, in its order, in parts of at most so many bytes, or of one item that has more. It ends with the
// first error.
func inParts[T any](items []T, limit int, do func([]json.RawMessage) error) error {
	var part []json.RawMessage
	size := 0
	for _, item := range items {
		raw, err := encode(item)
		if err != nil {
			return err
		}
		if size += len(raw); size > limit && len(part) > 0 {
			if err := do(part); err != nil {
				return err
			}
			part, size = nil, len(raw)
		}
		part = append(part, raw)
	}
	if len(part) == 0 {
		return nil
	}
	return do(part)
}
