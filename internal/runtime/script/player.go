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

// player is one run.
type player struct {
	job          parley.Job
	replies      []string
	repliedBytes int // bytes of them

	// of the message that is being played
	message parley.Message
	values  map[string]string // groups, what was saved, and why the last contact failed
}

func newPlayer(job parley.Job) *player { return &player{job: job} }

// errRuleEnds says that the steps of a rule that are left are not played.
var errRuleEnds = errors.New("the rule ends here")

// play does what the first rule says that matches a message.
func (p *player) play(ctx context.Context, rules rules, message parley.Message) error {
	for _, rule := range rules {
		groups, ok, err := rule.match.holds(ctx, p, message)
		if err == nil && !ok {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if ok {
			p.message, p.values = message, groups
			if err := p.do(ctx, rule.steps); !errors.Is(err, errRuleEnds) {
				return err
			}
			return nil
		}
	}
	return nil
}

func (p *player) do(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := s.do(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// answer is all replies, those that are the same once.
func (p *player) answer() string { return strings.Join(p.replies, "\n\n") }

func (p *player) fill(ctx context.Context, t template) (string, error) {
	return t.fill(func(name string) (string, error) { return p.value(ctx, name) })
}

// value is what a name stands for.
func (p *player) value(ctx context.Context, name string) (string, error) {
	switch name {
	case "Agent":
		return p.job.Agent.ID, nil
	case "Attempt":
		return strconv.Itoa(p.job.Run.Attempt), nil
	case "Channel":
		return p.channel(ctx, p.message.Conversation)
	case "Conversation":
		return p.message.Conversation, nil
	case "From":
		return p.message.From, nil
	case "Task":
		return p.job.Run.Task, nil
	case "Quoted":
		return strings.TrimSpace(quoted(p.message)), nil
	case "Text":
		return strings.TrimSpace(p.message.Content.Text), nil
	case "Type":
		return string(p.message.Type), nil
	default:
		return p.values[name], nil
	}
}

// quoted is what others wrote in a message of the hub's: a result, an answer, a reason.
func quoted(m parley.Message) string {
	var words strings.Builder
	for _, p := range m.Wording().Parts() {
		if p.Quoted {
			words.WriteString(p.Text)
		}
	}
	return words.String()
}

// channel is the name of a conversation, or "" if it has none. The list begins with those that have the newest
// messages, so that the first page nearly always has it.
func (p *player) channel(ctx context.Context, id string) (string, error) {
	filter := parley.ListFilter{Ephemeral: true, Limit: 100}
	for {
		page, err := p.job.Workspace.Conversations(ctx, filter)
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

type reply struct{ text template }

// do adds a reply. What comes after more than a message can hold is not kept: the hub would cut it off.
func (s reply) do(ctx context.Context, p *player) error {
	text, err := p.fill(ctx, s.text)
	if err == nil && p.repliedBytes <= maxText && !slices.Contains(p.replies, text) {
		p.replies = append(p.replies, text)
		p.repliedBytes += len(text)
	}
	return err
}

// post says something somewhere else.
type post struct{ channel, dm, to, text template }

func (s *post) do(ctx context.Context, p *player) (err error) {
	var d parley.Draft
	var dm string
	for t, into := range map[*template]*string{&s.channel: &d.Conversation, &s.dm: &dm, &s.to: &d.To, &s.text: &d.Content.Text} {
		if *into, err = p.fill(ctx, *t); err != nil {
			return err
		}
	}
	switch {
	case dm != "":
		d.Direct = []string{dm}
	case d.Conversation == "":
		d.Conversation = p.message.Conversation
	}
	_, err = p.job.Workspace.Post(ctx, d)
	return ignoreHeld(err)
}

// progress tells those who watch, and whoever wants the task of the run.
type progress struct {
	message  template
	fraction float64
	known    bool // the fraction
}

func (s progress) do(ctx context.Context, p *player) error {
	text, err := p.fill(ctx, s.message)
	if err != nil {
		return err
	}
	said := text
	if s.known {
		said = fmt.Sprintf("%.0f %%: %s", math.Floor(100*s.fraction), text)
	}
	p.job.Say(said + "\n")
	if p.job.Run.Task == "" {
		return nil
	}
	far := &parley.TaskProgress{Message: text}
	if s.known {
		far.Fraction = &s.fraction
	}
	_, err = p.job.Workspace.UpdateTask(ctx, p.job.Run.Task, parley.TaskChange{Progress: far})
	return ignoreHeld(err)
}

// sleep puts the agent to sleep after this run.
type sleep moment

func (s sleep) do(ctx context.Context, p *player) error {
	return p.job.Workspace.Sleep(ctx, moment(s).time())
}

type delay time.Duration

func (s delay) do(ctx context.Context, _ *player) error {
	timer := time.NewTimer(time.Duration(s))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type fail struct {
	reason    template
	transient bool
}

func (s fail) do(ctx context.Context, p *player) error {
	reason, err := p.fill(ctx, s.reason)
	if err != nil {
		return err
	}
	why := parley.Trouble{Failure: parley.FailureFinal, Reason: reason}
	if s.transient {
		why.Failure = parley.FailureServer
	}
	return &parley.RunError{Trouble: why}
}
