package turns

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/memory"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RunContext returns what a run's prompt is made of. It contains messages of the run's own conversation only. The caller adds
// the identity files and the tools.
func (s *Service) RunContext(ctx context.Context, run string) (c parley.RunContext, err error) {
	defer s.ObserveRead(time.Now(), &err)
	var page []parley.Message
	err = s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		if c.Run, err = u.Runs().Get(run); errors.Is(err, parley.ErrNotFound) {
			return runs.RunEndedError(run)
		}
		if err != nil {
			return err
		}
		if c.Agent, err = u.Agents().Find(c.Run.Agent); err != nil {
			return err
		}
		u.EndAs(c.Agent)
		u = u.As(c.Agent) // so that the prompt contains nothing that the agent may not read
		conv, err := conversations.Conversation(u, c.Run.Conversation)
		if err != nil {
			return err
		}
		c.Conversation = conv.Conversation
		if c.Triggers, err = runs.Messages(u, c.Run.Triggers); err != nil {
			return err
		}
		if page, err = contextPage(u, c.Conversation, c.Agent); err != nil {
			return err
		}
		if err := addHistory(u, &c, page); err != nil {
			return err
		}
		if err := addTask(u, &c); err != nil {
			return err
		}
		if c.Notes, err = memory.Matching(u, c.Agent.ID, c.Conversation.ID, wordsOfWork(c)); err != nil {
			return err
		}
		return addParticipants(u, &c)
	})
	if err == nil && len(page) > 0 {
		s.Live.Change(run, func(live *local.LiveRun) { live.From, live.UpTo = page[0].Seq, page[len(page)-1].Seq })
	}
	return c, err
}

// contextPage returns the last messages of a conversation, as many as the agent's limit says.
func contextPage(u *unit.Unit, c parley.Conversation, a parley.Agent) (list []parley.Message, err error) {
	page := parley.Page{Limit: a.ContextMessages}
	for page.Limit > 0 { // the store returns large messages in parts
		part, err := u.Messages().Page(c.ID, page)
		if err != nil || len(part) == 0 {
			return list, err
		}
		list = append(part, list...)
		page.Before, page.Limit = part[0].Seq, page.Limit-len(part)
	}
	return list, nil
}

// addHistory adds the messages of the conversation that are not triggers. If the run resumes a client's session, it adds only
// the messages that the session has not seen: those after the newest trigger of the session's last run, except the posts of
// that run.
func addHistory(u *unit.Unit, c *parley.RunContext, page []parley.Message) error {
	earlier, err := runs.Earlier(u, c.Run)
	if err != nil {
		return err
	}
	if c.Earlier, err = runs.PostsOf(u, earlier...); err == nil {
		c.Earlier, err = readableMessages(u, c.Earlier)
	}
	if err != nil {
		return err
	}
	known, after := slices.Clone(c.Run.Triggers), int64(0)
	if c.Run.Session != "" && c.Run.State.Live() {
		if after, known, err = knownToSession(u, c, known); err != nil {
			return err
		}
	}
	c.History = excluding(page, known, after)
	if c.Resumed {
		c.Whole = excluding(page, c.Run.Triggers, 0)
	}
	return nil
}

// excluding returns the messages of a page after a seq, without those whose ids are known.
func excluding(page []parley.Message, known []string, after int64) (list []parley.Message) {
	for _, m := range page {
		if m.Seq > after && !slices.Contains(known, m.ID) {
			list = append(list, m)
		}
	}
	return list
}

// readableMessages returns the messages that the agent may still read.
func readableMessages(u *unit.Unit, list []parley.Message) (readable []parley.Message, err error) {
	for _, m := range list {
		_, err := conversations.Conversation(u, m.Conversation)
		if _, hidden := errors.AsType[unit.Unknown](err); hidden {
			continue
		}
		if err != nil {
			return nil, err
		}
		readable = append(readable, m)
	}
	return readable, nil
}

// knownToSession returns what a client's session has seen: everything up to a seq, and the ids of the messages that its last
// run posted.
func knownToSession(u *unit.Unit, c *parley.RunContext, known []string) (int64, []string, error) {
	before, err := resumedRun(u, c.Run)
	if err != nil || before == nil || len(before.Triggers) == 0 {
		return 0, known, err
	}
	posts, err := u.Runs().Posts(before.ID)
	if err != nil {
		return 0, known, err
	}
	for _, p := range posts {
		known = append(known, p.Message)
	}
	if before.Conversation != c.Run.Conversation {
		c.Resumed = true // the session knows the task, but nothing else of this conversation
		return 0, known, nil
	}
	newest, err := runs.Messages(u, before.Triggers[len(before.Triggers)-1:])
	if err != nil || len(newest) == 0 {
		return 0, known, err
	}
	c.Resumed = true
	return newest[0].Seq, known, nil
}

// addTask adds the task of the run, and the results of the tasks that it depends on.
func addTask(u *unit.Unit, c *parley.RunContext) error {
	if c.Run.Task == "" {
		return nil
	}
	t, err := tasks.Task(u, c.Run.Task)
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return nil // the task was reassigned in the meantime
	}
	if err != nil {
		return err
	}
	view, err := tasks.NewViewer(u).View(t)
	if err != nil {
		return err
	}
	c.Task = &view
	if err := addRequest(u, c, t.Message); err != nil {
		return err
	}
	needed, err := u.Tasks().GetAll(t.DependsOn)
	for _, n := range needed {
		c.Needed = append(c.Needed, parley.Task{ID: n.ID, Status: n.Status, Outcome: n.Outcome, Result: n.Result})
	}
	return err
}

// addRequest adds the message that began the task, with its files, unless the conversation shows it.
func addRequest(u *unit.Unit, c *parley.RunContext, id string) error {
	if id == "" || slices.ContainsFunc(slices.Concat(c.History, c.Whole, c.Triggers), func(m parley.Message) bool { return m.ID == id }) {
		return nil
	}
	found, err := runs.Messages(u, []string{id})
	if err == nil {
		found, err = readableMessages(u, found)
	}
	if err == nil && len(found) > 0 {
		c.Request = &found[0]
	}
	return err
}

// wordsOfWork returns the texts that tell what a run is about: its triggers and the title of its task.
func wordsOfWork(c parley.RunContext) string {
	var texts []string
	for _, m := range slices.Backward(c.Triggers) { // the newest first, because the rest may be cut
		texts = append(texts, m.Content.Text)
	}
	if c.Task != nil {
		texts = append(texts, c.Task.Title)
	}
	return strings.Join(texts, "\n")
}

// addParticipants adds the members of the conversation, and the other senders of its messages.
func addParticipants(u *unit.Unit, c *parley.RunContext) error {
	members, err := u.Members().List(c.Conversation.ID)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range members {
		known[m.Agent] = true
		a, err := u.Agents().Find(m.Agent)
		if err != nil {
			return err
		}
		c.Members = append(c.Members, a)
	}
	for _, n := range c.Notes {
		if !known[n.Author] {
			known[n.Author] = true
			a, err := u.Agents().Find(n.Author)
			if err != nil {
				return err
			}
			c.Senders = append(c.Senders, a)
		}
	}
	messages := slices.Concat(c.History, c.Whole, c.Triggers, c.Earlier)
	if c.Request != nil {
		messages = append(messages, *c.Request)
	}
	for _, m := range messages {
		if known[m.From] {
			continue
		}
		known[m.From] = true
		a, err := u.Agents().Find(m.From)
		if err != nil {
			return err
		}
		c.Senders = append(c.Senders, a)
	}
	return nil
}
