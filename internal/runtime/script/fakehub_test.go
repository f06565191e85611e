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

// fakeHub is what a hub would be to agents that follow rules. It writes down what happens.
type fakeHub struct {
	bots  map[string]string // their rules
	held  map[string]func() // what is done once somebody approves what a bot does
	lines []string
	waits []wake
	tasks int
}

// wake is a run that has to be done.
type wake struct {
	bot     string
	message parley.Message
	attempt int
	task    string
	done    func(answer string) // nil: the answer goes where the message is
}

// note notes a line, and what follows its first one indented.
func (w *fakeHub) note(format string, args ...any) {
	w.lines = append(w.lines, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n  "))
}

// post puts a message where it belongs and wakes whom it calls.
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
		w.waits = append(w.waits, wake{bot, m, 1, m.Task, done})
	}
}

// settle runs what waits until nothing does.
func (w *fakeHub) settle(ctx context.Context) {
	for len(w.waits) > 0 {
		next := w.waits[0]
		w.waits = w.waits[1:]
		answer, err := w.run(ctx, next)
		why, isRunError := errors.AsType[*parley.RunError](err)
		switch {
		case isRunError && why.Failure != parley.FailureFinal:
			w.note("%s fails for now: %s", next.bot, why.Reason)
			next.attempt++
			w.waits = append(w.waits, next)
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

// answer posts a run's answer. Between two it wakes nobody.
func (w *fakeHub) answer(to wake, text string) {
	if to.message.Conversation == "dm" {
		w.note("%s → %s: %s", to.bot, to.message.From, text)
		return
	}
	w.post(to.bot, to.message.Conversation, "", text)
}

func (w *fakeHub) run(ctx context.Context, next wake) (string, error) {
	config, _ := json.Marshal(map[string]string{"rules": w.bots[next.bot]})
	result, err := New().Run(ctx, parley.Job{
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
	parley.Workspace // what no rule uses
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

// Contact is the contact_agent of OpenCompany.
func (s workspace) Contact(ctx context.Context, c parley.Contact) (parley.Contacted, error) {
	words := c.Message
	if c.Context != "" {
		words += "\ncontext: " + c.Context
	}
	if len(c.After) > 0 {
		words += "\nafter: " + strings.Join(c.After, ", ")
	}
	switch c.Pattern {
	case parley.PatternAsk:
		s.hub.note("%s asks %s: %s", s.wake.bot, c.Agent, words)
		return s.ask(ctx, c)
	case parley.PatternDelegate:
		s.hub.note("%s delegates to %s (%s): %s", s.wake.bot, c.Agent, c.Priority.Class(), words)
		return s.delegate(c), nil
	default:
		s.hub.note("%s notifies %s: %s", s.wake.bot, c.Agent, words)
		return parley.Contacted{Text: "Notification sent to " + c.Agent + "."}, nil
	}
}

// request is the message by which a bot turns to another.
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
			told, _ := s.Contact(ctx, c)
			s.callBack("approval", told.Text)
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
		s.callBack("delegation_result", fmt.Sprintf("[Delegation Result from %s | %s]\n%s", c.Agent, task, answer))
	})
	return parley.Contacted{Text: fmt.Sprintf("Delegated to %s (subtask %s).", c.Agent, task), Task: task}
}

// callBack tells a bot something where it was called.
func (s workspace) callBack(source, text string) {
	m := s.wake.message
	m.Source, m.Content.Text = source, text
	s.hub.wake(s.wake.bot, m, nil)
}

var (
	block    = regexp.MustCompile("(?ms)^```(\\S*)(?: (\\w+))?\n(.*?)^```$")
	direct   = regexp.MustCompile(`^(\w+) → (\w+): (.*)$`)
	inRoom   = regexp.MustCompile(`^(\w+) in #([\w-]+): (.*)$`)
	needs    = regexp.MustCompile(`^(\w+) needs an approval to ask$`)
	approves = regexp.MustCompile(`^\w+ approves what (\w+) asks$`)
)

// playDocument plays every dialogue of a document with the rules above it, and compares what happens with what
// is written.
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
				t.Errorf("what happens is\n%s\nbut the document has\n%s", got, text)
			}
			played++
			bots = map[string]string{}
		}
	}
	return played
}

// dialogue says what the people say in it.
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
		} else if m := inRoom.FindStringSubmatch(line); m != nil && w.bots[m[1]] == "" {
			w.post(m[1], m[2], "", m[3])
		}
		w.settle(ctx)
	}
}
