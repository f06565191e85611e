package script

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// step is one action of a rule.
type step interface {
	do(ctx context.Context, x *execution) error
}

// stepParser parses the steps of one rule. It counts them, and knows the names that their texts may use.
type stepParser struct {
	count int
	names map[string]bool
}

func newStepParser(m match) *stepParser {
	p := &stepParser{names: map[string]bool{}}
	for _, name := range []string{"Agent", "Attempt", "Channel", "Conversation", "From", "Quoted", "Task", "Text", "Type"} {
		p.names[name] = true
	}
	for name := range m.groups(nil) {
		p.names[name] = true
	}
	return p
}

func (p *stepParser) steps(v value) ([]step, error) {
	list, err := v.list()
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, item := range list {
		if p.count++; p.count > maxSteps {
			return nil, item.errorf("a rule has more than %d steps", maxSteps)
		}
		item.name = "a step"
		s, err := p.step(item)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func (p *stepParser) step(v value) (step, error) {
	fields, err := v.fields("reply", "post", "ask", "delegate", "notify", "progress", "sleep", "delay", "fail")
	if err != nil {
		return nil, err
	}
	if len(fields) != 1 {
		return nil, v.errorf("a step can do only one thing").Suggest("begin each step with “- ”")
	}
	var field value
	for _, field = range fields { // fields has one element
	}
	switch field.name {
	case "reply":
		text, err := p.template(field)
		return reply{text}, err
	case "post":
		return p.post(field)
	case "progress":
		return p.progress(field)
	case "sleep":
		until, err := field.moment()
		return sleep(until), err
	case "delay":
		d, err := field.duration(maxDelay)
		return delay(d), err
	case "fail":
		return p.fail(field)
	default:
		return p.contact(parley.Pattern(field.name), field)
	}
}

// texts parses fields that are templates. It returns an error if a required field is missing.
func (p *stepParser) texts(v value, fields map[string]value, required []string, into map[string]*template) error {
	for _, name := range required {
		if _, ok := fields[name]; !ok {
			return v.errorf("%s needs %s", v.name, name)
		}
	}
	for name, t := range into {
		if field, ok := fields[name]; ok {
			var err error
			if *t, err = p.template(field); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *stepParser) post(v value) (step, error) {
	var s post
	fields, err := v.fields("channel", "dm", "to", "text")
	if err != nil {
		return nil, err
	}
	_, channel := fields["channel"]
	_, dm := fields["dm"]
	_, to := fields["to"]
	if dm && (channel || to) {
		return nil, v.errorf("post has dm together with channel or to").Suggest("name one place: a channel, or the recipient of the dm")
	}
	return &s, p.texts(v, fields, []string{"text"},
		map[string]*template{"channel": &s.channel, "dm": &s.dm, "to": &s.to, "text": &s.text})
}

func (p *stepParser) progress(v value) (_ step, err error) {
	var s progress
	fields, err := v.fields("fraction", "message")
	if err != nil {
		return nil, err
	}
	if err := p.texts(v, fields, []string{"message"}, map[string]*template{"message": &s.message}); err != nil {
		return nil, err
	}
	if field, ok := fields["fraction"]; ok {
		s.known = true
		s.fraction, err = field.fraction()
	}
	return s, err
}

func (p *stepParser) fail(v value) (_ step, err error) {
	var s fail
	fields, err := v.fields("reason", "transient")
	if err != nil {
		return nil, err
	}
	if err := p.texts(v, fields, []string{"reason"}, map[string]*template{"reason": &s.reason}); err != nil {
		return nil, err
	}
	if field, ok := fields["transient"]; ok {
		s.transient, err = field.boolean()
	}
	return s, err
}

// moment is a future time: a duration after the step is executed, or a fixed time.
type moment struct {
	at    time.Time
	after time.Duration
}

func (m moment) isSet() bool { return m != moment{} }

// time returns the time for a step that is executed now.
func (m moment) time() time.Time {
	if m.after > 0 {
		return time.Now().Add(m.after)
	}
	return m.at
}

// moment parses a duration or a time.
func (v value) moment() (moment, error) {
	text, _ := scalar(v.node)
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return moment{at: at}, nil
	}
	d, err := v.duration(maxSleep)
	if err != nil {
		return moment{}, v.errorf("%s must be a duration such as 10m, at most %s, or a time such as 2026-03-01T09:00:00Z", v.name, maxSleep)
	}
	return moment{after: d}, nil
}
