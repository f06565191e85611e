package script

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

const (
	maxDelay = time.Hour
	maxSleep = 30 * 24 * time.Hour
)

// execution executes the rules of an agent in one run.
type execution struct {
	request      parley.RunRequest
	replies      []string
	repliedBytes int // bytes of replies

	message parley.Message    // the current message
	values  map[string]string // values of template names for this message: groups, saved results, the error of the last contact
}

func newExecution(request parley.RunRequest) *execution { return &execution{request: request} }

// errRuleEnds skips the remaining steps of a rule.
var errRuleEnds = errors.New("the rule ends here")

// execute executes the first rule that matches a message.
func (x *execution) execute(ctx context.Context, rules rules, message parley.Message) error {
	for _, rule := range rules {
		groups, ok, err := rule.match.matches(ctx, x, message)
		if err == nil && !ok {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if ok {
			x.message, x.values = message, groups
			if err := x.do(ctx, rule.steps); !errors.Is(err, errRuleEnds) {
				return err
			}
			return nil
		}
	}
	return nil
}

func (x *execution) do(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := s.do(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// answer returns all replies, each different reply once.
func (x *execution) answer() string { return strings.Join(x.replies, "\n\n") }

func (x *execution) fill(ctx context.Context, t template) (string, error) {
	return t.fill(func(name string) (string, error) { return x.value(ctx, name) })
}

// value returns the value of a template name.
func (x *execution) value(ctx context.Context, name string) (string, error) {
	switch name {
	case "Agent":
		return x.request.Agent.ID, nil
	case "Attempt":
		return strconv.Itoa(x.request.Run.Attempt), nil
	case "Channel":
		return x.channel(ctx, x.message.Conversation)
	case "Conversation":
		return x.message.Conversation, nil
	case "From":
		return x.message.From, nil
	case "Task":
		return x.request.Run.Task, nil
	case "Quoted":
		return strings.TrimSpace(quoted(x.message)), nil
	case "Text":
		return strings.TrimSpace(x.message.Content.Text), nil
	case "Type":
		return string(x.message.Type), nil
	default:
		return x.values[name], nil
	}
}

// quoted returns the words of others that a message of the hub repeats: a result, an answer, a reason.
func quoted(m parley.Message) string {
	var words strings.Builder
	for _, p := range m.Wording().Parts() {
		if p.Quoted {
			words.WriteString(p.Text)
		}
	}
	return words.String()
}

// channel returns the name of a conversation, or "" if it has none. The list begins with the conversations that have the newest
// messages, so the first page nearly always contains it.
func (x *execution) channel(ctx context.Context, id string) (string, error) {
	filter := parley.ListFilter{Ephemeral: true, Limit: 100}
	for {
		page, err := x.request.Workspace.Conversations(ctx, filter)
		if err != nil {
			return "", err
		}
		for _, c := range page {
			if c.ID == id {
				return c.Name, nil
			}
		}
		if len(page) < filter.Limit {
			return "", nil
		}
		last := page[len(page)-1]
		filter.Cursor = &parley.ListCursor{LastSeq: last.LastSeq, ID: last.ID}
	}
}

// reply is a step that replies to the message.
type reply struct{ text template }

// do adds a reply, unless an equal reply exists. It drops replies once they exceed the size of a message, because the hub
// would cut them off.
func (s reply) do(ctx context.Context, x *execution) error {
	text, err := x.fill(ctx, s.text)
	if err == nil && x.repliedBytes <= maxText && !slices.Contains(x.replies, text) {
		x.replies = append(x.replies, text)
		x.repliedBytes += len(text)
	}
	return err
}

// post is a step that posts a message to a conversation.
type post struct{ channel, dm, to, text template }

func (s *post) do(ctx context.Context, x *execution) (err error) {
	var d parley.Draft
	var dm string
	for t, into := range map[*template]*string{&s.channel: &d.Conversation, &s.dm: &dm, &s.to: &d.To, &s.text: &d.Content.Text} {
		if *into, err = x.fill(ctx, *t); err != nil {
			return err
		}
	}
	switch {
	case dm != "":
		d.Direct = []string{dm}
	case d.Conversation == "":
		d.Conversation = x.message.Conversation
	}
	_, err = x.request.Workspace.Post(ctx, d)
	return ignoreHeld(err)
}

// progress is a step that reports progress to watchers of the run, and to the requester of its task.
type progress struct {
	message  template
	fraction float64
	known    bool // whether fraction is set
}

func (s progress) do(ctx context.Context, x *execution) error {
	text, err := x.fill(ctx, s.message)
	if err != nil {
		return err
	}
	shown := text
	if s.known {
		shown = fmt.Sprintf("%.0f %%: %s", math.Floor(100*s.fraction), text)
	}
	x.request.Say(shown + "\n")
	if x.request.Run.Task == "" {
		return nil
	}
	report := &parley.TaskProgress{Message: text}
	if s.known {
		report.Fraction = &s.fraction
	}
	_, err = x.request.Workspace.UpdateTask(ctx, x.request.Run.Task, parley.TaskChange{Progress: report})
	return ignoreHeld(err)
}

// sleep is a step that puts the agent to sleep after this run.
type sleep moment

func (s sleep) do(ctx context.Context, x *execution) error {
	return x.request.Workspace.Sleep(ctx, moment(s).time())
}

// delay is a step that waits.
type delay time.Duration

func (s delay) do(ctx context.Context, _ *execution) error {
	timer := time.NewTimer(time.Duration(s))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fail is a step that fails the run.
type fail struct {
	reason    template
	transient bool
}

func (s fail) do(ctx context.Context, x *execution) error {
	reason, err := x.fill(ctx, s.reason)
	if err != nil {
		return err
	}
	why := parley.Trouble{Failure: parley.FailureFinal, Reason: reason}
	if s.transient {
		why.Failure = parley.FailureServer
	}
	return &parley.RunError{Trouble: why}
}
