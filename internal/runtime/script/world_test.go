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

// world is what a hub would be to agents that follow rules. It writes down what happens.
type world struct {
	bots   map[string]string // their rules
	denied map[string]bool   // bots whose asks nobody approves
	lines  []string
	waits  []wake
	tasks  int
}

// wake is a run that has to be done.
type wake struct {
	bot     string
	message parley.Message
	attempt int
	done    func(answer string) // nil: the answer goes where the message is
}

// say notes a line, and what follows its first one indented.
func (w *world) say(format string, args ...any) {
	w.lines = append(w.lines, strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n  "))
}

// post puts a message where it belongs and wakes whom it calls.
func (w *world) post(from, channel, to, text string) {
	m := parley.Message{From: from, Type: parley.TypeChat, Conversation: "dm", Content: parley.Content{Text: text}}
	if channel == "" {
		w.say("%s → %s: %s", from, to, text)
		w.wake(to, m, nil)
		return
	}
	w.say("%s in #%s: %s", from, channel, text)
	m.Conversation = channel
	m.Mentions, _ = parley.ParseMentions(text).Resolve(func(name string) (string, bool) {
		_, ok := w.bots[strings.ToLower(name)]
		return strings.ToLower(name), ok
	}, func(string) bool { return false })
	for _, bot := range m.Mentions {
		w.wake(bot, m, nil)
	}
}

func (w *world) wake(bot string, m parley.Message, done func(string)) {
	if _, ok := w.bots[bot]; ok && bot != m.From {
		w.waits = append(w.waits, wake{bot, m, 1, done})
	}
}

// settle runs what waits until nothing does.
func (w *world) settle(ctx context.Context) {
	for len(w.waits) > 0 {
		next := w.waits[0]
		w.waits = w.waits[1:]
		answer, err := w.run(ctx, next)
		why, isRunError := errors.AsType[*parley.RunError](err)
		switch {
		case isRunError && why.Failure != parley.FailureFinal:
			w.say("%s fails for now: %s", next.bot, why.Reason)
			next.attempt++
			w.waits = append(w.waits, next)
		case isRunError:
			w.say("%s fails: %s", next.bot, why.Reason)
		case err != nil:
			w.say("%s fails: %v", next.bot, err)
		case next.done != nil:
			next.done(answer)
		case answer != "":
			w.answer(next, answer)
		}
	}
}

// answer posts a run's answer. Between two it wakes nobody.
func (w *world) answer(to wake, text string) {
	if to.message.Conversation == "dm" {
		w.say("%s → %s: %s", to.bot, to.message.From, text)
		return
	}
	w.post(to.bot, to.message.Conversation, "", text)
}

func (w *world) run(ctx context.Context, next wake) (string, error) {
	config, _ := json.Marshal(map[string]string{"rules": w.bots[next.bot]})
	result, err := New().Run(ctx, parley.Job{
		Run:       parley.Run{Attempt: next.attempt, Conversation: next.message.Conversation},
		Agent:     parley.Agent{ID: next.bot, Profile: parley.Profile{RuntimeConfig: config}},
		Triggers:  []parley.Message{next.message},
		Workspace: workspace{nil, w, next},
		Begin:     func(context.Context, parley.Process) error { return nil },
		Say:       func(text string) { w.say("%s reports: %s", next.bot, strings.TrimSpace(text)) },
	})
	return result.Text, err
}

// workspace is the world as one run uses it.
type workspace struct {
	parley.Workspace // what no rule uses
	w                *world
	of               wake
}

func (s workspace) Post(_ context.Context, d parley.Draft) (parley.Receipt, error) {
	to := d.To
	if len(d.Direct) > 0 {
		to = d.Direct[0]
	}
	s.w.post(s.of.bot, d.Conversation, to, d.Content.Text)
	return parley.Receipt{}, nil
}

func (s workspace) Conversations(context.Context, parley.ListFilter) ([]parley.ConversationView, error) {
	name := strings.TrimPrefix(s.of.message.Conversation, "dm")
	return []parley.ConversationView{{Conversation: parley.Conversation{ID: s.of.message.Conversation, Name: name}}}, nil
}

func (s workspace) Sleep(_ context.Context, until time.Time) error {
	s.w.say("%s sleeps for %s", s.of.bot, time.Until(until))
	return nil
}

// Contact is S4's contact_agent.
func (s workspace) Contact(ctx context.Context, c parley.Contact) (string, error) {
	text := c.Message
	if c.Context != "" {
		text += "\ncontext: " + c.Context
	}
	request := parley.Message{From: s.of.bot, Type: parley.TypeRequest, Conversation: "dm", Content: parley.Content{Text: text}}
	switch c.Pattern {
	case parley.PatternAsk:
		s.w.say("%s asks %s: %s", s.of.bot, c.Agent, text)
		return s.ask(ctx, c.Agent, request)
	case parley.PatternDelegate:
		s.w.say("%s delegates to %s (%s): %s", s.of.bot, c.Agent, c.Priority.Class(), text)
		return s.delegate(c.Agent, request), nil
	default:
		s.w.say("%s notifies %s: %s", s.of.bot, c.Agent, text)
		return "Notification sent to " + c.Agent + ".", nil
	}
}

func (s workspace) ask(ctx context.Context, agent string, request parley.Message) (string, error) {
	if s.w.denied[s.of.bot] {
		return "", parley.Errorf(parley.NotPermitted, "Approval denied for contacting %s.", agent)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := s.w.run(ctx, wake{agent, request, 1, nil})
	if errors.Is(err, context.DeadlineExceeded) {
		return "", parley.Errorf(parley.TimedOut, "%s did not respond within 120 seconds.", agent)
	}
	if err == nil {
		s.w.say("%s answers %s: %s", agent, s.of.bot, answer)
	}
	return answer, err
}

// delegate brings the result back to where the caller was called.
func (s workspace) delegate(agent string, request parley.Message) string {
	s.w.tasks++
	task := fmt.Sprintf("task-%d", s.w.tasks)
	s.w.wake(agent, request, func(answer string) {
		s.w.say("%s finishes for %s: %s", agent, s.of.bot, answer)
		result := s.of.message
		result.Source = "delegation_result"
		result.Content.Text = fmt.Sprintf("[Delegation Result from %s | %s]\n%s", agent, task, answer)
		s.w.wake(s.of.bot, result, nil)
	})
	return fmt.Sprintf("Delegated to %s (subtask %s).", agent, task)
}

var (
	block   = regexp.MustCompile("(?ms)^```(\\S*)(?: (\\w+))?\n(.*?)^```$")
	direct  = regexp.MustCompile(`^(\w+) → (\w+): (.*)$`)
	inRoom  = regexp.MustCompile(`^(\w+) in #([\w-]+): (.*)$`)
	denying = regexp.MustCompile(`^nobody approves what (\w+) asks$`)
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
			w := &world{bots: bots, denied: map[string]bool{}}
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
func (w *world) dialogue(ctx context.Context, text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := denying.FindStringSubmatch(line); m != nil {
			w.denied[m[1]] = true
			w.say("%s", line)
		} else if m := direct.FindStringSubmatch(line); m != nil && w.bots[m[1]] == "" {
			w.post(m[1], "", m[2], m[3])
		} else if m := inRoom.FindStringSubmatch(line); m != nil && w.bots[m[1]] == "" {
			w.post(m[1], m[2], "", m[3])
		}
		w.settle(ctx)
	}
}
