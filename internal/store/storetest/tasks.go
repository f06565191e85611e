package storetest

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var taskTests = []test{
	{"every field of a task is stored", taskFields},
	{"numbers rise, and those of failed updates are drawn again", taskNumbers},
	{"replacing a task keeps its origin", taskPut},
	{"an id in use and references to missing rows are refused", taskRefused},
	{"an unknown task is not found, and has no subtasks", taskUnknown},
	{"several tasks are found at once, each once, and in order", taskGetAll},
	{"spending of a tree's runs is summed up, also in deleted conversations", taskSpent},
	{"a session is resumed within a task", taskSessions},
}

// newTask returns a root task that arya has requested from gendry.
func newTask(num int) parley.Task {
	id := taskName(num)
	return parley.Task{
		ID: id, Root: id, Title: "a sword", Requester: "arya", OriginalRequester: "arya", Assignee: "gendry",
		Source: parley.TaskFromDelegation, Priority: parley.DefaultPriority, TraceID: newID(), Status: parley.TaskQueued, Attempt: 1,
		CreatedAt: at(1), UpdatedAt: at(1),
	}
}

func taskName(num int) string { return "task-" + strconv.Itoa(num) }

func (f *fixture) tasks(list ...parley.Task) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Tasks().Insert) })
}

func (f *fixture) getTask(id string) parley.Task {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Task, error) { return tx.Tasks().Get(id) })
}

func ptr[V any](v V) *V { return &v }

func urgentPriority() parley.Priority {
	p, err := parley.ParsePriority("critical")
	if err != nil {
		panic(err)
	}
	return p
}

// fullTask returns a task with every field. It is a subtask of task-1 and depends on task-1 and task-2.
func fullTask(num int, c parley.Conversation, began, called parley.Message) parley.Task {
	return parley.Task{
		ID: taskName(num), Parent: "task-1", Root: "task-1", Depth: 1, Title: "é\n", Requester: "gendry", OriginalRequester: "arya",
		Assignee: "arya", DelegationReason: "he knows steel", Source: "api", Priority: urgentPriority(), Deadline: atPointer(99),
		DependsOn: []string{"task-1", "task-2"}, Conversation: c.ID, Message: began.ID, TraceID: newID(), Status: parley.TaskCompleted,
		Outcome: parley.OutcomePartial, Attempt: 3, CreatedAt: at(1), UpdatedAt: at(2), StartedAt: atPointer(3), EndedAt: atPointer(4),
		CallbackTo: c.ID, Callback: called.ID,
		Result: &parley.TaskResult{
			Text: "done", Deliverables: []string{"a", "b"}, Metrics: map[string]float64{"hours": 1.5}, Issues: []string{"c"}, NextSteps: []string{"d"},
		},
		Error: &parley.Error{Code: parley.Unavailable, Message: "it ended", Recoverable: true, Suggestion: "try again"},
		Progress: &parley.TaskProgress{
			Fraction: ptr(0.5), Current: ptr(int64(1)), Total: ptr(int64(2)), Message: "half", Confidence: ptr(0.1), Blockers: []string{"ore"}, At: at(5),
		},
	}
}

func taskFields(f *fixture) {
	c, m := f.channelWithMessages(2)
	full := fullTask(11, c, m[0], m[1])
	f.tasks(newTask(1), newTask(2), full)
	f.same("full", f.getTask("task-11"), full)
	f.same("begun", read(f, func(tx storage.Tx) (parley.Task, error) { return tx.Tasks().BegunBy(m[0].ID) }), full)
	plain := newTask(12)
	f.tasks(plain)
	f.same("plain", f.getTask("task-12"), plain)
}

func (f *fixture) nextTask() (id string) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		id, err = tx.Tasks().NextID()
		return err
	})
	return id
}

func taskNumbers(f *fixture) {
	f.agents("arya", "gendry")
	f.same("the first", f.nextTask(), "task-1")
	draw := func(tx storage.Tx) error {
		for range 3 {
			id, err := tx.Tasks().NextID()
			if err != nil {
				return err
			}
			t := newTask(0)
			t.ID, t.Root = id, id
			if err := tx.Tasks().Insert(t); err != nil {
				return err
			}
		}
		return nil
	}
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(draw(tx), errOwn) })
	f.same("after a failed one", f.nextTask(), "task-1")
	f.update(draw)
	f.same("all", f.taskIDs(parley.TaskFilter{}, ""), "task-3 task-2 task-1")
	f.tasks(newTask(41))
	f.same("after one from elsewhere", f.nextTask(), "task-42")
	f.update(func(tx storage.Tx) error {
		first, err := tx.Tasks().NextID()
		second, err2 := tx.Tasks().NextID()
		if first != "task-42" || second != "task-43" {
			return fmt.Errorf("drawn: %s and %s", first, second)
		}
		return errors.Join(err, err2, tx.Tasks().Insert(newTask(90)), requireValue(tx.Tasks().NextID, "task-91"))
	})
}

// requireValue returns an error if fn does not return want.
func requireValue[V comparable](fn func() (V, error), want V) error {
	got, err := fn()
	if err == nil && got != want {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return err
}

func taskIDs(list []parley.Task) string {
	return joinEach(list, func(t parley.Task) string { return t.ID })
}

func (f *fixture) taskIDs(filter parley.TaskFilter, reader string) string {
	f.Helper()
	if filter.Limit == 0 {
		filter.Limit = noLimit
	}
	return taskIDs(read(f, func(tx storage.Tx) ([]parley.Task, error) { return tx.Tasks().List(filter, reader) }))
}

func taskPut(f *fixture) {
	c, m := f.channelWithMessages(2)
	t, other := fullTask(11, c, m[0], m[1]), newTask(12)
	f.tasks(newTask(1), newTask(2), t, other)
	changed := newTask(11)
	changed.Parent, changed.Root, changed.Depth, changed.Requester, changed.OriginalRequester = "task-2", "task-2", 7, "arya", "gendry"
	changed.Source, changed.CreatedAt, changed.DependsOn = "changed", at(50), []string{"task-12"}
	f.update(func(tx storage.Tx) error { return tx.Tasks().Put(changed) })
	changed.Parent, changed.Root, changed.Depth, changed.Requester, changed.OriginalRequester = "task-1", "task-1", 1, "gendry", "arya"
	changed.Source, changed.CreatedAt, changed.DependsOn = "api", at(1), t.DependsOn
	f.same("replaced by a plain one", f.getTask("task-11"), changed)
	f.update(func(tx storage.Tx) error { return tx.Tasks().Put(t) })
	f.same("replaced by a full one", f.getTask("task-11"), t)
	f.same("another", f.getTask("task-12"), other)
	nobodys := t
	nobodys.Assignee = "nobody"
	for _, t := range []parley.Task{newTask(13), nobodys, {ID: "task-x", Assignee: "arya"}} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Tasks().Put(t) })
	}
	f.same("after refusals", f.getTask("task-11"), t)
}

func taskRefused(f *fixture) {
	f.agents("arya", "gendry")
	f.tasks(newTask(1))
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Tasks().Insert(newTask(1)) })
	for what, change := range map[string]func(*parley.Task){
		"parent":    func(t *parley.Task) { t.Parent = "task-9" },
		"no parent": func(t *parley.Task) { t.Parent = "nonsense" },
		"root":      func(t *parley.Task) { t.Root = "task-9" },
		"needed":    func(t *parley.Task) { t.DependsOn = []string{"task-1", "task-9"} },
		"no needed": func(t *parley.Task) { t.DependsOn = []string{"9"} },
		"requester": func(t *parley.Task) { t.Requester = "nobody" },
		"original":  func(t *parley.Task) { t.OriginalRequester = "nobody" },
		"assignee":  func(t *parley.Task) { t.Assignee = "nobody" },
	} {
		t := newTask(2)
		change(&t)
		err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Tasks().Insert(t) })
		if !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("an unknown %s: %v", what, err)
		}
	}
	if err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Tasks().Insert(parley.Task{ID: "work"}) }); err == nil {
		f.Error("a task was stored whose id is none")
	}
	f.same("tasks", f.taskIDs(parley.TaskFilter{}, ""), "task-1")
}

func taskUnknown(f *fixture) {
	f.agents("arya", "gendry")
	f.tasks(newTask(1), newTask(12))
	for _, id := range []string{"", "task-", "task-0", "task-2", "task-01", "task-+1", "Task-1", "1", "task--1", "task-99999999999999999999", "task-1 "} {
		f.missing(id, func(tx storage.Tx) error { return errorOf(tx.Tasks().Get(id)) })
		for what, find := range map[string]func(storage.Tx) ([]parley.Task, error){
			"children":   func(tx storage.Tx) ([]parley.Task, error) { return tx.Tasks().OpenChildren(id) },
			"tree":       func(tx storage.Tx) ([]parley.Task, error) { return tx.Tasks().Tree(id) },
			"dependants": func(tx storage.Tx) ([]parley.Task, error) { return tx.Tasks().Dependants(id) },
		} {
			f.same(what+" of "+id, taskIDs(read(f, find)), "")
		}
		f.same("open under "+id, read(f, func(tx storage.Tx) (int, error) { return tx.Tasks().OpenUnder(id) }), 0)
		f.same("spent on "+id, read(f, func(tx storage.Tx) (map[string]parley.Usage, error) { return tx.Tasks().Spent(id) }), map[string]parley.Usage{})
	}
	for _, id := range []string{"", "no uuid", newID()} {
		f.missing("begun by "+id, func(tx storage.Tx) error { return errorOf(tx.Tasks().BegunBy(id)) })
	}
	f.missing("awaited", func(tx storage.Tx) error { return errorOf(tx.Tasks().Awaited("nobody", 1)) })
	f.missing("assigned", func(tx storage.Tx) error { return errorOf(tx.Tasks().AssignedTo("nobody")) })
	for _, filter := range []parley.TaskFilter{{Assignee: "nobody"}, {Requester: "nobody"}, {Before: "x"}, {Before: "task-1"}} {
		f.same("a list", f.taskIDs(filter, ""), "")
	}
	f.same("for nobody", f.taskIDs(parley.TaskFilter{}, "nobody"), "")
}

func taskGetAll(f *fixture) {
	f.agents("arya", "gendry")
	var list []parley.Task
	var ids []string
	for i := range 300 {
		list = append(list, newTask(i+1))
		ids = append(ids, taskName(300-i))
	}
	f.tasks(list...)
	get := func(ids ...string) []parley.Task {
		return read(f, func(tx storage.Tx) ([]parley.Task, error) { return tx.Tasks().GetAll(ids) })
	}
	f.same("none", get(), []parley.Task{})
	f.same("some", get("task-12", "nonsense", "task-3", "task-999", "task-12"), []parley.Task{list[2], list[11]})
	f.same("all", get(append(ids, ids...)...), list)
	scan := func(after string, limit int) []parley.Task {
		return read(f, func(tx storage.Tx) ([]parley.Task, error) { return tx.Tasks().Scan(after, limit) })
	}
	f.same("from the first", scan("", 7), list[:7])
	f.same("from another", scan("task-9", 3), list[9:12])
	f.same("to the last", scan("task-290", 99), list[290:])
	f.same("after the last", scan("task-300", 99), []parley.Task{})
	f.same("after none", scan("nonsense", 99), []parley.Task{})
}

func taskSpent(f *fixture) {
	c, m := f.channelWithMessages(1)
	gone := f.channel("gone", "arya")
	child, other := newTask(2), newTask(3)
	child.Parent, child.Root, child.Depth = "task-1", "task-1", 1
	f.tasks(newTask(1), child, other, newTask(4))
	for i, task := range []string{"task-1", "task-2", "task-2", "task-3", ""} {
		r := newRun("arya", c.ID, m[0].ID)
		if i == 2 {
			r = newRun("gendry", gone.ID)
		}
		r.Task, r.Usage = task, parley.Usage{InputTokens: int64(i + 1), OutputTokens: 10, Cost: 0.5}
		f.runs(r)
	}
	want := map[string]parley.Usage{
		"task-1": {InputTokens: 1, OutputTokens: 10, Cost: 0.5}, "task-2": {InputTokens: 5, OutputTokens: 20, Cost: 1},
	}
	spent := func(root string) map[string]parley.Usage {
		return read(f, func(tx storage.Tx) (map[string]parley.Usage, error) { return tx.Tasks().Spent(root) })
	}
	f.same("the tree", spent("task-1"), want)
	f.deleteConversation(gone)
	f.same("when one is deleted", spent("task-1"), want)
	f.purge(noLimit)
	f.same("when one is erased", spent("task-1"), want)
	f.same("what is under it", spent("task-2"), map[string]parley.Usage{"task-2": want["task-2"]})
	f.same("what nobody was at", spent("task-4"), map[string]parley.Usage{})
}

// taskSessions has ended runs, some of which cannot be resumed for one reason each.
func taskSessions(f *fixture) {
	c, m := f.channelWithMessages(2)
	made := map[string]parley.Run{}
	for _, name := range []string{"older", "newest", "no session", "failed", "another task", "another agent", "asked"} {
		r := ended(newRun("arya", c.ID, m[0].ID), 5)
		r.Task, r.Session = "task-1", name
		switch name {
		case "no session":
			r.Session = ""
		case "failed":
			r.State = parley.RunFailed
		case "another task":
			r.Task = "task-2"
		case "another agent":
			r.Agent = "gendry"
		case "asked":
			r.Triggers = []string{m[1].ID}
		}
		made[name] = r
		f.runs(r)
	}
	f.update(func(tx storage.Tx) error {
		return errorOf(tx.Deliveries().Insert(m[1], []parley.NewDelivery{{Agent: "arya", Wakes: true, Purpose: parley.PurposeAsk}}))
	})
	session := func(agent, task string) parley.Run {
		return read(f, func(tx storage.Tx) (parley.Run, error) { return tx.Runs().TaskSession(agent, task) })
	}
	f.same("the newest, which has answered an ask", session("ARYA", "task-1"), made["asked"])
	f.same("of another task", session("arya", "task-2"), made["another task"])
	f.same("of another agent", session("gendry", "task-1"), made["another agent"])
	for _, who := range [][2]string{{"arya", "task-3"}, {"gendry", "task-2"}, {"nobody", "task-1"}, {"arya", ""}} {
		f.missing("a session", func(tx storage.Tx) error { return errorOf(tx.Runs().TaskSession(who[0], who[1])) })
	}
	live, another := newRun("gendry", c.ID, m[0].ID), newRun("arya", c.ID, m[0].ID)
	live.Task, another.Task = "task-1", "task-2"
	f.runs(live, another)
	in := func(task string) []parley.Run {
		return read(f, func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().InTask(task) })
	}
	f.same("live", in("task-1"), []parley.Run{live})
	f.same("live in another", in("task-2"), []parley.Run{another})
	f.same("live in none", in(""), []parley.Run{})
	f.deleteConversation(c)
	f.same("live when deleted", in("task-1"), []parley.Run{})
	f.missing("a session when deleted", func(tx storage.Tx) error { return errorOf(tx.Runs().TaskSession("arya", "task-1")) })
}
