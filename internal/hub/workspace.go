package hub

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// At returns the hub as one participant uses it.
func (h *Hub) At(caller unit.Caller) parley.Workspace { return workspace{h, caller} }

type workspace struct {
	hub    *Hub
	caller unit.Caller
}

func (w workspace) Post(ctx context.Context, d parley.Draft) (parley.Receipt, error) {
	return w.hub.Post(ctx, w.caller, d)
}

func (w workspace) Read(ctx context.Context, conversation string, before int64, limit int) ([]parley.Message, error) {
	return w.hub.History(ctx, w.caller, conversation, parley.Page{Before: before, Limit: limit})
}

func (w workspace) Who(ctx context.Context) ([]parley.Presence, error) {
	return w.hub.Who(ctx, w.caller)
}

func (w workspace) Named(ctx context.Context, ids ...string) ([]parley.Presence, error) {
	return w.hub.Named(ctx, w.caller, ids...)
}

func (w workspace) Conversations(ctx context.Context, f parley.ListFilter) ([]parley.ConversationView, error) {
	list, _, err := w.hub.Conversations(ctx, w.caller, f)
	return list, err
}

func (w workspace) Search(ctx context.Context, r parley.SearchRequest) (parley.SearchResult, error) {
	return w.hub.Search(ctx, w.caller, r)
}

func (w workspace) Peek(ctx context.Context, limit int) (parley.Peeked, error) {
	return w.hub.Peek(ctx, w.caller, limit)
}

func (w workspace) Sleep(ctx context.Context, until time.Time) error {
	_, err := w.hub.Sleep(ctx, w.caller, w.caller.Agent, until)
	return err
}

// Contact may wait for an answer, and counts as a call that waits.
func (w workspace) Contact(ctx context.Context, c parley.Contact) (parley.Contacted, error) {
	underway, err := w.hub.Begin(ctx, w.caller, unit.Waiting)
	if err != nil {
		return parley.Contacted{}, err
	}
	defer underway.End()
	return w.hub.Contact(ctx, underway.Caller, c)
}

func (w workspace) Tasks(ctx context.Context, f parley.TaskFilter) ([]parley.TaskView, error) {
	return w.hub.Tasks(ctx, w.caller, f)
}

func (w workspace) UpdateTask(ctx context.Context, id string, c parley.TaskChange) (parley.TaskView, error) {
	return w.hub.UpdateTask(ctx, w.caller, id, c)
}

func (w workspace) Approvals(ctx context.Context, f parley.ApprovalFilter) ([]parley.Approval, error) {
	return w.hub.Approvals(ctx, w.caller, f)
}

func (w workspace) DecideApproval(ctx context.Context, id string, d parley.Decision) (parley.Approval, error) {
	return w.hub.Decide(ctx, w.caller, id, d)
}
