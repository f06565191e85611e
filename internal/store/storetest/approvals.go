package storetest

import (
	"encoding/json"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var approvalTests = []test{
	{"every field of an approval is stored", approvalFields},
	{"replacing an approval keeps its call and its origin, but can add a task to the origin", approvalPut},
	{"a call from one place has one pending request at a time", approvalRequestTaken},
	{"references to missing rows are refused", approvalRefused},
	{"pending approvals are found by agent and by task", approvalPending},
	{"approvals are listed newest first, by state, agent and decider", approvalLists},
	{"pending approvals are due when they expire or need a reminder", approvalDue},
	{"pending work of a participant is counted", openWorkCounts},
}

// openWorkCounts checks that queued and active tasks and pending approvals count, and ended ones do not.
func openWorkCounts(f *fixture) {
	work := func() storage.OpenWork {
		return read(f, func(tx storage.Tx) (storage.OpenWork, error) { return tx.Counts().OpenWork() })
	}
	f.same("of nothing", work(), storage.OpenWork{})
	f.channelWithMessages(1)
	for i, status := range []parley.TaskState{parley.TaskQueued, parley.TaskActive, parley.TaskActive, parley.TaskCompleted} {
		t := newTask(i + 1)
		t.Status = status
		f.tasks(t)
	}
	denied := newApproval("denied")
	denied.State = parley.ApprovalDenied
	f.approvals(newApproval("one"), newApproval("two"), denied)
	f.same("of what is open", work(), storage.OpenWork{QueuedTasks: 1, ActiveTasks: 2, PendingApprovals: 2})
}

// newApproval returns an approval for a call by arya.
func newApproval(digest string) parley.Approval {
	return parley.Approval{
		ID: newID(), State: parley.ApprovalPending, Agent: "arya", Call: parley.HeldCall{Tool: "contact_agent", Args: json.RawMessage(`{}`)},
		Digest: digest, Summary: "may I?", Rule: "supervised", CreatedAt: at(1), TraceID: newID(), Source: "runtime",
	}
}

func (f *fixture) approvals(list ...parley.Approval) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Approvals().Insert) })
}

func (f *fixture) getApproval(id string) parley.Approval {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Approval, error) { return tx.Approvals().Get(id) })
}

func fullApproval(c parley.Conversation, trigger, outcome parley.Message) parley.Approval {
	return parley.Approval{
		ID: newID(), State: parley.ApprovalExecuted, Agent: "arya", Target: "gendry",
		Call:   parley.HeldCall{Tool: "contact_agent", Args: json.RawMessage(`{"a": 1,  "b":"é"}`)},
		Digest: "digest", Summary: "é\n", Rule: "arya → gendry", Decider: "gendry", RequiresHuman: true, CreatedAt: at(1), ExpiresAt: atPointer(9),
		RemindAt: atPointer(8), DecidedBy: "gendry", DecidedAt: atPointer(3), Note: "fine", ExecutedAt: atPointer(4), Result: "done",
		Failure: &parley.Error{Code: parley.TimedOut, Message: "late"}, Outcome: outcome.ID, Run: newID(), Conversation: c.ID, Task: "task-4",
		Trigger: trigger.ID, TraceID: newID(), Hops: 5, Depth: 2, Source: "runtime",
	}
}

func approvalFields(f *fixture) {
	c, m := f.channelWithMessages(2)
	full, plain := fullApproval(c, m[0], m[1]), newApproval("other")
	f.approvals(full, plain)
	f.same("full", f.getApproval(full.ID), full)
	f.same("plain", f.getApproval(plain.ID), plain)
}

func approvalPut(f *fixture) {
	c, m := f.channelWithMessages(2)
	a, other := fullApproval(c, m[0], m[1]), newApproval("other")
	f.approvals(a, other)
	changed := newApproval("changed")
	changed.ID, changed.Agent, changed.Target, changed.State = a.ID, "gendry", "arya", parley.ApprovalDenied
	changed.CreatedAt, changed.Hops, changed.Depth, changed.Task = at(50), 9, 9, "task-5"
	f.update(func(tx storage.Tx) error { return tx.Approvals().Put(changed) })
	plain := a
	plain.Task, plain.State, plain.Decider, plain.ExpiresAt, plain.RemindAt, plain.DecidedBy = "task-5", parley.ApprovalDenied, "", nil, nil, ""
	plain.DecidedAt, plain.Note, plain.ExecutedAt, plain.Result, plain.Failure, plain.Outcome = nil, "", nil, "", nil, ""
	f.same("replaced by a plain one", f.getApproval(a.ID), plain)
	f.update(func(tx storage.Tx) error { return tx.Approvals().Put(a) })
	f.same("replaced by a full one", f.getApproval(a.ID), a)
	f.same("another", f.getApproval(other.ID), other)
	decided, decides, nowhere := a, a, a
	decided.DecidedBy, decides.Decider, nowhere.Task = "nobody", "nobody", "nonsense"
	for _, a := range []parley.Approval{newApproval("none"), {ID: "no uuid"}, decided, decides, nowhere} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Approvals().Put(a) })
	}
	f.same("after refusals", f.getApproval(a.ID), a)
}

func approvalRequestTaken(f *fixture) {
	c, _ := f.channelWithMessages(0)
	other := f.channel("other", "arya")
	alike := func(change func(*parley.Approval)) parley.Approval {
		a := newApproval("digest")
		a.Task, a.Conversation = "task-1", c.ID
		change(&a)
		return a
	}
	first := alike(func(*parley.Approval) {})
	f.approvals(first)
	refused := func(a parley.Approval) {
		f.Helper()
		f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Approvals().Insert(a) })
	}
	refused(alike(func(a *parley.Approval) { a.Run, a.Summary, a.Target = newID(), "changed", "gendry" }))
	refused(alike(func(a *parley.Approval) { a.ID, a.Digest = first.ID, "another" }))
	var others []parley.Approval
	for _, change := range []func(*parley.Approval){
		func(a *parley.Approval) { a.Digest = "another" },
		func(a *parley.Approval) { a.Agent = "gendry" },
		func(a *parley.Approval) { a.Task = "task-2" },
		func(a *parley.Approval) { a.Task = "" },
		func(a *parley.Approval) { a.Conversation = other.ID },
		func(a *parley.Approval) { a.Conversation = "" },
		func(a *parley.Approval) { a.Conversation, a.Task = "", "" },
	} {
		f.approvals(alike(change))
		refused(alike(change))
		others = append(others, alike(change))
	}
	for _, state := range []parley.ApprovalState{parley.ApprovalApproved, parley.ApprovalExecuted, parley.ApprovalDenied, parley.ApprovalExpired, parley.ApprovalWithdrawn} {
		f.approvals(alike(func(a *parley.Approval) { a.State = state }))
	}
	refused(alike(func(*parley.Approval) {}))
	first.State = parley.ApprovalDenied
	f.update(func(tx storage.Tx) error { return tx.Approvals().Put(first) })
	f.approvals(alike(func(*parley.Approval) {}))
	f.same("kept", len(f.listApprovals(parley.ApprovalFilter{}, "", false)), 1+len(others)+5+1)
}

func approvalRefused(f *fixture) {
	f.agents("arya")
	for what, change := range map[string]func(*parley.Approval){
		"agent":   func(a *parley.Approval) { a.Agent = "nobody" },
		"target":  func(a *parley.Approval) { a.Target = "nobody" },
		"decider": func(a *parley.Approval) { a.Decider = "nobody" },
		"who":     func(a *parley.Approval) { a.DecidedBy = "nobody" },
		"task":    func(a *parley.Approval) { a.Task = "nonsense" },
	} {
		a := newApproval(what)
		change(&a)
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Approvals().Insert(a) })
		f.missing("the refused one", func(tx storage.Tx) error { return errorOf(tx.Approvals().Get(a.ID)) })
	}
	for _, id := range []string{"", "no uuid", newID()} {
		f.missing(id, func(tx storage.Tx) error { return errorOf(tx.Approvals().Get(id)) })
	}
	f.missing("pending", func(tx storage.Tx) error { return errorOf(tx.Approvals().Pending("nobody")) })
	for _, filter := range []parley.ApprovalFilter{{Agent: "nobody"}, {Before: "x"}, {State: "nonsense"}} {
		f.same("a list", f.listApprovals(filter, "", false), []parley.Approval{})
	}
	f.same("of a decider", f.listApprovals(parley.ApprovalFilter{}, "nobody", false), []parley.Approval{})
}

func approvalPending(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	var all []parley.Approval
	for i, a := range []struct {
		agent, task string
		state       parley.ApprovalState
	}{
		{"arya", "task-1", parley.ApprovalDenied},
		{"arya", "task-1", parley.ApprovalPending},
		{"gendry", "task-1", parley.ApprovalApproved},
		{"arya", "", parley.ApprovalApproved},
		{"arya", "task-2", parley.ApprovalPending},
		{"gendry", "task-1", parley.ApprovalExecuted},
		{"gendry", "task-2", parley.ApprovalExpired},
		{"sansa", "task-2", parley.ApprovalWithdrawn},
	} {
		made := newApproval(string(rune('a' + i)))
		made.Agent, made.Task, made.State = a.agent, a.task, a.state
		all = append(all, made)
	}
	f.approvals(all...)
	of := func(agent string) []parley.Approval {
		return read(f, func(tx storage.Tx) ([]parley.Approval, error) { return tx.Approvals().Pending(agent) })
	}
	in := func(task string) []parley.Approval {
		return read(f, func(tx storage.Tx) ([]parley.Approval, error) { return tx.Approvals().InTask(task) })
	}
	for i := range all { // these lists do not contain arguments and summaries
		all[i].Call.Args, all[i].Summary = json.RawMessage("null"), ""
	}
	f.same("of arya", of("ARYA"), []parley.Approval{all[1], all[3], all[4]})
	f.same("of gendry", of("gendry"), all[2:3])
	f.same("of sansa", of("sansa"), []parley.Approval{})
	f.same("in a task", in("task-1"), all[1:3])
	f.same("in another", in("task-2"), all[4:5])
	for _, task := range []string{"task-3", "nonsense", ""} {
		f.same("in "+task, in(task), []parley.Approval{})
	}
	oldest := read(f, func(tx storage.Tx) (map[string]string, error) { return tx.Approvals().OldestPending() })
	f.same("the oldest of each", oldest, map[string]string{"arya": all[1].ID, "gendry": all[2].ID})
}

func (f *fixture) listApprovals(filter parley.ApprovalFilter, decider string, owner bool) []parley.Approval {
	f.Helper()
	if filter.Limit == 0 {
		filter.Limit = noLimit
	}
	return read(f, func(tx storage.Tx) ([]parley.Approval, error) { return tx.Approvals().List(filter, decider, owner) })
}

func approvalLists(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	var all []parley.Approval // newest first
	for i := range 12 {
		a := newApproval(string(rune('a' + i)))
		a.Agent, a.Decider = []string{"arya", "gendry"}[i%2], []string{"sansa", "", "gendry"}[i%3]
		a.State = []parley.ApprovalState{parley.ApprovalPending, parley.ApprovalDenied}[i/2%2]
		all = append([]parley.Approval{a}, all...)
	}
	f.approvals(all...)
	which := func(keep func(parley.Approval) bool) (kept []parley.Approval) {
		for _, a := range all {
			if keep(a) {
				kept = append(kept, a)
			}
		}
		return kept
	}
	for _, list := range []struct {
		filter  parley.ApprovalFilter
		decider string
		owner   bool
		keep    func(parley.Approval) bool
	}{
		{parley.ApprovalFilter{}, "", false, func(parley.Approval) bool { return true }},
		{parley.ApprovalFilter{Mine: true}, "gendry", true, func(parley.Approval) bool { return true }},
		{parley.ApprovalFilter{Agent: "ARYA"}, "", false, func(a parley.Approval) bool { return a.Agent == "arya" }},
		{parley.ApprovalFilter{}, "SANSA", false, func(a parley.Approval) bool { return a.Decider == "sansa" }},
		{parley.ApprovalFilter{State: parley.ApprovalDenied}, "", false, func(a parley.Approval) bool { return a.State == parley.ApprovalDenied }},
		{parley.ApprovalFilter{State: parley.ApprovalPending, Agent: "gendry"}, "gendry", false, func(a parley.Approval) bool {
			return a.State == parley.ApprovalPending && a.Agent == "gendry" && a.Decider == "gendry"
		}},
	} {
		want, filter := which(list.keep), list.filter
		f.same("all", f.listApprovals(filter, list.decider, list.owner), want)
		for filter.Limit = 2; ; {
			n := min(2, len(want))
			f.same("a page", f.listApprovals(filter, list.decider, list.owner), want[:n])
			if n == 0 {
				break
			}
			filter.Before, want = want[n-1].ID, want[n:]
		}
	}
}

func approvalDue(f *fixture) {
	f.agents("arya")
	var all []parley.Approval
	for i, a := range []struct {
		expires, remind int
		state           parley.ApprovalState
	}{
		{40, 30, parley.ApprovalPending},
		{20, 0, parley.ApprovalPending},
		{50, 60, parley.ApprovalPending},
		{0, 10, parley.ApprovalPending},
		{0, 0, parley.ApprovalPending},
		{1, 1, parley.ApprovalApproved},
		{1, 1, parley.ApprovalDenied},
	} {
		made := newApproval(string(rune('a' + i)))
		made.State = a.state
		if a.expires > 0 {
			made.ExpiresAt = atPointer(a.expires)
		}
		if a.remind > 0 {
			made.RemindAt = atPointer(a.remind)
		}
		all = append(all, made)
	}
	f.approvals(all...)
	due := func(seconds, limit int) []parley.Approval {
		return read(f, func(tx storage.Tx) ([]parley.Approval, error) { return tx.Approvals().Due(at(seconds), limit) })
	}
	f.same("none", due(9, 9), []parley.Approval{})
	f.same("the first", due(10, 9), []parley.Approval{all[3]})
	f.same("all", due(99, 9), []parley.Approval{all[3], all[1], all[0], all[2]})
	f.same("up to the limit", due(99, 2), []parley.Approval{all[3], all[1]})
	all[0].RemindAt = nil
	f.update(func(tx storage.Tx) error { return tx.Approvals().Put(all[0]) })
	f.same("reminded of", due(39, 9), []parley.Approval{all[3], all[1]})
	f.same("later", due(40, 9), []parley.Approval{all[3], all[1], all[0]})
}
