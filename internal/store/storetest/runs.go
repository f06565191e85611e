package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var runTests = []test{
	{"every field of a run is stored", runFields},
	{"replacing a run keeps its origin", runPut},
	{"triggers of a run come by seq, each once", runTriggers},
	{"ids are accepted in any case", runSpellings},
	{"an id in use and references to missing rows are refused", runRefused},
	{"an unknown run is not found", runUnknown},
	{"costs are stored to a billionth of a dollar", runCosts},
	{"a failed update stores no run", runFailed},
	{"concurrent updates of a run change it one after the other", runPutInTurn},
}

func newRun(agent, conversation string, triggers ...string) parley.Run {
	return parley.Run{
		ID: newID(), Agent: agent, Conversation: conversation, Runtime: parley.RuntimeScript, State: parley.RunStarting,
		Triggers: triggers, TraceID: newID(), Attempt: 1, CreatedAt: at(1), Deadline: at(60),
	}
}

func fullRun(agent, conversation string, triggers ...string) parley.Run {
	r := newRun(agent, conversation, triggers...)
	r.Task, r.Runtime, r.State, r.Attempt, r.Hops, r.Chain, r.Ask = "task-1", "claude", parley.RunFailed, 2, 3, 4, true
	r.StartedAt, r.EndedAt, r.Session, r.Answer, r.Cancel = atPointer(2), atPointer(3), "séance", newID(), "enough"
	r.Failure = &parley.Error{Code: parley.Unavailable, Message: "it ended", Recoverable: true, Suggestion: "try again"}
	r.Usage = parley.Usage{InputTokens: 1 << 40, OutputTokens: 7, Cost: 0.012345678}
	r.Node, r.Process, r.Depth = "node-1", parley.Process{PID: 4711, Started: 1 << 50}, 2
	return r
}

// channelWithMessages adds arya, gendry and a channel with messages from arya.
func (f *fixture) channelWithMessages(messages int) (parley.Conversation, []parley.Message) {
	f.Helper()
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	return c, f.posts(messages, c.ID)
}

func (f *fixture) runs(list ...parley.Run) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		for _, r := range list {
			if err := tx.Runs().Insert(r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fixture) putRun(r parley.Run) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return tx.Runs().Put(r) })
}

func (f *fixture) getRun(id string) parley.Run {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Run, error) { return tx.Runs().Get(id) })
}

// ended returns a copy of a run that has succeeded.
func ended(r parley.Run, seconds int) parley.Run {
	r.State, r.EndedAt = parley.RunSucceeded, atPointer(seconds)
	return r
}

func runFields(f *fixture) {
	c, m := f.channelWithMessages(2)
	full, plain := fullRun("arya", c.ID, m[0].ID, m[1].ID), newRun("gendry", c.ID)
	f.runs(full, plain)
	f.same("the full one", f.getRun(full.ID), full)
	f.same("the plain one", f.getRun(plain.ID), plain)
	var inside parley.Run
	f.update(func(tx storage.Tx) (err error) {
		inside, err = tx.Runs().Get(full.ID)
		return err
	})
	f.same("in an update", inside, full)
	if triggers, err := json.Marshal(f.getRun(plain.ID).Triggers); err != nil || string(triggers) != "[]" {
		f.Errorf("without triggers there are %s: %v", triggers, err)
	}
}

func runPut(f *fixture) {
	c, m := f.channelWithMessages(2)
	other := f.channel("other", "arya")
	r, untouched := newRun("arya", c.ID, m[0].ID), newRun("arya", c.ID, m[0].ID)
	f.runs(r, untouched)
	changed := fullRun("gendry", other.ID, m[1].ID)
	changed.ID, changed.CreatedAt = r.ID, at(9)
	f.putRun(changed)
	changed.Agent, changed.Conversation, changed.Triggers, changed.CreatedAt = r.Agent, r.Conversation, r.Triggers, r.CreatedAt
	f.same("changed", f.getRun(r.ID), changed)
	f.putRun(r)
	f.same("changed back", f.getRun(r.ID), r)
	f.same("another", f.getRun(untouched.ID), untouched)
}

func runTriggers(f *fixture) {
	c, m := f.channelWithMessages(300)
	r, many := newRun("arya", c.ID, m[7].ID, m[2].ID, m[0].ID, m[2].ID), newRun("arya", c.ID)
	for _, trigger := range m {
		many.Triggers = append(many.Triggers, trigger.ID)
	}
	f.runs(r, many)
	r.Triggers = []string{m[0].ID, m[2].ID, m[7].ID}
	f.same("each once, by seq", f.getRun(r.ID), r)
	f.same("many", f.getRun(many.ID), many)
}

func runSpellings(f *fixture) {
	c, m := f.channelWithMessages(2)
	r := newRun("arya", c.ID, m[0].ID)
	shouted := r
	shouted.ID, shouted.Agent, shouted.Conversation = strings.ToUpper(r.ID), "ARYABOT", strings.ToUpper(c.ID)
	shouted.Triggers = []string{strings.ToUpper(m[0].ID)}
	f.runs(shouted)
	f.same("found", f.getRun(strings.ToUpper(r.ID)), r)
	answer := ended(r, 5)
	shouted = answer
	shouted.ID, shouted.Answer = strings.ToUpper(r.ID), strings.ToUpper(m[1].ID)
	f.putRun(shouted)
	answer.Answer = m[1].ID
	f.same("replaced", f.getRun(r.ID), answer)
	f.update(func(tx storage.Tx) error {
		return errors.Join(tx.Runs().AddPost(strings.ToUpper(r.ID), storage.RunPost{Message: strings.ToUpper(m[1].ID)}),
			tx.Runs().PutOutput(strings.ToUpper(r.ID), []byte("output")))
	})
	for what, ask := range map[string]func(storage.Tx) ([]parley.Run, error){
		"WokenBy":  func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().WokenBy(strings.ToUpper(m[0].ID), "ARYA") },
		"PostedBy": asList(func(tx storage.Tx) (parley.Run, error) { return tx.Runs().PostedBy(strings.ToUpper(m[1].ID)) }),
		"List": func(tx storage.Tx) ([]parley.Run, error) {
			return tx.Runs().List(parley.RunFilter{Agent: "ARYA", Conversation: strings.ToUpper(c.ID), Limit: 9})
		},
	} {
		f.same(what, read(f, ask), []parley.Run{answer})
	}
	f.same("output", f.output(strings.ToUpper(r.ID)), "output")
	f.same("posts", len(f.runPosts(strings.ToUpper(r.ID))), 1)
}

// asList turns a function that finds one run into a function that finds a list.
func asList(find func(storage.Tx) (parley.Run, error)) func(storage.Tx) ([]parley.Run, error) {
	return func(tx storage.Tx) ([]parley.Run, error) {
		r, err := find(tx)
		return []parley.Run{r}, err
	}
}

func runRefused(f *fixture) {
	c, m := f.channelWithMessages(1)
	elsewhere := f.posts(1, f.channel("other", "arya").ID)[0]
	r := newRun("arya", c.ID, m[0].ID)
	f.runs(r)
	before := f.contents()
	for what, refusal := range map[string]struct {
		want error
		edit func(*parley.Run)
	}{
		"an id in use":        {parley.ErrTaken, func(o *parley.Run) { o.ID = r.ID }},
		"of nobody":           {parley.ErrNotFound, func(o *parley.Run) { o.Agent = "nobody" }},
		"nowhere":             {parley.ErrNotFound, func(o *parley.Run) { o.Conversation = newID() }},
		"woken by nothing":    {parley.ErrNotFound, func(o *parley.Run) { o.Triggers = []string{m[0].ID, newID()} }},
		"woken elsewhere":     {parley.ErrNotFound, func(o *parley.Run) { o.Triggers = []string{elsewhere.ID} }},
		"woken by what is no": {parley.ErrNotFound, func(o *parley.Run) { o.Triggers = []string{"no uuid"} }},
	} {
		run := newRun("arya", c.ID, m[0].ID)
		refusal.edit(&run)
		f.update(func(tx storage.Tx) error { // the update may go on after a refusal
			if err := tx.Runs().Insert(run); !errors.Is(err, refusal.want) {
				return fmt.Errorf("%s: got %w, want %w", what, err, refusal.want)
			}
			return nil
		})
		f.same("after "+what, f.contents(), before)
	}
}

func runUnknown(f *fixture) {
	c, m := f.channelWithMessages(1)
	known := newRun("arya", c.ID)
	f.runs(known)
	for _, id := range []string{newID(), "", "no uuid", "\x00", "arya", c.ID} {
		f.missing("a run", func(tx storage.Tx) error { return errorOf(tx.Runs().Get(id)) })
		f.missing("its posts", func(tx storage.Tx) error { return errorOf(tx.Runs().Posts(id)) })
		f.missing("its output", func(tx storage.Tx) error { return errorOf(tx.Runs().Output(id)) })
		f.missing("who posted", func(tx storage.Tx) error { return errorOf(tx.Runs().PostedBy(id)) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Runs().Put(parley.Run{ID: id}) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Runs().PutOutput(id, []byte("output")) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Runs().AddPost(id, storage.RunPost{Message: m[0].ID}) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Runs().AddPost(known.ID, storage.RunPost{Message: id}) })
	}
	f.missing("runs of nobody", func(tx storage.Tx) error { return errorOf(tx.Runs().Live("nobody")) })
	f.missing("what nobody was woken by", func(tx storage.Tx) error { return errorOf(tx.Runs().WokenBy(m[0].ID, "nobody")) })
	f.missing("what nobody spent", func(tx storage.Tx) error { return errorOf(tx.Runs().Spent("nobody", at(0))) })
	f.missing("a session of nobody", func(tx storage.Tx) error { return errorOf(tx.Runs().Session("nobody", c.ID, at(0))) })
	f.missing("a session nowhere", func(tx storage.Tx) error { return errorOf(tx.Runs().Session("arya", newID(), at(0))) })
}

func runCosts(f *fixture) {
	c, _ := f.channelWithMessages(0)
	for cost, want := range map[float64]float64{0: 0, 0.1 + 0.2: 0.3, 1e-9: 1e-9, 1e-10: 0, 12345.678901234: 12345.678901234} {
		r := newRun("arya", c.ID)
		r.Cost = cost
		f.runs(r)
		f.same("the cost", f.getRun(r.ID).Cost, want)
	}
}

func runFailed(f *fixture) {
	c, m := f.channelWithMessages(1)
	f.agents("newcomer")
	before := f.contents()
	f.fails(errOwn, func(tx storage.Tx) error {
		return errors.Join(writeRun(tx, newRun("arya", c.ID, m[0].ID), m[0]), errOwn)
	})
	f.same("afterwards", f.contents(), before)
	f.missing("the exchange", func(tx storage.Tx) error { return errorOf(tx.Loops().Get("arya", "newcomer")) })
	f.update(func(tx storage.Tx) error { return writeRun(tx, newRun("arya", c.ID, m[0].ID), m[0]) })
}

func runPutInTurn(f *fixture) {
	c, _ := f.channelWithMessages(0)
	r := newRun("arya", c.ID)
	f.runs(r)
	const n = 24
	f.requireNoErrors(concurrently(n, func(int) error {
		return f.store.Update(f.Context(), func(tx storage.Tx) error {
			r, err := tx.Runs().Get(r.ID)
			if err != nil {
				return err
			}
			r.Attempt++
			return tx.Runs().Put(r)
		})
	}))
	f.same("attempts", f.getRun(r.ID).Attempt, 1+n)
}
