package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

const askTimeout = 2 * time.Minute

// fakeHub is a hub of agents that follow rules. It records what happens as the lines of a dialogue.
type fakeHub struct {
	bots  map[string]string // rules by agent
	held  map[string]func() // by agent: what the hub does when a person approves the ask of the agent
	lines []string
	queue []wake
	tasks int
}

// wake is a pending run.
type wake struct {
	bot     string
	message parley.Message
	attempt int
	task    string
	done    func(answer string) // called with the answer; nil: the hub posts the answer in the conversation of the message
}

// note records a text. It indents all lines except the first.
func (w *fakeHub) note(format string, args ...any) {
	w.lines = append(w.lines, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n  "))
}

// post posts a message to a channel or a participant, and wakes its recipients.
func (w *fakeHub) post(from, channel, to, text string) {
	m := parley.Message{From: from, Type: parley.TypeChat, Conversation: "dm", Content: parley.Content{Text: text}}
	if channel == "" {
		w.note("%s → %s: %s", from, to, text)
		w.wake(to, m, nil)
		return
	}
	w.note("%s in #%s: %s", from, channel, text)
	m.Conversation = channel
	m.Mentions, _ = parley.ParseMentions(text).Resolve(func(name string) (string, bool) {
		_, ok := w.bots[strings.ToLower(name)]
		return strings.ToLower(name), ok
	}, func(string) bool { return false })
	for _, bot := range m.Mentions {
		w.wake(bot, m, nil)
	}
}

func (w *fakeHub) wake(bot string, m parley.Message, done func(string)) {
	if _, ok := w.bots[bot]; ok && bot != m.From {
		w.queue = append(w.queue, wake{bot, m, 1, m.Task, done})
	}
}

// runAll executes the pending runs until none is left.
func (w *fakeHub) runAll(ctx context.Context) {
	for len(w.queue) > 0 {
		next := w.queue[0]
		w.queue = w.queue[1:]
		answer, err := w.run(ctx, next)
		why, isRunError := errors.AsType[*parley.RunError](err)
		switch {
		case isRunError && why.Failure != parley.FailureFinal:
			w.note("%s fails for now: %s", next.bot, why.Reason)
			next.attempt++
			w.queue = append(w.queue, next)
		case isRunError:
			w.note("%s fails: %s", next.bot, why.Reason)
		case err != nil:
			w.note("%s fails: %v", next.bot, err)
		case next.done != nil:
			next.done(answer)
		case answer != "":
			w.answer(next, answer)
		}
	}
}

// answer posts the answer of a run. In a DM it wakes nobody.
func (w *fakeHub) answer(to wake, text string) {
	if to.message.Conversation == "dm" {
		w.note("%s → %s: %s", to.bot, to.message.From, text)
		return
	}
	w.post(to.bot, to.message.Conversation, "", text)
}

func (w *fakeHub) run(ctx context.Context, next wake) (string, error) {
	config, _ := json.Marshal(map[string]string{"rules": w.bots[next.bot]})
	result, err := New().Run(ctx, parley.RunRequest{
		Run:       parley.Run{Attempt: next.attempt, Conversation: next.message.Conversation, Task: next.task},
		Agent:     parley.Agent{ID: next.bot, Profile: parley.Profile{RuntimeConfig: config}},
		Triggers:  []parley.Message{next.message},
		Workspace: workspace{nil, w, next},
		Begin:     func(context.Context, parley.Process) error { return nil },
		Say:       func(text string) { w.note("%s reports: %s", next.bot, strings.TrimSpace(text)) },
	})
	return result.Text, err
}

// workspace is the hub as one run uses it.
type workspace struct {
	parley.Workspace // nil: no rule calls the other methods
	hub              *fakeHub
	wake             wake
}

func (s workspace) Post(_ context.Context, d parley.Draft) (parley.Receipt, error) {
	to := d.To
	if len(d.Direct) > 0 {
		to = d.Direct[0]
	}
	s.hub.post(s.wake.bot, d.Conversation, to, d.Content.Text)
	return parley.Receipt{}, nil
}

func (s workspace) Conversations(context.Context, parley.ListFilter) ([]parley.ConversationView, error) {
	name := strings.TrimPrefix(s.wake.message.Conversation, "dm")
	return []parley.ConversationView{{Conversation: parley.Conversation{ID: s.wake.message.Conversation, Name: name}}}, nil
}

func (s workspace) Sleep(_ context.Context, until time.Time) error {
	s.hub.note("%s sleeps for %s", s.wake.bot, time.Until(until))
	return nil
}

func (s workspace) UpdateTask(_ context.Context, id string, c parley.TaskChange) (parley.TaskView, error) {
	s.hub.note("%s is at %.0f %%: %s", id, 100**c.Progress.Fraction, c.Progress.Message)
	return parley.TaskView{}, nil
}

// Contact implements contact_agent of OpenCompany.
func (s workspace) Contact(ctx context.Context, c parley.Contact) (parley.Contacted, error) {
	text := c.Message
	if c.Context != "" {
		text += "\ncontext: " + c.Context
	}
	if len(c.After) > 0 {
		text += "\nafter: " + strings.Join(c.After, ", ")
	}
	switch c.Pattern {
	case parley.PatternAsk:
		s.hub.note("%s asks %s: %s", s.wake.bot, c.Agent, text)
		return s.ask(ctx, c)
	case parley.PatternDelegate:
		s.hub.note("%s delegates to %s (%s): %s", s.wake.bot, c.Agent, c.Priority.Class(), text)
		return s.delegate(c), nil
	default:
		s.hub.note("%s notifies %s: %s", s.wake.bot, c.Agent, text)
		return parley.Contacted{Text: "Notification sent to " + c.Agent + "."}, nil
	}
}

// request returns the message by which one bot contacts another.
func (s workspace) request(c parley.Contact, task string) parley.Message {
	return parley.Message{
		From: s.wake.bot, Type: parley.TypeRequest, Source: "agent_contact", Conversation: "dm", Task: task,
		Content: parley.Content{Text: c.Request(parley.Agent{Name: s.wake.bot}, task)},
	}
}

func (s workspace) ask(ctx context.Context, c parley.Contact) (parley.Contacted, error) {
	if _, needs := s.hub.held[s.wake.bot]; needs {
		s.hub.held[s.wake.bot] = func() {
			delete(s.hub.held, s.wake.bot)
			result, _ := s.Contact(ctx, c)
			s.deliver("approval", result.Text)
		}
		return parley.Contacted{}, &parley.Held{}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := s.hub.run(ctx, wake{bot: c.Agent, message: s.request(c, ""), attempt: 1})
	if errors.Is(err, context.DeadlineExceeded) {
		return parley.Contacted{}, parley.Errorf(parley.TimedOut, "%s did not respond within 120 seconds.", c.Agent)
	}
	if err == nil {
		s.hub.note("%s answers %s: %s", c.Agent, s.wake.bot, answer)
	}
	return parley.Contacted{Text: "Response from " + c.Agent + ": " + answer}, err
}

func (s workspace) delegate(c parley.Contact) parley.Contacted {
	s.hub.tasks++
	task := fmt.Sprintf("task-%d", s.hub.tasks)
	s.hub.wake(c.Agent, s.request(c, task), func(answer string) {
		s.hub.note("%s finishes %s: %s", c.Agent, task, answer)
		s.deliver("delegation_result", fmt.Sprintf("[Delegation Result from %s | %s]\n%s", c.Agent, task, answer))
	})
	return parley.Contacted{Text: fmt.Sprintf("Delegated to %s (subtask %s).", c.Agent, task), Task: task}
}

// deliver wakes the bot with a callback in the conversation of its run.
func (s workspace) deliver(source, text string) {
	m := s.wake.message
	m.Source, m.Content.Text = source, text
	s.hub.wake(s.wake.bot, m, nil)
}

var (
	block     = regexp.MustCompile("(?ms)^```(\\S*)(?: (\\w+))?\n(.*?)^```$")
	direct    = regexp.MustCompile(`^(\w+) → (\w+): (.*)$`)
	inChannel = regexp.MustCompile(`^(\w+) in #([\w-]+): (.*)$`)
	needs     = regexp.MustCompile(`^(\w+) needs an approval to ask$`)
	approves  = regexp.MustCompile(`^\w+ approves what (\w+) asks$`)
)

// playDocument plays every dialogue of a document with the rules above it, and compares the recorded lines with the document.
func playDocument(ctx context.Context, t *testing.T, document string) (played int) {
	t.Helper()
	bots := map[string]string{}
	for _, found := range block.FindAllStringSubmatch(document, -1) {
		switch kind, name, text := found[1], found[2], found[3]; {
		case kind == "yaml":
			bots[name] = text
		case kind == "" && len(bots) > 0:
			w := &fakeHub{bots: bots, held: map[string]func(){}}
			w.dialogue(ctx, text)
			if got := strings.Join(w.lines, "\n") + "\n"; got != text {
				t.Errorf("the dialogue is\n%s\nbut the document has\n%s", got, text)
			}
			played++
			bots = map[string]string{}
		}
	}
	return played
}

// dialogue posts the messages of people in a dialogue, and lets the bots answer.
func (w *fakeHub) dialogue(ctx context.Context, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := needs.FindStringSubmatch(line); m != nil {
			w.note("%s", line)
			w.held[m[1]] = nil
		} else if m := approves.FindStringSubmatch(line); m != nil {
			w.note("%s", line)
			w.held[m[1]]()
		} else if m := direct.FindStringSubmatch(line); m != nil && w.bots[m[1]] == "" {
			w.post(m[1], "", m[2], m[3])
		} else if m := inChannel.FindStringSubmatch(line); m != nil && w.bots[m[1]] == "" {
			w.post(m[1], m[2], "", m[3])
		}
		w.runAll(ctx)
	}
}
