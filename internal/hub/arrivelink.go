package hub

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// link puts the hub's ids in place of those of the dialect: of what a document answers, of what its task depends on. What
// is not known here is left aside, and said.
func (in *intake) link(b parley.Bridge, l *landing, p *post) (notices []string, err error) {
	d := &p.draft
	if err := in.linkAnswer(b, l, d); err != nil {
		return nil, err
	}
	if l.ReplyTo != "" && d.InReplyTo == "" {
		notices = append(notices, fmt.Sprintf("it answers %s, which is not known here", clipped(l.ReplyTo)))
	}
	if d.Task != "" {
		_, err := in.task(d.Task)
		if _, none := errors.AsType[unknown](err); none {
			notices = append(notices, fmt.Sprintf("it names %s, which is none of its tasks", clipped(d.Task)))
			d.Task = ""
		} else if err != nil {
			return notices, err
		}
	}
	if d.Deadline != nil && !d.Deadline.After(in.now) {
		notices = append(notices, "its deadline has passed: "+d.Deadline.Format(time.RFC3339))
		d.Deadline = nil
	}
	return notices, in.linkWork(b, l, p)
}

// linkWork does the same for the task that a document asks for. The post may be made again, so that what it shares stays
// as it is.
func (in *intake) linkWork(b parley.Bridge, l *landing, p *post) error {
	if p.deed == nil || p.deed.asks == nil {
		return nil
	}
	do, asks := *p.deed, *p.deed.asks
	asks.After = slices.Clone(asks.After)
	for i, name := range asks.After {
		id, err := in.inTree(b, name, l.From, l.To)
		if err == nil && id != "" {
			_, _, err = in.message(id)
		}
		if _, hidden := errors.AsType[unknown](err); hidden {
			id, err = "", nil // the sender may not read it: it knows no other name for it than its own
		}
		if err != nil {
			return err
		}
		asks.After[i] = cmp.Or(id, name)
	}
	if asks.Deadline != nil && !asks.Deadline.After(in.now) {
		asks.Deadline = nil
	}
	do.asks = &asks
	p.deed = &do
	return nil
}

// linkAnswer has a document answer what it says it does, where that is: what was delivered to its sender may be in any
// conversation, and from the hub itself, which takes no other mail.
func (in *intake) linkAnswer(b parley.Bridge, l *landing, d *parley.Draft) error {
	m, where, err := in.answeredIn(b, l)
	if err != nil || m.ID == "" {
		return err
	}
	if !isPlaceOf(where, l) || l.To == parley.System {
		_, err := in.Deliveries().Get(m.ID, l.From)
		if err != nil || m.From != l.To || l.Channel != "" {
			return ignoreNotFound(err)
		}
		d.Direct, d.Conversation = nil, where.ID
	}
	if d.InReplyTo = m.ID; l.To == parley.System {
		d.To, d.Sequence = "", 0
	}
	return nil
}

// isPlaceOf says whether a conversation is where a document belongs by its address.
func isPlaceOf(c parley.Conversation, l *landing) bool {
	if l.Channel != "" {
		return c.Name == l.Channel
	}
	return c.Kind == parley.DM && c.Set == parley.SetKey([]string{l.From, l.To})
}

// answeredIn is the message that a document answers, where that is known and can be read by its sender.
func (in *intake) answeredIn(b parley.Bridge, l *landing) (m parley.Message, where parley.Conversation, err error) {
	id, err := in.inTree(b, l.ReplyTo, cmp.Or(l.Channel, l.From), l.To)
	if err != nil || id == "" {
		return m, where, err
	}
	m, place, err := in.message(id)
	if _, hidden := errors.AsType[unknown](err); hidden {
		return parley.Message{}, where, nil
	}
	return m, place.Conversation, err
}

// inTree is the message that a name in the dialect stands for in a tree, or nothing: of what was written for a folder, of
// what came from a sender, or of anything there.
func (s *scene) inTree(b parley.Bridge, name, folder, from string) (string, error) {
	if name == "" || !keepable(name, folder, from) {
		return "", nil
	}
	for _, find := range []func() (string, error){
		func() (string, error) { d, err := s.Bridges().DepartedAs(b.ID, folder, name); return d.Message, err },
		func() (string, error) { f, err := s.Bridges().Named(b.ID, name, from); return f.Message, err },
		func() (string, error) { d, err := s.Bridges().DepartedAs(b.ID, "", name); return d.Message, err },
		func() (string, error) { f, err := s.Bridges().Named(b.ID, name, ""); return f.Message, err },
	} {
		id, err := find()
		if err = ignoreNotFound(err); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// keepHistory stores a document as something that was said before, or among others: it gets a place at the end of the
// order with its own time, and is delivered to nobody. What it answers is answered all the same.
func (in *intake) keepHistory(b parley.Bridge, l *landing, got parley.Arrived) (parley.Arrived, error) {
	where, err := in.pastPlace(b, l)
	if err != nil {
		return got, err
	}
	if err := in.checkArtifacts(l.post.draft.Content.Artifacts); err != nil {
		return got, err
	}
	d, m := l.post.draft, l.post.body
	m.ID, m.Conversation, m.From, m.Source = l.post.id, where.ID, in.me.ID, bridged
	m.Type, m.Priority, m.CreatedAt = d.Type, d.Priority, in.past(l.At)
	answered, there, err := in.answeredIn(b, l)
	if err != nil {
		return got, err
	}
	if there.ID == where.ID {
		m.InReplyTo = answered.ID
	}
	trace, err := in.mayJoinTrace(d.TraceID, "")
	if err != nil {
		return got, err
	}
	if m.TraceID, m.Hops = cmp.Or(trace, m.ID), 1; l.To == parley.All {
		m.To = parley.All
	} else if l.To != "" {
		to, err := in.Agents().Find(l.To)
		if m.To = to.ID; errors.Is(err, parley.ErrNotFound) {
			got.Notices = append(got.Notices, "it is for "+clipped(l.To)+", who is not known here")
		} else if err != nil {
			return got, err
		}
	}
	says, notices, err := in.heedWithin(l, &m, answered, where)
	if got.Notices = append(got.Notices, notices...); err != nil {
		return got, err
	}
	got.Message = m.ID
	if err := in.history.addMessage(m, l.post.digest); err != nil {
		return got, err
	}
	return got, in.settleWithin(says, m)
}

// past is when something was said: as it says itself, but not ahead.
func (s *scene) past(at time.Time) time.Time {
	if at.IsZero() || at.After(s.now) {
		return s.now
	}
	return at.UTC().Truncate(time.Millisecond)
}

// pastPlace is where history belongs.
func (in *intake) pastPlace(b parley.Bridge, l *landing) (parley.Conversation, error) {
	switch {
	case l.Channel == "" && l.To == parley.All:
		return in.broadcasts()
	case l.Channel == "":
		to, err := in.agent(l.To)
		if err != nil {
			return parley.Conversation{}, err
		}
		if to.ID == in.me.ID {
			return parley.Conversation{}, toOneself(to.ID)
		}
		if to.Kind == parley.KindSystem {
			return parley.Conversation{}, toSystem(to.ID)
		}
		return in.dm(in.me.ID, to.ID)
	}
	channel, err := in.openMapped(b, l.Channel)
	if err != nil {
		return parley.Conversation{}, err
	}
	where, err := in.destination(parley.Draft{Conversation: channel})
	return where.Conversation, err
}
