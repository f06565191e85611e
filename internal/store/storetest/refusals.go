package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// After a call was refused, an update may go on and commit.
var refusalTests = []test{
	{"a refused call writes nothing, although its update goes on", refusalWritesNothing},
	{"an update goes on after a refusal", updateContinuesAfterRefusal},
}

func refusalWritesNothing(f *fixture) {
	before := f.fillStore()
	a, b := before.Agents[0], before.Agents[1]
	c, m := before.Conversations[0], before.Messages[0]
	named := newAgent("newcomer")
	named.Name = b.Name
	renamed := a
	renamed.Name, renamed.Role = b.ID, "changed"
	other := f.channel("other", "arya")
	stolen := other
	stolen.Name, stolen.Topic = c.Name, "changed"
	f.keepBodies("arya", digest("00"))
	f.tokens(newToken("arya"))
	run := newRun("arya", c.ID, m.ID)
	f.runs(run)
	f.waits(newAsk(m.ID, "arya", "gendry"))
	f.tasks(newTask(1))
	f.approvals(newApproval("digest"))
	f.notices(newNotice("key", 1))
	f.bridges(newBridge("tree"))
	f.addFiles(newFile("tree", "a.json", m.ID))
	f.addDepartures(newDeparture("tree", "arya", "name", m.ID))
	before = f.contents()
	for name, refusal := range map[string]struct {
		want error
		call func(storage.Tx) error
	}{
		"an agent whose name is taken": {parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Insert(named) }},
		"a rename to a taken name":     {parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Put(renamed) }},
		"a conversation whose name is taken": {parley.ErrTaken, func(tx storage.Tx) error {
			return tx.Conversations().Insert(newChannel(c.Name, "arya"))
		}},
		"a conversation renamed to a taken name": {parley.ErrTaken, func(tx storage.Tx) error {
			return tx.Conversations().Put(stolen)
		}},
		"deliveries of which one exists": {parley.ErrTaken, func(tx storage.Tx) error {
			return errorOf(tx.Deliveries().Insert(m, reaches("arya", "gendry")))
		}},
		"deliveries of which one is for nobody": {parley.ErrNotFound, func(tx storage.Tx) error {
			return errorOf(tx.Deliveries().Insert(m, reaches("arya", "nobody")))
		}},
		"a message for nobody": {parley.ErrNotFound, func(tx storage.Tx) error {
			lost := newMessage(c.ID, "arya", "hello")
			lost.To = "nobody"
			return errorOf(post(tx, lost))
		}},
		"a message with a body that is not stored": {parley.ErrNotFound, func(tx storage.Tx) error {
			return errorOf(post(tx, messageWithBodies(c.ID, digest("00"), digest("ff"))))
		}},
		"a body stored by nobody": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Artifacts().Put(storage.StoredArtifact{SHA256: digest("ff"), StoredAt: at(0)}, "nobody")
		}},
		"a token whose hash is taken": {parley.ErrTaken, func(tx storage.Tx) error {
			return tx.Tokens().Insert(newToken("arya"), parley.TokenHash{1})
		}},
		"a token of nobody": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Tokens().Insert(newToken("nobody"), parley.TokenHash{2})
		}},
		"a revocation of no token": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Tokens().Put(newToken("arya"))
		}},
		"a run whose id is taken": {parley.ErrTaken, func(tx storage.Tx) error {
			again := newRun("gendry", c.ID, m.ID)
			again.ID = run.ID
			return tx.Runs().Insert(again)
		}},
		"a run that something unknown woke": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Runs().Insert(newRun("arya", c.ID, m.ID, newID()))
		}},
		"a change of no run": {parley.ErrNotFound, func(tx storage.Tx) error { return tx.Runs().Put(newRun("arya", c.ID)) }},
		"an output of no run": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Runs().PutOutput(newID(), []byte("output"))
		}},
		"a post of no message": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Runs().AddPost(run.ID, storage.RunPost{Message: newID()})
		}},
		"a second ask of a message": {parley.ErrTaken, func(tx storage.Tx) error {
			return tx.Waits().Insert(newAsk(m.ID, "gendry", "arya"))
		}},
		"a wait for no message": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Waits().Insert(newAsk(newID(), "gendry", "arya"))
		}},
		"a task whose id is taken": {parley.ErrTaken, func(tx storage.Tx) error { return tx.Tasks().Insert(newTask(1)) }},
		"a task that depends on none": {parley.ErrNotFound, func(tx storage.Tx) error {
			t := newTask(2)
			t.DependsOn = []string{"task-1", "task-3"}
			return tx.Tasks().Insert(t)
		}},
		"a rule for nobody": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Permissions().Put(newRule("arya", "nobody", parley.EffectAllow))
		}},
		"a second request for a call": {parley.ErrTaken, func(tx storage.Tx) error { return tx.Approvals().Insert(newApproval("digest")) }},
		"a second notice of a key":    {parley.ErrTaken, func(tx storage.Tx) error { return tx.Notices().Insert(newNotice("key", 2)) }},
		"a second bridge of a name":   {parley.ErrTaken, func(tx storage.Tx) error { return tx.Bridges().Insert(newBridge("tree")) }},
		"a file that has arrived": {parley.ErrTaken, func(tx storage.Tx) error {
			return tx.Bridges().AddFile(newFile("tree", "a.json", m.ID))
		}},
		"a departure with a taken name": {parley.ErrTaken, func(tx storage.Tx) error {
			return errorOf(tx.Bridges().AddDeparture(newDeparture("tree", "arya", "name", newID())))
		}},
		"the health of nobody": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Agents().PutHealth("nobody", parley.Health{})
		}},
		"a member that does not exist": {parley.ErrNotFound, func(tx storage.Tx) error {
			return tx.Members().Put(parley.Member{Conversation: c.ID, Agent: "nobody"})
		}},
	} {
		f.update(func(tx storage.Tx) error {
			if err := refusal.call(tx); !errors.Is(err, refusal.want) {
				return fmt.Errorf("%s: got %w, want %w", name, err, refusal.want)
			}
			return nil
		})
		f.same("after "+name, f.contents(), before)
	}
	// Refused calls must not draw numbers either. Only the next row shows that.
	m2 := f.post(newMessage(c.ID, "arya", "hello"))
	if made := f.deliver(m2, "gendry", "arya"); made[0].PairSeq != 2 || made[1].PairSeq != 1 {
		f.Errorf("pair_seq after refusals: %+v", made)
	}
	f.agents("newcomer")
}

func updateContinuesAfterRefusal(f *fixture) {
	f.agents("arya")
	f.update(func(tx storage.Tx) error {
		if err := tx.Agents().Insert(newAgent("arya")); !errors.Is(err, parley.ErrTaken) {
			return fmt.Errorf("got %w, want ErrTaken", err)
		}
		if _, err := tx.Agents().Find("gendry"); !errors.Is(err, parley.ErrNotFound) {
			return fmt.Errorf("got %w, want ErrNotFound", err)
		}
		return tx.Agents().Insert(newAgent("gendry"))
	})
	f.findAgent("gendry")
}
