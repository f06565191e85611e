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

// contact is a step that asks, delegates or notifies.
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

// contact parses ask, delegate and notify. The steps that follow can use the saved text.
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
	for _, name := range []string{"priority", "deadline", "after", "wait", "otherwise", "save"} { // save comes last: only later steps may use its name
		if field, ok := fields[name]; ok {
			if err := p.readDetail(&s, field); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// readDetail parses a field of a contact that is not a text.
func (p *stepParser) readDetail(s *contact, field value) (err error) {
	switch field.name {
	case "priority":
		word, _ := field.text()
		if s.priority, err = parley.ParsePriority(word); err != nil {
			return field.errorf("unknown priority %q", word).Suggest("use low, normal, high or urgent")
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

// templates parses one template or a list of templates.
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

// otherwise parses the steps for the case that a contact fails. Their texts may use {{.Error}}.
func (p *stepParser) otherwise(v value) ([]step, error) {
	inner := &stepParser{count: p.count, names: maps.Clone(p.names)}
	inner.names["Error"] = true
	steps, err := inner.steps(v)
	p.count = inner.count
	return steps, err
}

// save parses the name by which later steps use the result of a contact.
func (p *stepParser) save(s *contact, v value) (err error) {
	if s.save, err = v.text(); err != nil {
		return err
	}
	if !savedName.MatchString(s.save) {
		return v.errorf("save: %q is not a name", s.save).Suggest("use letters, digits and _")
	}
	p.names["Saved."+s.save] = true
	if s.pattern == parley.PatternDelegate {
		p.names["Saved."+s.save+".Task"] = true
	}
	return nil
}

func (s contact) do(ctx context.Context, x *execution) error {
	result, err := s.call(ctx, x)
	if err != nil && s.otherwise != nil && ctx.Err() == nil {
		x.values["Error"] = parley.AsError(err).Sentence()
		return cmp.Or(x.do(ctx, s.otherwise), errRuleEnds)
	}
	if s.save != "" {
		x.values["Saved."+s.save], x.values["Saved."+s.save+".Task"] = result.Text, result.Task
	}
	return err
}

// call makes the contact. If the contact waits for an approval, it has not failed: its result is a text that says so.
func (s contact) call(ctx context.Context, x *execution) (parley.Contacted, error) {
	c, err := s.fill(ctx, x)
	if err != nil {
		return parley.Contacted{}, err
	}
	result, err := x.request.Workspace.Contact(ctx, c)
	if held, ok := errors.AsType[*parley.Held](err); ok {
		return parley.Contacted{Text: held.Error()}, nil
	}
	return result, err
}

// fill returns the contact with its texts filled in.
func (s contact) fill(ctx context.Context, x *execution) (c parley.Contact, err error) {
	c = parley.Contact{Pattern: s.pattern, Priority: s.priority, Wait: s.wait}
	for t, into := range map[*template]*string{&s.agent: &c.Agent, &s.message: &c.Message, &s.context: &c.Context} {
		if *into, err = x.fill(ctx, *t); err != nil {
			return c, err
		}
	}
	for _, t := range s.after {
		task, err := x.fill(ctx, t)
		if err != nil {
			return c, err
		}
		c.After = append(c.After, task)
	}
	if s.deadline.isSet() {
		due := s.deadline.time()
		c.Deadline = &due
	}
	return c, nil
}

// ignoreHeld returns an error, or nil if the error says that the call waits for an approval.
func ignoreHeld(err error) error {
	if _, held := errors.AsType[*parley.Held](err); held {
		return nil
	}
	return err
}
