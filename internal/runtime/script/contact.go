package script

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"time"

	"github.com/parley-hub/parley"
)

var savedName = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// contact is an ask, delegate or notify.
type contact struct {
	pattern                 parley.Pattern
	agent, message, context template
	priority                parley.Priority
	deadline                moment
	after                   []template
	wait                    time.Duration
	save                    string
	otherwise               []step
}

// contact reads ask, delegate and notify. What is saved can be used by the steps that follow.
func (p *stepParser) contact(pattern parley.Pattern, v value) (_ step, err error) {
	s := contact{pattern: pattern}
	allowed := map[parley.Pattern][]string{
		parley.PatternAsk:      {"agent", "message", "context", "deadline", "wait", "save", "otherwise"},
		parley.PatternDelegate: {"agent", "message", "context", "priority", "deadline", "after", "wait", "save", "otherwise"},
		parley.PatternNotify:   {"agent", "message", "context", "save", "otherwise"},
	}
	fields, err := v.fields(allowed[pattern]...)
	if err != nil {
		return nil, err
	}
	if err := p.texts(v, fields, []string{"agent", "message"},
		map[string]*template{"agent": &s.agent, "message": &s.message, "context": &s.context}); err != nil {
		return nil, err
	}
	for _, name := range []string{"priority", "deadline", "after", "wait", "otherwise", "save"} { // save is known only afterwards
		if field, ok := fields[name]; ok {
			if err := p.detail(&s, field); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// detail reads what a contact may have beside its texts.
func (p *stepParser) detail(s *contact, field value) (err error) {
	switch field.name {
	case "priority":
		word, _ := field.text()
		if s.priority, err = parley.ParsePriority(word); err != nil {
			return field.wrong("unknown priority %q", word).Suggest("use low, normal, high or urgent")
		}
	case "deadline":
		s.deadline, err = field.moment()
	case "after":
		s.after, err = p.templates(field)
	case "wait":
		s.wait, err = field.duration(maxDelay)
	case "otherwise":
		s.otherwise, err = p.otherwise(field)
	case "save":
		return p.save(s, field)
	}
	return err
}

// templates reads a text with places, or a list of them.
func (p *stepParser) templates(v value) (list []template, err error) {
	parts := []value{v}
	if _, plain := scalar(v.node); !plain {
		if parts, err = v.list(); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		t, err := p.template(part)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// otherwise reads the steps for the case that a contact fails. They know why.
func (p *stepParser) otherwise(v value) ([]step, error) {
	within := &stepParser{count: p.count, names: maps.Clone(p.names)}
	within.names["Error"] = true
	steps, err := within.steps(v)
	p.count = within.count
	return steps, err
}

// save reads the name under which the steps that follow find what the contact was told.
func (p *stepParser) save(s *contact, v value) (err error) {
	if s.save, err = v.text(); err != nil {
		return err
	}
	if !savedName.MatchString(s.save) {
		return v.wrong("%q is no name to save under", s.save).Suggest("use letters, digits and _")
	}
	p.names["Saved."+s.save] = true
	if s.pattern == parley.PatternDelegate {
		p.names["Saved."+s.save+".Task"] = true
	}
	return nil
}

func (s contact) do(ctx context.Context, p *player) error {
	told, err := s.call(ctx, p)
	if err != nil && s.otherwise != nil && ctx.Err() == nil {
		p.values["Error"] = parley.AsError(err).Sentence()
		return cmp.Or(p.do(ctx, s.otherwise), errRuleEnds)
	}
	if s.save != "" {
		p.values["Saved."+s.save], p.values["Saved."+s.save+".Task"] = told.Text, told.Task
	}
	return err
}

// call makes the contact. One that waits for an approval has not failed: what it is told is that it waits.
func (s contact) call(ctx context.Context, p *player) (parley.Contacted, error) {
	c, err := s.fill(ctx, p)
	if err != nil {
		return parley.Contacted{}, err
	}
	told, err := p.job.Workspace.Contact(ctx, c)
	if held, ok := errors.AsType[*parley.Held](err); ok {
		return parley.Contacted{Text: held.Error()}, nil
	}
	return told, err
}

func (s contact) fill(ctx context.Context, p *player) (c parley.Contact, err error) {
	c = parley.Contact{Pattern: s.pattern, Priority: s.priority, Wait: s.wait}
	for t, into := range map[*template]*string{&s.agent: &c.Agent, &s.message: &c.Message, &s.context: &c.Context} {
		if *into, err = p.fill(ctx, *t); err != nil {
			return c, err
		}
	}
	for _, t := range s.after {
		task, err := p.fill(ctx, t)
		if err != nil {
			return c, err
		}
		c.After = append(c.After, task)
	}
	if s.deadline.given() {
		due := s.deadline.time()
		c.Deadline = &due
	}
	return c, nil
}

// ignoreHeld is an error, unless it says that the call waits for an approval.
func ignoreHeld(err error) error {
	if _, held := errors.AsType[*parley.Held](err); held {
		return nil
	}
	return err
}
