package httpapi

import (
	"context"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// bridgeInput is the input of an operation on one bridge.
type bridgeInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
}

func listBridges(ctx context.Context, c *call, _ *noInput) (List[parley.BridgeView], error) {
	return listOf(c.hub.Bridges(ctx, c.caller))
}

type addBridgeInput struct {
	Async bool `query:"async" doc:"Answer at once, before the bridge has read the tree. Show the bridge with wait to learn when it has."`
	Body  parley.NewBridge
}

// addBridgeWait is how long adding a bridge waits for the first scan of the tree.
const addBridgeWait = 30 * time.Second

func addBridge(ctx context.Context, c *call, in *addBridgeInput) (parley.BridgeView, error) {
	added, err := c.hub.AddBridge(ctx, c.caller, in.Body)
	if err != nil || in.Async {
		return added, err
	}
	return whileWaiting(ctx, c, func(ctx context.Context) (parley.BridgeView, error) {
		view, err := c.hub.AwaitBridge(ctx, c.caller, added.ID, addBridgeWait)
		view.Notices = added.Notices
		return view, err
	})
}

type showBridgeInput struct {
	Bridge string  `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Wait   float64 `query:"wait" minimum:"0" maximum:"50" doc:"How many seconds to wait until the bridge has read the tree once. The hub answers earlier if the bridge cannot read the tree."`
}

func showBridge(ctx context.Context, c *call, in *showBridgeInput) (parley.BridgeView, error) {
	wait, err := checkWait(in.Wait)
	if err != nil {
		return parley.BridgeView{}, err
	}
	if wait == 0 {
		return c.bridges().Bridge(ctx, in.Bridge)
	}
	return whileWaiting(ctx, c, func(ctx context.Context) (parley.BridgeView, error) {
		return c.hub.AwaitBridge(ctx, c.caller, in.Bridge, wait)
	})
}

type changeBridgeInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Body   parley.BridgeChange
}

func changeBridge(ctx context.Context, c *call, in *changeBridgeInput) (parley.BridgeView, error) {
	return c.hub.ChangeBridge(ctx, c.caller, in.Bridge, in.Body)
}

func removeBridge(ctx context.Context, c *call, in *bridgeInput) error {
	return c.hub.RemoveBridge(ctx, c.caller, in.Bridge)
}

// bridges returns the hub's calls for a bridge that runs outside of the hub's process.
func (c *call) bridges() parley.BridgeHub { return c.hub.BridgeAt(c.caller) }

// BridgeFiles is a list of files in a tree.
type BridgeFiles struct {
	Files []parley.BridgeFile `json:"files" doc:"Files of the tree."`
}

type unknownFilesInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Body   BridgeFiles
}

func unknownFiles(ctx context.Context, c *call, in *unknownFilesInput) (BridgeFiles, error) {
	files, err := c.bridges().Unknown(ctx, in.Bridge, in.Body.Files)
	return BridgeFiles{files}, err
}

// ArrivalsRequest has documents from a tree.
type ArrivalsRequest struct {
	Arrivals []parley.Arrival `json:"arrivals" doc:"The documents, in the order in which the hub stores them."`
}

// ArrivalsAnswer has the result for each document.
type ArrivalsAnswer struct {
	Arrived []parley.Arrived `json:"arrived" doc:"The result for each document, in the same order."`
}

type arriveInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Body   ArrivalsRequest
}

func arrive(ctx context.Context, c *call, in *arriveInput) (ArrivalsAnswer, error) {
	list, err := c.bridges().Arrive(ctx, in.Bridge, in.Body.Arrivals)
	return ArrivalsAnswer{list}, err
}

type departuresInput struct {
	Bridge   string  `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Channels string  `query:"channels" doc:"The directories under channels/, separated by commas." example:"agent-os-paper,team-a"`
	Written  bool    `query:"written" doc:"Departures whose file was written and not yet read, instead of departures to write."`
	After    string  `query:"after" doc:"With written: only those after this one."`
	Limit    int     `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: 100."`
	Wait     float64 `query:"wait" minimum:"0" maximum:"50" doc:"How many seconds to wait for the first document to write."`
}

func departures(ctx context.Context, c *call, in *departuresInput) (List[parley.Departure], error) {
	wait, err := checkWait(in.Wait)
	if err != nil {
		return List[parley.Departure]{}, err
	}
	q := parley.DepartureQuery{Channels: commaList(in.Channels), Written: in.Written, After: in.After, Limit: in.Limit, Wait: wait}
	ask := func(ctx context.Context) ([]parley.Departure, error) {
		list, err := c.bridges().Departures(ctx, in.Bridge, q)
		return cutDepartures(list), err
	}
	if wait == 0 {
		return listOf(ask(ctx))
	}
	return listOf(whileWaiting(ctx, c, ask))
}

const maxDepartures = 16 << 20 // bytes of content in one answer, which has at least one departure

// cutDepartures shortens a list that is too large for one answer. The bridge gets the other departures in its next call, because
// it has not written them yet.
func cutDepartures(list []parley.Departure) []parley.Departure {
	size := 0
	for i, d := range list {
		m := d.Message
		if size += len(m.Content.Text) + len(m.Content.Code) + len(m.Payload) + len(m.Metadata); size > maxDepartures {
			return list[:max(i, 1)]
		}
	}
	return list
}

// commaList splits a list of words separated by commas.
func commaList(word string) []string {
	if word == "" {
		return nil
	}
	return strings.Split(word, ",")
}

// ReportsRequest has the new states of departures.
type ReportsRequest struct {
	Reports []parley.DepartureReport `json:"reports" doc:"The new state of each departure."`
}

type reportDeparturesInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Body   ReportsRequest
}

func reportDepartures(ctx context.Context, c *call, in *reportDeparturesInput) error {
	return c.bridges().Report(ctx, in.Bridge, in.Body.Reports)
}

// BeatsRequest reports which agents of a tree are present.
type BeatsRequest struct {
	Beats []parley.Beat `json:"beats" doc:"The contents of the presence files."`
}

type beatInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Body   BeatsRequest
}

func beat(ctx context.Context, c *call, in *beatInput) error {
	return c.bridges().Beat(ctx, in.Bridge, in.Body.Beats)
}

type noteBridgeInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	Body   parley.BridgeStatus
}

func noteBridge(ctx context.Context, c *call, in *noteBridgeInput) error {
	return c.bridges().NoteBridge(ctx, in.Bridge, in.Body)
}

type bridgeTasksInput struct {
	Bridge string `path:"bridge" doc:"The bridge's id." example:"agentos-collab"`
	After  int64  `query:"after" minimum:"0" doc:"Only tasks that changed after this number in the hub's order: up_to of the previous call."`
}

func bridgeTasks(ctx context.Context, c *call, in *bridgeTasksInput) (parley.BridgeTasks, error) {
	return c.bridges().BridgeTasks(ctx, in.Bridge, in.After)
}
