package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var runListTests = []test{
	{"runs that have not ended are live, oldest first, and counted", runLive},
	{"runs are listed newest first, by agent, conversation and state", runLists},
	{"the runs of an agent that a message woke are listed oldest first", runsWokenByMessage},
	{"the newest session is one that can be resumed", runSession},
	{"spending since a time is summed up", runSpent},
}

func runIDs(list []parley.Run) string {
	return joinEach(list, func(r parley.Run) string { return r.ID })
}

func (f *fixture) live(agent string) []parley.Run {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().Live(agent) })
}

func (f *fixture) listRuns(filter parley.RunFilter) []parley.Run {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().List(filter) })
}

func runLive(f *fixture) {
	c, m := f.channelWithMessages(1)
	var all []parley.Run
	for i, state := range []parley.RunState{
		parley.RunStarting, parley.RunRunning, parley.RunWaiting, parley.RunSucceeded, parley.RunFailed, parley.RunCancelled, parley.RunLost,
	} {
		for _, agent := range []string{"arya", "gendry"} {
			r := newRun(agent, c.ID, m[0].ID)
			r.State, r.CreatedAt = state, at(-i) // the order is that of the ids
			all = append(all, r)
		}
	}
	f.runs(all...)
	f.same("arya's", f.live("AryaBot"), []parley.Run{all[0], all[2], all[4]})
	f.same("all", f.live(""), all[:6])
	counts := func() map[string]int { return f.contents().Live }
	f.same("counts", counts(), map[string]int{"arya": 3, "gendry": 3})
	f.putRun(ended(all[0], 5))
	f.putRun(ended(all[2], 5))
	f.putRun(ended(all[4], 5))
	f.same("counts without the idle", counts(), map[string]int{"gendry": 3})
	f.same("none", f.live("arya"), []parley.Run{})
}

func runLists(f *fixture) {
	c, _ := f.channelWithMessages(0)
	other := f.channel("other", "arya")
	var all []parley.Run // newest first
	for i := range 12 {
		r := newRun([]string{"arya", "gendry"}[i%2], []string{c.ID, c.ID, other.ID}[i%3])
		if i%4 < 2 {
			r = ended(r, 5)
		}
		if i%4 == 0 {
			r.Failure = parley.Errorf(parley.TimedOut, "it took too long")
		}
		all = append([]parley.Run{r}, all...)
	}
	f.runs(all...)
	for _, agent := range []string{"", "arya", "gendry", "nobody"} {
		for _, conversation := range []string{"", c.ID, other.ID, newID()} {
			for _, live := range []bool{false, true} {
				for _, failed := range []bool{false, true} {
					f.pagesOfRuns(all, parley.RunFilter{Agent: agent, Conversation: conversation, Live: live, Failed: failed})
				}
			}
		}
	}
	f.same("by name", runIDs(f.listRuns(parley.RunFilter{Conversation: "other", Limit: 1})), all[0].ID)
	for _, live := range []bool{false, true} {
		f.same("before what is no id", f.listRuns(parley.RunFilter{Live: live, Before: "x", Limit: 9}), []parley.Run{})
		shouted := parley.RunFilter{Live: live, Before: strings.ToUpper(all[10].ID), Limit: 9}
		f.same("before an id in capitals", len(f.listRuns(shouted)), map[bool]int{false: 1}[live])
	}
}

// pagesOfRuns reads a list in pages of every size up to three.
func (f *fixture) pagesOfRuns(all []parley.Run, filter parley.RunFilter) {
	f.Helper()
	var want []parley.Run
	for _, r := range all {
		if (filter.Agent == "" || r.Agent == filter.Agent) && (filter.Conversation == "" || r.Conversation == filter.Conversation) &&
			(!filter.Live || r.State.Live()) && (!filter.Failed || r.Failure != nil) {
			want = append(want, r)
		}
	}
	for limit := 1; limit <= 3; limit++ {
		var got []parley.Run
		filter.Before, filter.Limit = "", limit
		for page := f.listRuns(filter); len(page) > 0; page = f.listRuns(filter) {
			if len(page) > limit {
				f.Fatalf("%+v: %d runs", filter, len(page))
			}
			got = append(got, page...)
			filter.Before = page[len(page)-1].ID
		}
		f.same(fmt.Sprintf("%+v", filter), got, want)
	}
}

func runsWokenByMessage(f *fixture) {
	c, m := f.channelWithMessages(3)
	first, other, second := newRun("arya", c.ID, m[0].ID, m[1].ID), newRun("gendry", c.ID, m[0].ID), newRun("arya", c.ID, m[1].ID)
	second.CreatedAt = at(-1)
	f.runs(first, other, second)
	woken := func(message, agent string) []parley.Run {
		return read(f, func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().WokenBy(message, agent) })
	}
	f.same("twice", woken(m[1].ID, "arya"), []parley.Run{first, second})
	f.same("once", woken(m[0].ID, "arya"), []parley.Run{first})
	f.same("the other's", woken(m[0].ID, "gendry"), []parley.Run{other})
	for _, message := range []string{m[2].ID, newID(), "no uuid"} {
		f.same("none", woken(message, "arya"), []parley.Run{})
	}
}

func runSession(f *fixture) {
	c, m := f.channelWithMessages(1)
	other := f.channel("other", "arya")
	asked := f.post(newMessage(c.ID, "gendry", "well?"))
	f.update(func(tx storage.Tx) error {
		return errorOf(tx.Deliveries().Insert(asked, []parley.NewDelivery{{Agent: "arya", Wakes: true, Purpose: parley.PurposeAsk}}))
	})
	f.deliver(m[0], "arya")
	session := func() (parley.Run, error) {
		var r parley.Run
		err := f.store.View(f.Context(), func(tx storage.Tx) (err error) {
			r, err = tx.Runs().Session("arya", c.ID, at(10))
			return err
		})
		return r, err
	}
	resumable := func() parley.Run {
		r := ended(newRun("arya", c.ID, m[0].ID), 11)
		r.Session = "session"
		return r
	}
	for what, edit := range map[string]func(*parley.Run){
		"of another agent":    func(r *parley.Run) { r.Agent = "gendry" },
		"elsewhere":           func(r *parley.Run) { r.Conversation, r.Triggers = other.ID, nil },
		"without one":         func(r *parley.Run) { r.Session = "" },
		"of a task":           func(r *parley.Run) { r.Task = "task" },
		"of a failure":        func(r *parley.Run) { r.State = parley.RunFailed },
		"that has not ended":  func(r *parley.Run) { r.State, r.EndedAt = parley.RunRunning, nil },
		"that ended too soon": func(r *parley.Run) { r.EndedAt = atPointer(10) },
		"an ask":              func(r *parley.Run) { r.Triggers = []string{m[0].ID, asked.ID} },
	} {
		r := resumable()
		edit(&r)
		f.runs(r)
		if got, err := session(); err == nil {
			f.Errorf("a session %s: %+v", what, got)
		}
	}
	first, second := resumable(), resumable()
	first.EndedAt = atPointer(50)
	f.runs(first)
	got, err := session()
	f.same("a session", []any{got, err}, []any{first, nil})
	f.runs(second)
	got, err = session()
	f.same("the newest", []any{got, err}, []any{second, nil})
}

func (f *fixture) spent(agent string, since time.Time) parley.Spent {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Spent, error) { return tx.Runs().Spent(agent, since) })
}

func runSpent(f *fixture) {
	c, _ := f.channelWithMessages(0)
	f.same("nothing", f.spent("arya", at(0)), parley.Spent{})
	for i := range 4 {
		r := newRun("arya", c.ID)
		r.CreatedAt, r.Usage = at(i), parley.Usage{InputTokens: 10, OutputTokens: 1 << i, Cost: 0.1}
		if i == 2 {
			r = ended(r, 5)
		}
		f.runs(r)
	}
	others := newRun("gendry", c.ID)
	others.CreatedAt, others.Cost = at(9), 5
	f.runs(others)
	for since, want := range map[int]parley.Spent{
		-1: {Runs: 4, Usage: parley.Usage{InputTokens: 40, OutputTokens: 15, Cost: 0.4}},
		0:  {Runs: 3, Usage: parley.Usage{InputTokens: 30, OutputTokens: 14, Cost: 0.3}},
		2:  {Runs: 1, Usage: parley.Usage{InputTokens: 10, OutputTokens: 8, Cost: 0.1}},
		3:  {},
	} {
		f.same(fmt.Sprintf("since %d", since), f.spent("ARYA", at(since)), want)
	}
}
