package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

var historyTests = []test{
	{"random updates, some of which fail or panic, leave the store equal to a simple model", randomHistories},
}

// step is one call within an update. Do names the call. A, B and C select the agents, conversations and other rows for it.
type step struct {
	Do      string
	A, B, C int
}

// plan is one update: its steps, and whether it ends well, with an error or with a panic.
type plan struct {
	Steps []step
	End   string
}

var plans = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plan {
	return plan{
		Steps: rapid.SliceOfN(rapid.Custom(drawStep), 1, 6).Draw(t, "steps"),
		End:   rapid.SampledFrom([]string{"well", "well", "well", "error", "panic"}).Draw(t, "end"),
	}
}), 1, 8)

func drawStep(t *rapid.T) step {
	n := rapid.IntRange(0, 3)
	var names []string
	for _, some := range allSteps {
		names = slices.AppendSeq(names, maps.Keys(some))
	}
	slices.Sort(names)
	return step{rapid.SampledFrom(names).Draw(t, "do"), n.Draw(t, "a"), n.Draw(t, "b"), n.Draw(t, "c")}
}

// randomHistories uses one store for all histories, because opening a store is slow. Each history has its own names, and
// compares only rows that were written since it began.
func randomHistories(f *fixture) {
	run := 0
	rapid.Check(f.T, func(t *rapid.T) {
		run++
		h := &history{prefix: fmt.Sprintf("h%d", run), model: f.newModel()}
		begin := h.model.clone()
		list := plans.Draw(t, "plans")
		if rapid.Bool().Draw(t, "with mail") {
			list = slices.Insert(list, 0, initialPlan)
		}
		for _, p := range list {
			if err := h.play(f.store, p); err != nil {
				t.Fatalf("%+v: %v", p, err)
			}
		}
		var got contents
		err := f.store.View(context.Background(), func(tx storage.Tx) (err error) {
			if got, err = h.dump(tx, begin); err == nil {
				err = errors.Join(h.checkKeys(tx), h.checkQueues(tx, h.model), h.checkRuns(tx, h.model), h.checkWaits(tx, h.model), checkCounts(tx))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(h.model.contents(), got, cmpOptions...); diff != "" {
			t.Fatalf("the store is not what the model says (-model +store):\n%s", diff)
		}
		f.update(h.settleAll)
	})
}

// initialPlan is the first plan of half of the histories, so that there are deliveries to take.
var initialPlan = plan{End: "well", Steps: []step{
	{"add agent", 0, 0, 0},
	{"add agent", 1, 2, 0},
	{"add channel", 0, 0, 0},
	{"post", 0, 0, 0},
	{"post", 0, 1, 1},
	{"post", 0, 0, 2},
	{"deliver", 0, 0, 1},
	{"deliver", 1, 0, 1},
	{"deliver", 2, 0, 1},
}}

// newModel returns an empty model that continues the store's numbers.
func (f *fixture) newModel() *model {
	m := &model{
		members: map[string][]parley.Member{}, deliveries: map[string][]parley.Delivery{},
		pairs: map[[2]string]int64{}, keys: map[[2]string]string{}, heartbeats: map[[2]string]string{},
		evicted: map[string]int64{}, deletedInboxes: map[string]parley.Inbox{},
		posts: map[string][]storage.RunPost{}, outputs: map[string]string{}, exchanges: map[[2]string]storage.Exchange{},
	}
	f.view(func(tx storage.Tx) error {
		next, err := tx.Messages().NextSeq()
		if err != nil {
			return err
		}
		m.seq = next - 1
		audit, err := tx.Log().AuditEntries(0, noLimit)
		for _, e := range audit {
			m.auditNum, m.auditHash = e.Num, e.Hash
		}
		return err
	})
	return m
}

// history runs plans on a store and on a model.
type history struct {
	prefix string
	model  *model
}

var errMismatch = errors.New("store and model disagree")

// play runs one update on the store and on a copy of the model. If the update succeeds, the copy becomes the model.
func (h *history) play(s storage.Store, p plan) error {
	var next *model
	err := s.Update(context.Background(), func(tx storage.Tx) error {
		next = h.model.clone() // a new copy each time, because the store may run the function twice
		for _, st := range p.Steps {
			if err := h.do(tx, next, st); err != nil {
				return fmt.Errorf("%w: %+v: %w", errMismatch, st, err)
			}
		}
		switch p.End {
		case "error":
			return errOwn
		case "panic":
			panic("the end of a plan")
		default:
			return nil
		}
	})
	if errors.Is(err, errMismatch) {
		return err
	}
	isExpected := map[string]func(error) bool{"well": isOutcome[0], "error": isOutcome[1], "panic": isOutcome[2]}
	if !isExpected[p.End](err) {
		return fmt.Errorf("an update that ended %s returned %w", p.End, err)
	}
	if err == nil {
		h.model = next
	}
	return nil
}

var allSteps = []map[string]func(*history, storage.Tx, *model, step) error{steps, queueSteps, runSteps, waitSteps}

func (h *history) do(tx storage.Tx, m *model, s step) error {
	for _, some := range allSteps {
		if do := some[s.Do]; do != nil {
			return do(h, tx, m, s)
		}
	}
	return fmt.Errorf("there is no step %q", s.Do)
}

// steps are the calls that an update can make. Each changes the store and the model, and returns an error if they disagree.
var steps = map[string]func(*history, storage.Tx, *model, step) error{
	"add agent": func(h *history, tx storage.Tx, m *model, s step) error {
		a := newAgent(h.id(s.A))
		a.Name = h.name(s.B)
		return compareErrors(tx.Agents().Insert(a), m.addAgent(a))
	},
	"rename agent": func(h *history, tx storage.Tx, m *model, s step) error {
		a := newAgent(h.id(s.A))
		if i := m.agent(a.ID); i >= 0 && m.agents[i].ID == a.ID {
			a = m.agents[i]
		}
		a.Name, a.Role = h.name(s.B), strconv.Itoa(s.C)
		return compareErrors(tx.Agents().Put(a), m.changeAgent(a))
	},
	"find agent": func(h *history, tx storage.Tx, m *model, s step) error {
		name := strings.ToUpper(h.name(s.B))
		got, err := tx.Agents().Find(name)
		i := m.agent(name)
		if i < 0 {
			return compareErrors(err, parley.ErrNotFound)
		}
		if diff := cmp.Diff(m.agents[i], got, cmpOptions...); err != nil || diff != "" {
			return fmt.Errorf("%w %s", err, diff)
		}
		return nil
	},
	"add channel": func(h *history, tx storage.Tx, m *model, s step) error {
		c := newChannel(h.id(s.A), h.agentID(m, s.B))
		return compareErrors(tx.Conversations().Insert(c), m.addConversation(c))
	},
	"add DM": func(h *history, tx storage.Tx, m *model, s step) error {
		c := newDM(h.agentID(m, s.A), h.agentID(m, s.B))
		return compareErrors(tx.Conversations().Insert(c), m.addConversation(c))
	},
	"rename conversation": func(h *history, tx storage.Tx, m *model, s step) error {
		c := m.someConversation(s.A)
		c.Name = h.id(s.B)
		return compareErrors(tx.Conversations().Put(c), m.renameConversation(c.ID, c.Name))
	},
	"bury": func(_ *history, tx storage.Tx, m *model, s step) error {
		id := m.someConversation(s.A).ID
		return compareErrors(tx.Conversations().Delete(id), m.deleteConversation(id))
	},
	"purge": func(_ *history, tx storage.Tx, _ *model, s step) error {
		n, err := tx.Conversations().Purge(s.A + 1)
		if n > s.A+1 {
			return fmt.Errorf("%d rows erased, the limit is %d", n, s.A+1)
		}
		return err
	},
	"put member": func(h *history, tx storage.Tx, m *model, s step) error {
		member := parley.Member{Conversation: m.someConversation(s.A).ID, Agent: h.agentID(m, s.B), JoinedAt: at(s.C), ReadSeq: int64(s.C)}
		return compareErrors(tx.Members().Put(member), m.putMember(member))
	},
	"remove member": func(h *history, tx storage.Tx, m *model, s step) error {
		id := m.someConversation(s.A).ID
		return compareErrors(tx.Members().Remove(id, h.agentID(m, s.B)), m.removeMember(id, h.agentID(m, s.B)))
	},
	"post": func(h *history, tx storage.Tx, m *model, s step) error {
		msg := newMessage(m.someConversation(s.A).ID, h.agentID(m, s.B), "hello")
		msg.To = []string{"", parley.All, h.agentID(m, 0), h.agentID(m, s.B+1)}[s.C]
		if s.C > 1 {
			msg.IdempotencyKey = strconv.Itoa(s.C)
		}
		msg.Priority, _ = parley.PriorityOf(s.A + 2*s.B)
		if s.B == 1 {
			msg.ExpiresAt, msg.Deadline = atPointer(60*s.A+10), atPointer(60*s.C+20)
		}
		if s.C == 0 {
			msg.Type = parley.TypeHeartbeat
		}
		stored, err := post(tx, msg)
		if stored.Seq != m.seq+1 {
			return fmt.Errorf("the next seq was %d, want %d", stored.Seq, m.seq+1)
		}
		return compareErrors(err, m.post(stored))
	},
	"deliver": func(h *history, tx storage.Tx, m *model, s step) error {
		msg := m.someMessage(s.A)
		to := reaches(h.agentID(m, s.B), h.agentID(m, s.B+s.C))
		to[0].Wakes = s.C != 1
		if s.A == 3 {
			to[0].Sequence = 7
		}
		if s.C == 2 {
			to[1].Purpose = parley.PurposeAsk
		}
		made, err := tx.Deliveries().Insert(msg, to)
		if err := compareErrors(err, m.deliver(msg, to)); err != nil || len(made) == 0 {
			return err
		}
		if last := made[len(made)-1]; last.PairSeq != m.pairs[[2]string{msg.From, last.Recipient}] {
			return fmt.Errorf("pair_seq is %d", last.PairSeq)
		}
		return nil
	},
	"append event": func(_ *history, tx storage.Tx, m *model, s step) error {
		e := parley.Event{At: at(s.A), Kind: "test"}
		m.append(e)
		return tx.Log().Append(e)
	},
	"audit": func(_ *history, tx storage.Tx, m *model, s step) error {
		e := parley.AuditEntry{At: at(s.A), Actor: "user", Act: "test"}
		m.auditEntry(e)
		return tx.Log().AppendAudit(e)
	},
}

// id returns one of four ids, which agents and channels share.
func (h *history) id(n int) string { return fmt.Sprintf("%s-%d", h.prefix, n%4) }

// agentID returns the id of the agent that one of the four ids finds, perhaps as its name. If there is none, it returns an
// unused id.
func (h *history) agentID(m *model, n int) string {
	if i := m.agent(h.id(n)); i >= 0 {
		return m.agents[i].ID
	}
	return h.id(n)
}

// name returns one of four display names. Some of them are an id in another spelling.
func (h *history) name(n int) string {
	return []string{h.prefix + "-Zoë", strings.ToUpper(h.prefix) + "-ZOE\u0308", h.id(1), strings.ToUpper(h.id(2))}[n%4]
}

// someConversation returns the n-th conversation, or one that does not exist if there are fewer.
func (m *model) someConversation(n int) parley.Conversation {
	if n < len(m.conversations) {
		return m.conversations[n]
	}
	return newChannel("none", "nobody")
}

func (m *model) someMessage(n int) parley.Message {
	if n < len(m.messages) {
		return m.messages[n]
	}
	if len(m.agents) == 0 {
		return newMessage(newID(), "nobody", "never stored")
	}
	return newMessage(newID(), m.agents[0].ID, "never stored")
}

// compareErrors returns an error if the store and the model have returned different errors.
func compareErrors(store, model error) error {
	if errors.Is(store, model) && (store == nil) == (model == nil) {
		return nil
	}
	return fmt.Errorf("the store says %q, the model %q", fmt.Sprint(store), fmt.Sprint(model))
}

// dump returns the rows in the store that belong to this history.
func (h *history) dump(tx storage.Tx, begin *model) (all contents, err error) {
	if all, err = dumpAfter(tx, begin); err != nil {
		return all, err
	}
	all.Agents = slices.DeleteFunc(all.Agents, func(a parley.Agent) bool { return !h.isOwn(a.ID) })
	all.Conversations = slices.DeleteFunc(all.Conversations, func(c parley.Conversation) bool { return !h.isOwn(c.CreatedBy) })
	all.Runs = slices.DeleteFunc(all.Runs, func(r parley.Run) bool { return !h.isOwn(r.Agent) })
	maps.DeleteFunc(all.Live, func(id string, _ int) bool { return !h.isOwn(id) })
	// The log shows messages of deleted conversations as events until they are erased.
	all.Events = slices.DeleteFunc(all.Events, func(e parley.Event) bool {
		return e.Kind == parley.EventMessagePosted &&
			!slices.ContainsFunc(all.Messages, func(m parley.Message) bool { return m.ID == e.Message })
	})
	return all, all.fill(tx)
}

func (h *history) checkKeys(tx storage.Tx) error {
	for key, want := range h.model.keys {
		got, err := tx.Messages().FindByKey(key[0], key[1], time.Time{})
		if err != nil || got != want {
			return fmt.Errorf("the key %v leads to %s, want %s: %w", key, got, want, err)
		}
	}
	return nil
}
