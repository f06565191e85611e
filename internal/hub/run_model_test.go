package hub_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// runMachine randomly does what dispatchers, runtimes, people and accidents do to runs.
type runMachine struct {
	*fixture
	live []*hub.Assignment // as the dispatcher knows them; some may have ended
}

var (
	runAgents = []string{"a1", "b2"}
	runRooms  = []string{"par", "rob", "fst"}
)

// TestWakesAreSeenOnce requires that whatever happens, every message that wakes an agent is dealt with by one
// run that ended well, or ends in a named failure, and that at no time two runs of an agent are in one
// conversation.
func TestWakesAreSeenOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		m := &runMachine{fixture: openFixture(r, stores.NewPlace(t), mayLoop, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1} })}
		m.AddScriptAgents(runAgents...)
		for _, id := range runAgents {
			m.EditAgent(id, func(a *parley.Agent) { a.Attempts, a.Concurrency = 3, 2 })
		}
		for i, mode := range []parley.Answers{parley.AnswersParallel, parley.AnswersRoundRobin, parley.AnswersFirst} {
			m.CreateConversationAs("user", parley.NewConversation{Name: runRooms[i], With: runAgents, Answers: mode})
		}
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			m.step(r)
		}
		m.drain()
		m.check()
		m.AssertConsistent()
	})
}

func (m *runMachine) step(r *rapid.T) {
	agent := rapid.SampledFrom(runAgents).Draw(r, "agent")
	switch what := rapid.IntRange(0, 9).Draw(r, "what"); {
	case what <= 2:
		m.wake(r, agent)
	case what <= 5:
		m.startRun(agent)
	case what == 6:
		m.accident(r)
	case len(m.live) > 0:
		m.goOn(r)
	}
}

func (m *runMachine) wake(r *rapid.T, agent string) {
	d := parley.Draft{Conversation: rapid.SampledFrom(runRooms).Draw(r, "room"), Content: text("@a1 @b2 hello")}
	switch rapid.IntRange(0, 2).Draw(r, "how") {
	case 0:
		d.Content.Text = "@" + agent + " hello"
	case 1:
		d = parley.Draft{Direct: []string{agent}, Content: text("hello")}
	}
	m.PostAs("user", d)
}

func (m *runMachine) startRun(agent string) {
	a := m.NextRunOf(agent)
	if a == nil {
		return
	}
	m.live = append(m.live, a)
	in := map[string]bool{}
	for _, one := range resultOf[[]parley.Run](m.fixture)(m.Runs(ctx, user, parley.RunFilter{Agent: agent, Live: true})) {
		if in[one.Conversation] {
			m.T.Fatalf("%s has two runs in one conversation", agent)
		}
		in[one.Conversation] = true
	}
	if len(in) > 2 {
		m.T.Fatalf("%s has %d runs", agent, len(in))
	}
}

func (m *runMachine) accident(r *rapid.T) {
	switch rapid.IntRange(0, 5).Draw(r, "accident") {
	case 0: // the process dies
		m.RestartAndRecover()
		if rapid.Bool().Draw(r, "swept first") {
			m.SweepDueDeliveries()
		}
		for _, lost := range resultOf[[]parley.Run](m.fixture)(m.LostRuns(ctx, node)) {
			m.NoError(m.RecoverRun(ctx, lost.ID))
		}
		m.live = nil
	case 1: // nobody keeps the runs
		m.AdvanceLeases(2 * time.Minute)
	case 2: // somebody halts an agent, or lets it go on
		actions := []parley.Action{parley.ActionPause, parley.ActionResume, parley.ActionStop, parley.ActionStart}
		m.commandAs("user", rapid.SampledFrom(runAgents).Draw(r, "halted"), rapid.SampledFrom(actions).Draw(r, "action"), parley.CommandParameters{TimeoutMS: 1})
		m.Clock.Advance(time.Second)
		m.NoError(m.SweepHalts(ctx))
	case 3: // it is to be run otherwise
		runtime := rapid.SampledFrom([]string{parley.RuntimeScript, parley.RuntimeAttached}).Draw(r, "runtime")
		m.EditAgent(rapid.SampledFrom(runAgents).Draw(r, "changed"), func(a *parley.Agent) { a.Runtime = runtime })
	default:
		m.AdvanceLeases(time.Duration(rapid.IntRange(1, 30).Draw(r, "seconds")) * time.Second)
	}
}

// goOn does the next step of a run. The hub refuses the step if the run has ended meanwhile.
func (m *runMachine) goOn(r *rapid.T) {
	i := rapid.IntRange(0, len(m.live)-1).Draw(r, "run")
	id := m.live[i].Run.ID
	var err error
	switch rapid.IntRange(0, 6).Draw(r, "goes on") {
	case 6:
		_, err = m.Post(ctx, m.live[i].Caller(), parley.Draft{InReplyTo: m.live[i].Run.Triggers[0], Content: text("so far")})
	case 0:
		err = m.BeginRun(ctx, id, parley.Process{})
	case 1:
		_, err = m.ExtendRunLease(ctx, id)
	case 2:
		_, err = m.CancelRun(ctx, user, id, "")
	case 3:
		failures := []parley.Failure{parley.FailureLost, parley.FailureBusy, parley.FailureStopped, parley.FailureFinal}
		m.FailRunWith(m.live[i], rapid.SampledFrom(failures).Draw(r, "failure"))
		m.live = slices.Delete(m.live, i, i+1)
	default:
		m.EndRun(m.live[i], rapid.SampledFrom([]string{"", "done", "@b2 go on"}).Draw(r, "answer"))
		m.live = slices.Delete(m.live, i, i+1)
	}
	if err != nil && parley.AsError(err).Reason != parley.Conflict {
		m.T.Fatalf("run %s: %v", id, err)
	}
}

// drain lets all runs and deliveries end.
func (m *runMachine) drain() {
	for _, a := range m.live {
		m.EndRun(a, "drained")
	}
	for _, agent := range runAgents {
		m.EditAgent(agent, func(a *parley.Agent) { a.Runtime = parley.RuntimeScript })
		m.commandAs("user", agent, parley.ActionStart, parley.CommandParameters{})
		m.commandAs("user", agent, parley.ActionResume, parley.CommandParameters{})
	}
	for quiet := 0; quiet < 2; quiet++ {
		m.AdvanceLeases(time.Hour)
		for _, agent := range runAgents {
			for a := m.NextRunOf(agent); a != nil; a = m.NextRunOf(agent) {
				m.EndRun(a, "drained")
				quiet = 0
			}
		}
	}
}

// check checks the outcome of every message.
func (m *runMachine) check() {
	m.NoError(m.Store.View(ctx, func(tx storage.Tx) error {
		messages, err := tx.Messages().Scan(0, 10_000)
		for _, message := range messages {
			list, ofErr := tx.Deliveries().OfMessage(message.ID)
			err = errors.Join(err, ofErr)
			for _, d := range list {
				if d.Waking && slices.Contains(runAgents, d.Recipient) {
					err = errors.Join(err, m.dealtWith(tx, d))
				}
			}
		}
		return err
	}))
}

func (m *runMachine) dealtWith(tx storage.Tx, d parley.Delivery) error {
	runs, err := tx.Runs().WokenBy(d.Message, d.Recipient)
	well, answers, replies := 0, map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		if r.State.Live() {
			m.T.Errorf("run %s lives", r.ID)
		}
		if r.State == parley.RunSucceeded {
			well++
			answers[r.Answer] = true
		}
		posts, postsErr := tx.Runs().Posts(r.ID)
		err = errors.Join(err, postsErr)
		for _, p := range posts {
			replies[p.Message] = true
		}
	}
	c, findErr := tx.Conversations().Find(d.Conversation)
	switch d.State {
	case parley.DeliveryAnswered:
		if well > 1 || !answers[d.Answer] && !replies[d.Answer] {
			m.T.Errorf("%s was answered by %d runs", d.Message, well)
		}
	case parley.DeliveryAcked:
		// Where the first answer stands, the others are spared.
		if well > 1 || well == 0 && c.Answers != parley.AnswersFirst {
			m.T.Errorf("%s was dealt with by %d runs", d.Message, well)
		}
	case parley.DeliveryFailed, parley.DeliveryDead:
		if well != 0 || d.Failure == nil {
			m.T.Errorf("%s is %s because of %v, and %d runs ended well", d.Message, d.State, d.Failure, well)
		}
	default:
		m.T.Errorf("%s ends %s", d.Message, d.State)
	}
	return errors.Join(err, findErr)
}
