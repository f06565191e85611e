package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// RunContext is what a run's prompt is made from: of its own conversation, and of nothing else. The identity
// files and the tools are for whoever makes the prompt to add.
func (h *Hub) RunContext(ctx context.Context, run string) (c parley.RunContext, err error) {
	defer h.read(time.Now(), &err)
	var page []parley.Message
	err = h.view(ctx, theHub, opItself, func(s *scene) (err error) {
		if c.Run, err = s.Runs().Get(run); errors.Is(err, parley.ErrNotFound) {
			return runOver(run)
		}
		if err != nil {
			return err
		}
		if c.Agent, err = s.Agents().Find(c.Run.Agent); err != nil {
			return err
		}
		s.endAs(c.Agent)
		s = s.As(c.Agent) // what it may not read, its prompt does not hold
		where, err := s.conversation(c.Run.Conversation)
		if err != nil {
			return err
		}
		c.Conversation = where.Conversation
		if c.Triggers, err = s.messages(c.Run.Triggers); err != nil {
			return err
		}
		if page, err = s.contextPage(c.Conversation, c.Agent); err != nil {
			return err
		}
		if err := s.addHistory(&c, page); err != nil {
			return err
		}
		if err := s.addTaskTo(&c); err != nil {
			return err
		}
		return s.addParticipants(&c)
	})
	if err == nil && len(page) > 0 {
		h.live.change(run, func(one *liveRun) { one.from, one.upTo = page[0].Seq, page[len(page)-1].Seq })
	}
	return c, err
}

// contextPage is the last messages of a conversation, as many as an agent's own limit says.
func (s *scene) contextPage(c parley.Conversation, a parley.Agent) (list []parley.Message, err error) {
	page := parley.Page{Limit: a.ContextMessages}
	for page.Limit > 0 { // large ones come in parts
		part, err := s.Messages().Page(c.ID, page)
		if err != nil || len(part) == 0 {
			return list, err
		}
		list = append(part, list...)
		page.Before, page.Limit = part[0].Seq, page.Limit-len(part)
	}
	return list, nil
}

// addHistory adds what was said beside the triggers. Where a client's session goes on, that is what it has
// not had in its context: what came after the newest message that woke the run before, but for what that run
// said itself.
func (s *scene) addHistory(c *parley.RunContext, page []parley.Message) error {
	earlier, err := s.earlier(c.Run)
	if err != nil {
		return err
	}
	if c.Earlier, err = s.postedBy(earlier...); err == nil {
		c.Earlier, err = s.readable(c.Earlier)
	}
	if err != nil {
		return err
	}
	known, after := slices.Clone(c.Run.Triggers), int64(0)
	if c.Run.Session != "" && c.Run.State.Live() {
		if after, known, err = s.sessionKnows(c, known); err != nil {
			return err
		}
	}
	c.History = without(page, known, after)
	if c.Resumed {
		c.Whole = without(page, c.Run.Triggers, 0)
	}
	return nil
}

// without is a page of messages without those that are known, by their ids or for not coming after a seq.
func without(page []parley.Message, known []string, after int64) (list []parley.Message) {
	for _, m := range page {
		if m.Seq > after && !slices.Contains(known, m.ID) {
			list = append(list, m)
		}
	}
	return list
}

// readable is those of some messages that the agent may still read.
func (s *scene) readable(list []parley.Message) (still []parley.Message, err error) {
	for _, m := range list {
		_, err := s.conversation(m.Conversation)
		if _, hidden := errors.AsType[unknown](err); hidden {
			continue
		}
		if err != nil {
			return nil, err
		}
		still = append(still, m)
	}
	return still, nil
}

// sessionKnows is what a client's session has had in its context: all up to a seq, and the messages its last
// run has posted.
func (s *scene) sessionKnows(c *parley.RunContext, known []string) (int64, []string, error) {
	before, err := s.resumes(c.Run)
	if err != nil || before == nil || len(before.Triggers) == 0 {
		return 0, known, err
	}
	posts, err := s.Runs().Posts(before.ID)
	if err != nil {
		return 0, known, err
	}
	for _, p := range posts {
		known = append(known, p.Message)
	}
	if before.Conversation != c.Run.Conversation {
		c.Resumed = true // in its task; of this conversation it knows nothing else
		return 0, known, nil
	}
	newest, err := s.messages(before.Triggers[len(before.Triggers)-1:])
	if err != nil || len(newest) == 0 {
		return 0, known, err
	}
	c.Resumed = true
	return newest[0].Seq, known, nil
}

// addTaskTo adds the task that the run is in, and of those it depends on what came of them.
func (s *scene) addTaskTo(c *parley.RunContext) error {
	if c.Run.Task == "" {
		return nil
	}
	t, err := s.task(c.Run.Task)
	if _, hidden := errors.AsType[unknown](err); hidden {
		return nil // it was given to somebody else meanwhile
	}
	if err != nil {
		return err
	}
	view, err := s.viewer().view(t)
	if err != nil {
		return err
	}
	c.Task = &view
	if err := s.addRequestTo(c, t.Message); err != nil {
		return err
	}
	needed, err := s.Tasks().GetAll(t.DependsOn)
	for _, n := range needed {
		c.Needed = append(c.Needed, parley.Task{ID: n.ID, Status: n.Status, Outcome: n.Outcome, Result: n.Result})
	}
	return err
}

// addRequestTo adds the message that began the task, with its files, where the conversation does not show it.
func (s *scene) addRequestTo(c *parley.RunContext, id string) error {
	if id == "" || slices.ContainsFunc(slices.Concat(c.History, c.Whole, c.Triggers), func(m parley.Message) bool { return m.ID == id }) {
		return nil
	}
	found, err := s.messages([]string{id})
	if err == nil {
		found, err = s.readable(found)
	}
	if err == nil && len(found) > 0 {
		c.Request = &found[0]
	}
	return err
}

// addParticipants adds who takes part, and who else has said something.
func (s *scene) addParticipants(c *parley.RunContext) error {
	members, err := s.Members().List(c.Conversation.ID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range members {
		known[m.Agent] = true
		a, err := s.Agents().Find(m.Agent)
		if err != nil {
			return err
		}
		c.Members = append(c.Members, a)
	}
	said := slices.Concat(c.History, c.Whole, c.Triggers, c.Earlier)
	if c.Request != nil {
		said = append(said, *c.Request)
	}
	for _, m := range said {
		if known[m.From] {
			continue
		}
		known[m.From] = true
		a, err := s.Agents().Find(m.From)
		if err != nil {
			return err
		}
		c.Senders = append(c.Senders, a)
	}
	return nil
}
