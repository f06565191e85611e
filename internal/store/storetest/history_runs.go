package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/parley-hub/parley/internal/storage"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// runSteps are the changes that an update can make to runs and exchanges.
var runSteps = map[string]func(*history, storage.Tx, *model, step) error{
	"start run": func(h *history, tx storage.Tx, m *model, s step) error {
		r := newRun(h.agentID(m, s.A), m.someMessage(s.C).Conversation, m.someMessage(s.C).ID, m.someMessage(s.B).ID)
		if s.C == 3 {
			r.ID, r.Triggers = m.someRun(s.A).ID, nil
		}
		return compareErrors(tx.Runs().Insert(r), m.addRun(r))
	},
	"change run": func(_ *history, tx storage.Tx, m *model, s step) error {
		r := m.someRun(s.A)
		r.State = []parley.RunState{parley.RunRunning, parley.RunSucceeded, parley.RunWaiting, parley.RunLost}[s.B]
		r.Cost, r.InputTokens, r.Session = float64(s.C), int64(s.B), strconv.Itoa(s.C)
		if r.EndedAt = nil; !r.State.Live() {
			r.EndedAt = atPointer(s.C)
		}
		return compareErrors(tx.Runs().Put(r), m.changeRun(r))
	},
	"run posts": func(_ *history, tx storage.Tx, m *model, s step) error {
		r, p := m.someRun(s.A), storage.RunPost{Digest: strconv.Itoa(s.C), Message: m.someMessage(s.B).ID}
		return compareErrors(tx.Runs().AddPost(r.ID, p), m.posted(r.ID, p))
	},
	"keep output": func(_ *history, tx storage.Tx, m *model, s step) error {
		r, output := m.someRun(s.A), []string{"", "output", "other", "more"}[s.B]
		return compareErrors(tx.Runs().PutOutput(r.ID, []byte(output)), m.putOutput(r.ID, output))
	},
	"exchange": func(h *history, tx storage.Tx, m *model, s step) error {
		pair := exchangeKey(h.agentID(m, s.A), h.agentID(m, s.B))
		e := storage.Exchange{A: pair[0], B: pair[1], Last: pair[s.C%2], Conversation: m.someConversation(s.C).ID, Count: s.C, At: at(s.C), Open: s.C > 1}
		return compareErrors(tx.Loops().Put(e), m.putExchange(e))
	},
	"forget exchange": func(h *history, tx storage.Tx, m *model, s step) error {
		pair := exchangeKey(h.agentID(m, s.A), h.agentID(m, s.B))
		was, err := tx.Loops().Forget(pair[0], pair[1])
		if m.agent(pair[0]) < 0 || m.agent(pair[1]) < 0 {
			return compareErrors(err, parley.ErrNotFound)
		}
		if _, want := m.exchanges[pair]; err != nil || was != want {
			return fmt.Errorf("%v were forgotten: %t, want %t: %w", pair, was, want, err)
		}
		delete(m.exchanges, pair)
		return nil
	},
	"look at runs": func(h *history, tx storage.Tx, m *model, _ step) error { return h.checkRuns(tx, m) },
}

// checkRuns compares the results of the methods that find runs and exchanges with the model.
func (h *history) checkRuns(tx storage.Tx, m *model) error {
	var errs []error
	for _, r := range m.runs {
		got, err := tx.Runs().Get(r.ID)
		errs = append(errs, requireEqual("get", got, r, err))
	}
	for _, msg := range m.messages {
		errs = append(errs, checkPoster(tx, m, msg.ID))
	}
	for _, a := range m.agents {
		errs = append(errs, h.checkRunsOf(tx, m, a.ID))
	}
	return errors.Join(errs...)
}

func (h *history) checkRunsOf(tx storage.Tx, m *model, agent string) error {
	which := func(keep func(parley.Run) bool) []parley.Run {
		return slices.DeleteFunc(slices.Clone(m.runs), func(r parley.Run) bool { return r.Agent != agent || !keep(r) })
	}
	live, err := tx.Runs().Live(agent)
	errs := []error{requireEqual("live", live, which(func(r parley.Run) bool { return r.State.Live() }), err)}
	for _, msg := range m.messages {
		woken, err := tx.Runs().WokenBy(msg.ID, agent)
		want := which(func(r parley.Run) bool { return slices.Contains(r.Triggers, msg.ID) })
		errs = append(errs, requireEqual("woken", woken, want, err))
	}
	spent, err := tx.Runs().Spent(agent, at(0))
	errs = append(errs, requireEqual("spent", spent, m.spent(agent), err))
	for _, other := range m.agents {
		e, err := tx.Loops().Get(agent, other.ID)
		want, known := m.exchanges[exchangeKey(agent, other.ID)]
		if !known {
			errs = append(errs, compareErrors(err, parley.ErrNotFound))
			continue
		}
		errs = append(errs, requireEqual("exchange", e, want, err))
	}
	return errors.Join(errs...)
}

func checkPoster(tx storage.Tx, m *model, message string) error {
	got, err := tx.Runs().PostedBy(message)
	i := slices.IndexFunc(m.runs, func(r parley.Run) bool {
		return slices.ContainsFunc(m.posts[r.ID], func(p storage.RunPost) bool { return p.Message == message })
	})
	if i < 0 {
		return compareErrors(err, parley.ErrNotFound)
	}
	return requireEqual("posted by", got, m.runs[i], err)
}

func requireEqual[V any](what string, got, want V, err error) error {
	if diff := gocmp.Diff(want, got, cmpOptions...); err != nil || diff != "" {
		return fmt.Errorf("%s: %w %s", what, err, diff)
	}
	return nil
}
