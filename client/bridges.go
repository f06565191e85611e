package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// A bridge that runs outside of the hub's process calls the hub through a Client.
var _ parley.BridgeHub = (*Client)(nil)

// Bridges returns all bridges. Only owners may call this and the other methods for bridges.
func (c *Client) Bridges(ctx context.Context) ([]parley.BridgeView, error) {
	page, err := fetch[Page[parley.BridgeView]](ctx, c, nil, "bridges")
	return page.Items, err
}

// AddBridgeWait is how long AddBridge waits for the first scan of the tree.
const AddBridgeWait = 30 * time.Second

// AddBridge connects a directory tree to the hub, and waits until the bridge has scanned the tree once. From then on, the hub
// delivers every file that appears. AddBridge also returns, without an error, after AddBridgeWait, or when the bridge cannot
// read the tree: see the state of the result. If AddBridge returns an error and a bridge with an id, the hub has added the
// bridge, and the client does not know the result of the scan.
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

// AwaitBridge waits until a bridge has scanned its tree once, and returns the bridge. It returns earlier if the bridge cannot
// read the tree, or when the time is up. It waits at most MaxWait.
func (c *Client) AwaitBridge(ctx context.Context, id string, wait time.Duration) (parley.BridgeView, error) {
	wait = min(wait, MaxWait)
	r := request{method: http.MethodGet, query: query("wait", seconds(wait))}
	return callWith[parley.BridgeView](ctx, c, r, nil, wait, "bridges", id)
}

// Bridge returns one bridge with its state.
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

// BridgeTasks returns the tasks of agents that live in the bridge's tree, if they have changed after a number in the hub's
// order. After 0 it returns all of them. See parley.BridgeReader.
func (c *Client) BridgeTasks(ctx context.Context, id string, after int64) (parley.BridgeTasks, error) {
	return fetch[parley.BridgeTasks](ctx, c, query("after", count(after)), "bridges", id, "tasks")
}

// NoteBridge stores the status that a running bridge reports, in place of the report before.
func (c *Client) NoteBridge(ctx context.Context, id string, s parley.BridgeStatus) error {
	return c.do(ctx, http.MethodPut, s, "bridges", id, "status")
}

// Limits of one request, in bytes. The hub accepts a little more.
const (
	maxFiles    = 512 << 10
	maxArrivals = 4 << 20
)

// Unknown returns those of the given files that the hub has not imported yet, in the given order.
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

// Arrive imports documents in their order and returns the result for each, in the same order. If it fails before the last
// document, it returns the results so far and an error.
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

// Beat reports the contents of the tree's presence files.
func (c *Client) Beat(ctx context.Context, id string, beats []parley.Beat) error {
	return inParts(beats, maxFiles, func(part []json.RawMessage) error {
		return c.do(ctx, http.MethodPost, map[string]any{"beats": part}, "bridges", id, "beats")
	})
}

// Departures returns the departures that a query selects: documents to write into the tree, or documents that the bridge has
// written. The list is empty if there are none when the time to wait is over. It waits at most MaxWait.
func (c *Client) Departures(ctx context.Context, id string, q parley.DepartureQuery) ([]parley.Departure, error) {
	wait := min(q.Wait, MaxWait)
	r := request{method: http.MethodGet, query: query(
		"channels", strings.Join(q.Channels, ","), "written", flag(q.Written), "after", q.After, "limit", count(q.Limit),
		"wait", seconds(wait),
	)}
	page, err := callWith[Page[parley.Departure]](ctx, c, r, nil, wait, "bridges", id, "departures")
	return page.Items, err
}

// Report stores the new state of departures. Repeating a report changes nothing.
func (c *Client) Report(ctx context.Context, id string, reports []parley.DepartureReport) error {
	return inParts(reports, maxFiles, func(part []json.RawMessage) error {
		return c.do(ctx, http.MethodPost, map[string]any{"reports": part}, "bridges", id, "reports")
	})
}

// inParts passes the items as JSON to do, in their order and in parts of at most limit bytes. A larger item is a part of its
// own. inParts stops at the first error and returns it.
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
