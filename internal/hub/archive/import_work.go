package archive

import (
	"context"
	"errors"
	"strings"

	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

func checkPermission(p parley.Permission) error {
	if p.Effect != parley.EffectAllow && p.Effect != parley.EffectDeny {
		return notExported("a rule of %s neither allows nor denies", p.Agent)
	}
	return nil
}

func checkTask(t parley.Task) error {
	if noun, _, ok := parley.ParseShortName(t.ID); !ok || noun != parley.NounTask {
		return notExported("%q is not the id of a task", unit.Shortened(t.ID))
	}
	if !t.Status.Known() {
		return notExported("%s has the unknown status %q", t.ID, t.Status)
	}
	if err := checkIDs(t.ID, t.Conversation, t.Message, t.CallbackTo, t.Callback); err != nil {
		return err
	}
	return checkTexts(t.ID, t.Title, t.DelegationReason, t.Source, t.TraceID, string(t.Outcome))
}

func checkApproval(a parley.Approval) error {
	what := "approval " + a.ID
	if !parley.IsUUID(a.ID) || !a.State.Known() {
		return notExported("%s has the unknown state %q", what, a.State)
	}
	if err := checkIDs(what, a.Run, a.Conversation, a.Trigger, a.Outcome); err != nil {
		return err
	}
	return checkTexts(what, a.Call.Tool, a.Digest, a.Summary, a.Rule, a.Note, a.Result, a.TraceID, a.Source)
}

// addPermission adds a rule, unless the hub has one with the same agent, target and effect.
func (in *HistoryWriter) addPermission(p parley.Permission) (err error) {
	if err := in.resolveAgents(&p.Agent, &p.CreatedBy); err != nil {
		return err
	}
	if p.Target != parley.Anyone {
		if err := in.resolveAgents(&p.Target); err != nil {
			return err
		}
	}
	rules, err := in.Permissions().OfAgent(p.Agent)
	if err != nil {
		return err
	}
	for _, existing := range rules {
		if existing.Target == p.Target && existing.Effect == p.Effect {
			in.counts.Skipped++
			return nil
		}
	}
	in.counts.Permissions++
	return policy.SaveRule(in.Tx, p)
}

// notExported returns the error for a value that no export contains.
func notExported(format string, args ...any) *parley.Error {
	return parley.Errorf(parley.BadInput, format, args...).Suggest("use a file that parley export wrote")
}

func checkIDs(what string, ids ...string) error {
	for _, id := range ids {
		if id != "" && !parley.IsUUID(id) {
			return notExported("%s refers to %q, which is not an id", what, id)
		}
	}
	return nil
}

// checkTexts refuses zero bytes, which PostgreSQL cannot store.
func checkTexts(what string, texts ...string) error {
	for _, text := range texts {
		if strings.Contains(text, "\x00") {
			return notExported("%s has a text with a NUL character", what)
		}
	}
	return nil
}

// resolveAgents replaces names by the ids of agents, which may be removed ones. An empty name stays.
func (in *HistoryWriter) resolveAgents(names ...*string) error {
	for _, name := range names {
		if *name == "" {
			continue
		}
		id, err := in.knownAgent(*name)
		if err != nil {
			return err
		}
		*name = id
	}
	return nil
}

// parseTask returns a function that stores a task.
func (i *importer) parseTask(ctx context.Context, t parley.Task) (func(*HistoryWriter) error, error) {
	if err := checkTask(t); err != nil {
		return nil, err
	}
	if err := i.tasks.load(ctx, i); err != nil {
		return nil, err
	}
	existing := i.tasks.match(t)
	return func(in *HistoryWriter) error {
		if in.tasks.keepNumbers {
			return in.addNumberedTask(t)
		}
		return in.addRenumberedTask(t, existing)
	}, nil
}

// addRenumberedTask adds a task with the next number of this hub, unless the hub has the task.
func (in *HistoryWriter) addRenumberedTask(t parley.Task, existing string) (err error) {
	if existing != "" {
		in.tasks.localNames[t.ID] = existing
		in.counts.Skipped++
		return nil
	}
	exportedID := t.ID
	if err := in.tasks.renameReferences(&t); err != nil {
		return err
	}
	if t.ID, err = in.Tasks().NextID(); err != nil {
		return err
	}
	in.tasks.localNames[exportedID] = t.ID
	return in.insertTask(t, exportedID)
}

// addNumberedTask adds a task with the number it has in the file.
func (in *HistoryWriter) addNumberedTask(t parley.Task) error {
	existing, err := in.Tasks().Get(t.ID)
	if err == nil && existing.TraceID == t.TraceID && existing.CreatedAt.Equal(t.CreatedAt) {
		in.counts.Skipped++
		return nil
	}
	if err == nil {
		return parley.Errorf(parley.BadInput, "%s is another task in this hub", t.ID).Because(parley.Conflict).
			Suggest("import into a hub that has no tasks of its own")
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	return in.insertTask(t, t.ID)
}

// insertTask stores a task as history. It cancels an open task, because nobody works on it here; a caller can retry the task.
// exportedID is the name of the task in the file.
func (in *HistoryWriter) insertTask(t parley.Task, exportedID string) error {
	if err := in.resolveAgents(&t.Requester, &t.OriginalRequester, &t.Assignee); err != nil {
		return err
	}
	if err := in.placeInTree(&t); err != nil {
		return err
	}
	if !t.Status.Ended() {
		t.Status, t.UpdatedAt, t.EndedAt = parley.TaskCancelled, in.Now, &in.Now
		t.Error = parley.Errorf(parley.DependencyFailed, "the task was open when the hub was exported").Suggest("retry the task")
	}
	in.counts.Tasks++
	err := tasks.InsertRow(in.Tx, t)
	if errors.Is(err, parley.ErrNotFound) {
		return notExported("%s refers to a task or a participant that is missing", exportedID)
	}
	return err
}

// placeInTree sets the root and the depth of a task from its parent.
func (in *HistoryWriter) placeInTree(t *parley.Task) error {
	if t.Parent == "" {
		t.Root, t.Depth = t.ID, 0
		return nil
	}
	parent, err := in.Tasks().Get(t.Parent)
	if errors.Is(err, parley.ErrNotFound) {
		return notExported("%s is a subtask of %s, which is missing", t.ID, t.Parent)
	}
	t.Root, t.Depth = parent.Root, parent.Depth+1
	return err
}

// addApproval adds an approval as history, with a number of this hub. An approval whose call was not made yet is withdrawn.
func (in *HistoryWriter) addApproval(a parley.Approval) error {
	_, err := in.Approvals().Get(a.ID)
	if err == nil {
		in.counts.Skipped++
		return nil
	}
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	if err := in.resolveAgents(&a.Agent, &a.Target, &a.Decider, &a.DecidedBy); err != nil {
		return err
	}
	if a.State == parley.ApprovalPending || a.State == parley.ApprovalApproved {
		a.State = parley.ApprovalWithdrawn
	}
	a.Task = in.tasks.localName(a.Task)
	if a.Number, err = in.Approvals().NextNumber(); err != nil {
		return err
	}
	in.counts.Approvals++
	return approvals.InsertRow(in.Tx, a)
}
