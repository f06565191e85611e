package storetest

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
)

// Fill writes rows of every kind into an empty store.
func Fill(tx storage.Tx) error {
	for _, id := range []string{"arya", "gendry"} {
		if err := tx.Agents().Insert(newAgent(id)); err != nil {
			return err
		}
	}
	return writeEverything(tx)
}

// Diff returns the differences between two results of Dump, or "" if they are equal.
func Diff(one, other any) string { return cmp.Diff(one, other, cmpOptions...) }

// Dump returns all rows that can be read from a store.
func Dump(tx storage.Tx) (any, error) { return dumpAll(tx) }

// contents are all rows that can be read from a store.
type contents struct {
	Agents        []parley.Agent
	Conversations []parley.Conversation
	Members       map[string][]parley.Member
	Messages      []parley.Message
	Deliveries    map[string][]parley.Delivery
	Artifacts     []storage.StoredArtifact
	Tokens        []parley.Token
	Runs          []parley.Run
	Posts         map[string][]storage.RunPost
	Outputs       map[string]string
	Live          map[string]int
	Healths       map[string]parley.Health
	Asks          map[string]parley.Wait
	Waits         map[string][]parley.Wait // waits that have not ended
	Tasks         []parley.Task
	Permissions   []parley.Permission
	Approvals     []parley.Approval
	Notes         []parley.Note
	Notices       []parley.Notice // notices that are not done
	Bridges       []parley.Bridge
	Departures    map[string][]storage.DepartureRow // departures that are due
	Inboxes       map[string]parley.Inbox
	Sessions      []storage.SessionRow
	Events        []parley.Event
	Audit         []parley.AuditEntry
	NextSeq       int64
}

const noLimit = 1 << 20

func (f *fixture) contents() contents {
	f.Helper()
	return read(f, dumpAll)
}

func dumpAll(tx storage.Tx) (all contents, err error) {
	if all, err = dumpAfter(tx, &model{}); err != nil {
		return all, err
	}
	return all, all.fill(tx)
}

// dumpAfter returns the events and messages after the numbers of a model, and all agents and conversations.
func dumpAfter(tx storage.Tx, begin *model) (all contents, err error) {
	var errs [18]error
	all.Agents, errs[0] = tx.Agents().List()
	all.Conversations, errs[1] = allConversations(tx)
	all.Messages, errs[2] = tx.Messages().Scan(begin.seq, noLimit)
	all.Events, errs[3] = tx.Log().Events(begin.seq, noLimit)
	all.Audit, errs[4] = tx.Log().AuditEntries(begin.auditNum, noLimit)
	all.NextSeq, errs[5] = tx.Messages().NextSeq()
	all.Artifacts, errs[6] = tx.Artifacts().List("", noLimit)
	all.Tokens, errs[7] = tx.Tokens().List(parley.TokenFilter{Limit: noLimit})
	all.Runs, errs[8] = tx.Runs().List(parley.RunFilter{Limit: noLimit})
	all.Live, errs[9] = tx.Runs().CountLive()
	all.Healths, errs[10] = tx.Agents().Healths()
	all.Tasks, errs[11] = tx.Tasks().List(parley.TaskFilter{Limit: noLimit}, "")
	all.Permissions, errs[12] = tx.Permissions().List()
	all.Approvals, errs[13] = tx.Approvals().List(parley.ApprovalFilter{Limit: noLimit}, "", false)
	all.Notices, errs[14] = tx.Notices().Due(at(noLimit), noLimit)
	all.Bridges, errs[15] = tx.Bridges().List()
	all.Sessions, errs[16] = tx.Sessions().List()
	all.Notes, errs[17] = tx.Notes().Scan("", noLimit)
	return all, errors.Join(errs[:]...)
}

// fill adds the rows that belong to the agents, conversations and messages.
func (all *contents) fill(tx storage.Tx) (err error) {
	all.Inboxes = map[string]parley.Inbox{}
	for _, a := range all.Agents {
		if all.Inboxes[a.ID], err = tx.Queue().Inbox(a.ID); err != nil {
			return err
		}
	}
	all.Members = map[string][]parley.Member{}
	for _, c := range all.Conversations {
		if all.Members[c.ID], err = tx.Members().List(c.ID); err != nil {
			return err
		}
	}
	all.Deliveries = map[string][]parley.Delivery{}
	for _, m := range all.Messages {
		if all.Deliveries[m.ID], err = tx.Deliveries().OfMessage(m.ID); err != nil {
			return err
		}
	}
	return errors.Join(all.fillRuns(tx), all.fillWaits(tx), all.fillDepartures(tx))
}

func (all *contents) fillDepartures(tx storage.Tx) (err error) {
	all.Departures = map[string][]storage.DepartureRow{}
	for _, b := range all.Bridges {
		if all.Departures[b.ID], err = tx.Bridges().Departures(b.ID, parley.DepartureDue, 0, noLimit); err != nil {
			return err
		}
	}
	return nil
}

func (all *contents) fillWaits(tx storage.Tx) (err error) {
	all.Asks, all.Waits = map[string]parley.Wait{}, map[string][]parley.Wait{}
	for _, c := range all.Conversations {
		if all.Waits[c.ID], err = tx.Waits().InConversation(c.ID); err != nil {
			return err
		}
	}
	for _, m := range all.Messages {
		ask, err := tx.Waits().Ask(m.ID)
		if err == nil {
			all.Asks[m.ID] = ask
		} else if !errors.Is(err, parley.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (all *contents) fillRuns(tx storage.Tx) (err error) {
	all.Posts, all.Outputs = map[string][]storage.RunPost{}, map[string]string{}
	for _, r := range all.Runs {
		if all.Posts[r.ID], err = tx.Runs().Posts(r.ID); err != nil {
			return err
		}
		output, err := tx.Runs().Output(r.ID)
		if err != nil {
			return err
		}
		all.Outputs[r.ID] = string(output)
	}
	return nil
}

func allConversations(tx storage.Tx) ([]parley.Conversation, error) {
	open, err := tx.Conversations().List(storage.ConversationFilter{Limit: noLimit})
	if err != nil {
		return nil, err
	}
	archived, err := tx.Conversations().List(storage.ConversationFilter{Archived: true, Limit: noLimit})
	return append(open, archived...), err
}

// writeEverything writes rows of every kind: an agent, a rename, a conversation with a member, a message with key and delivery,
// a change of another delivery, a run, a wait, a task, a rule, an approval, a notice, two notes, a bridge with a file and a departure, a
// token, an event and an audit entry.
func writeEverything(tx storage.Tx) error {
	first, err := tx.Agents().Find("arya")
	if err != nil {
		return err
	}
	first.Name, first.Role = "Renamed", "changed"
	added := newAgent("newcomer")
	c := newChannel("fresh", "newcomer")
	m := newMessage(c.ID, "newcomer", "hello")
	m.IdempotencyKey = "fresh-key"
	for _, step := range []func() error{
		func() error { return tx.Agents().Put(first) },
		func() error { return tx.Agents().Insert(added) },
		func() error { return errorOf(tx.Agents().Find("newcomer")) },
		func() error { return errorOf(tx.Agents().Find("Renamed")) },
		func() error { return tx.Conversations().Insert(c) },
		func() error {
			return tx.Members().Put(parley.Member{Conversation: c.ID, Agent: "arya", JoinedAt: at(0)})
		},
		func() (err error) { m, err = post(tx, m); return err },
		func() error { return errorOf(tx.Deliveries().Insert(m, reaches("arya"))) },
		func() error { return evictOldest(tx, "gendry") },
		func() error { return writeRun(tx, newRun("arya", c.ID, m.ID), m) },
		func() error { return writeWork(tx, c, m) },
		func() error { return writeBridge(tx, m) },
		func() error {
			return forEach([]parley.Note{newNote("note-1", "arya", "", "arya", "mine"), newNote("note-2", "", c.ID, "newcomer", "ours")}, tx.Notes().Insert)
		},
		func() error { return tx.Tokens().Insert(newToken("newcomer"), parley.TokenHash{1}) },
		func() error { return tx.Sessions().Insert(newSession("newcomer", "key", 1)) },
		func() error {
			return tx.Log().Append(parley.Event{At: at(1), Kind: parley.EventAgentAdded, Agent: "newcomer"})
		},
		func() error {
			return tx.Log().AppendAudit(parley.AuditEntry{At: at(1), Actor: "arya", Act: "add", Subject: "newcomer"})
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// writeRun writes every kind of row that belongs to a run.
func writeRun(tx storage.Tx, r parley.Run, posted parley.Message) error {
	ended := r
	ended.State, ended.EndedAt = parley.RunSucceeded, atPointer(5)
	return errors.Join(
		tx.Runs().Insert(r), tx.Runs().AddPost(r.ID, storage.RunPost{Digest: "digest", Message: posted.ID}),
		tx.Runs().PutOutput(r.ID, []byte("output")), tx.Runs().Put(ended),
		tx.Loops().Put(storage.Exchange{A: "arya", B: "newcomer", Last: "newcomer", Conversation: r.Conversation, Count: 1, At: at(2)}),
		tx.Agents().PutHealth(r.Agent, parley.Health{Health: "healthy", At: at(3)}),
	)
}

// writeWork writes every kind of row about contacts between agents.
func writeWork(tx storage.Tx, c parley.Conversation, m parley.Message) error {
	wait, task, approval, notice := newAsk(m.ID, "newcomer", "arya"), newTask(1), newApproval("digest"), newNotice("key", 1)
	late := wait
	late.State = parley.WaitLate
	task.Conversation, task.Message, task.CallbackTo, approval.Conversation = c.ID, m.ID, c.ID, c.ID
	under := newTask(2)
	under.Parent, under.Root, under.Depth, under.DependsOn = "task-1", "task-1", 1, []string{"task-1"}
	active := task
	active.Status = parley.TaskActive
	return errors.Join(
		tx.Waits().Insert(wait), tx.Waits().Put(late), tx.Tasks().Insert(task), tx.Tasks().Insert(under), tx.Tasks().Put(active),
		tx.Permissions().Put(newRule("arya", "newcomer", parley.EffectDeny)), tx.Approvals().Insert(approval), tx.Notices().Insert(notice),
	)
}

// writeBridge writes every kind of row about bridges.
func writeBridge(tx storage.Tx, m parley.Message) error {
	return errors.Join(
		tx.Bridges().Insert(newBridge("tree")), tx.Bridges().MoveCursor("tree", 90), tx.Bridges().AddFile(newFile("tree", "a.json", m.ID)),
		errorOf(tx.Bridges().AddDeparture(newDeparture("tree", "arya", "name", m.ID))),
	)
}

// evictOldest evicts the oldest ready delivery to an agent, if there is one.
func evictOldest(tx storage.Tx, agent string) error {
	list, err := tx.Queue().Ready(storage.QueueFilter{Recipient: agent, Wakes: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	after := list[0]
	setState(parley.DeliveryEvicted)(&after)
	return tx.Deliveries().Put(list[0], after)
}

// errorOf returns the error of a call and drops its result.
func errorOf[V any](_ V, err error) error { return err }
