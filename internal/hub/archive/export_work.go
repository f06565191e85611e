package archive

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// allExported reports whether all named agents are in the export. An agent that is not in it was added later.
func (e *exporter) allExported(names ...string) bool {
	for _, name := range names {
		if name != "" && name != parley.Anyone && !e.agents[name] {
			return false
		}
	}
	return true
}

func (e *exporter) writePermissions(ctx context.Context) error {
	var list []parley.Permission
	err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) (err error) {
		list, err = u.Permissions().List()
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range list {
		if !e.allExported(p.Agent, p.Target, p.CreatedBy) {
			continue
		}
		e.totals.Permissions++
		if err := e.writeLine(line{Permission: &p}); err != nil {
			return err
		}
	}
	return nil
}

// noteUnreadable stores that a record is damaged. The store may report the same record several times.
func (e *exporter) noteUnreadable(d parley.Damage) {
	if !e.unreadable[d.ID] {
		e.unreadable[d.ID] = true
		e.unwritten = append(e.unwritten, d)
	}
}

// writeUnreadable writes a line for each damaged record that has none yet.
func (e *exporter) writeUnreadable() error {
	for _, d := range e.unwritten {
		if err := e.writeDamaged(d); err != nil {
			return err
		}
	}
	e.unwritten = nil
	return nil
}

// writeTasks writes tasks by number, each after its parent and dependencies. It leaves out a task whose parent or dependency
// is left out.
func (e *exporter) writeTasks(ctx context.Context) error {
	omitted := map[string]bool{}
	for after := ""; ; {
		var list []parley.Task
		err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) (err error) {
			u.SkipUnreadable(e.noteUnreadable)
			list, err = u.Tasks().Scan(after, exportPage)
			return err
		})
		if err == nil {
			err = e.writeUnreadable()
		}
		if err != nil || len(list) == 0 {
			return err
		}
		for _, t := range list {
			after = t.ID
			if e.unreadable[t.Parent] || slices.ContainsFunc(t.DependsOn, func(id string) bool { return e.unreadable[id] }) {
				e.noteUnreadable(parley.Damage{What: "task", ID: t.ID, Why: "its parent task, or a task it depends on, is damaged"})
				continue
			}
			if !e.allExported(t.Requester, t.OriginalRequester, t.Assignee) || omitted[t.Parent] || slices.ContainsFunc(t.DependsOn, func(id string) bool { return omitted[id] }) {
				omitted[t.ID] = true
				continue
			}
			e.totals.Tasks++
			if err := e.writeLine(line{Task: &t}); err != nil {
				return err
			}
		}
	}
}

// writeApprovals writes approvals without their numbers, the oldest first, because an import numbers them in this order.
func (e *exporter) writeApprovals(ctx context.Context) error {
	ids, err := e.approvalIDs(ctx)
	if err != nil {
		return err
	}
	slices.Reverse(ids)
	for page := range slices.Chunk(ids, exportPage) {
		if err := e.writeApprovalPage(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) writeApprovalPage(ctx context.Context, ids []string) error {
	var list []parley.Approval
	err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) error {
		for _, id := range ids {
			a, err := u.Approvals().Get(id)
			if err != nil {
				return err
			}
			a.Number = 0
			list = append(list, a)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range list {
		e.totals.Approvals++
		if err := e.writeLine(line{Approval: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}

// approvalIDs returns the approvals to write, the newest first.
func (e *exporter) approvalIDs(ctx context.Context) (ids []string, err error) {
	for before := ""; ; {
		var list []parley.Approval
		err := e.View(ctx, e.caller, unit.OpExportHub, func(u *unit.Unit) (err error) {
			u.SkipUnreadable(e.noteUnreadable)
			list, err = u.Approvals().List(parley.ApprovalFilter{Before: before, Limit: exportPage}, "", false)
			return err
		})
		if err == nil {
			err = e.writeUnreadable()
		}
		if err != nil || len(list) == 0 {
			return ids, err
		}
		for _, a := range list {
			before = a.ID
			if e.allExported(a.Agent, a.Target, a.Decider, a.DecidedBy) {
				ids = append(ids, a.ID)
			}
		}
	}
}
