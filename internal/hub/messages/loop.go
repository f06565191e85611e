package messages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// loop is the loop breaker for one message. It counts exchanges: wakes of an agent by an agent for no ask, task, callback or approval.
type loop struct {
	*unit.Unit
	limits    unit.Loops
	m         parley.Message
	sender    parley.Agent
	announced bool // the breaker was announced
}

// newLoop returns the loop breaker for a message.
func newLoop(u *unit.Unit, m parley.Message) (*loop, error) {
	l := &loop{Unit: u, limits: u.Core.Config.Loops, m: m}
	var err error
	switch m.From {
	case parley.System:
	case u.Me.ID:
		l.sender = u.Me
	default:
		l.sender, err = u.Agents().Find(m.From)
	}
	return l, err
}

// stopIfLoop counts a delivery if it is an exchange. It returns true if the loop breaker has stopped the delivery; then the delivery
// has failed, and the sender was told.
func (l *loop) stopIfLoop(d *parley.Delivery) (held bool, err error) {
	if l.sender.Kind != parley.KindAgent || !d.Waking || d.Purpose != "" {
		return false, nil
	}
	recipient, err := l.Agents().Find(d.Recipient)
	if err != nil || recipient.Kind != parley.KindAgent {
		return false, err
	}
	pair, err := l.pair(recipient.ID)
	if err != nil {
		return false, err
	}
	chain, err := runs.Chain(l.Unit, l.m)
	switch {
	case err != nil:
		return false, err
	case l.onlyAnswers(recipient):
		return false, l.announceLongChain(pair, recipient, chain)
	case l.m.Hops > l.limits.Hops:
		return true, l.stop(d, parley.Errorf(parley.DependencyFailed, "this message follows %d automatic messages in a row, and the limit for waking %s is %d",
			l.m.Hops, recipient.ID, l.limits.Hops).Suggest("ask a person to continue"))
	case pair.Open:
		return true, l.stop(d, parley.Errorf(parley.DependencyFailed, "%s and %s woke each other too often, so the hub held this wake-up", l.sender.ID, recipient.ID).
			Suggest("to let them continue, post a message as a person, or run parley agent resume-pair %s %s", pair.A, pair.B))
	case chain > l.limits.Exchanges:
		return true, l.stop(d, parley.Errorf(parley.DependencyFailed, "this message follows %d automatic wake-ups in a row, so the hub held its wake-up", chain).
			Suggest("to let the agents continue, post a message as a person"))
	}
	return false, l.countExchange(pair, recipient, chain)
}

// onlyAnswers reports whether the message is a run's answer to an agent in a directory tree. It wakes no run there: it is a file for a
// script to read. If the script asks again, that is no exchange.
func (l *loop) onlyAnswers(recipient parley.Agent) bool {
	return recipient.Runtime == parley.RuntimeBridge && l.m.Source == runs.SourceRun && l.m.Type == parley.TypeResponse && l.m.InReplyTo != "" &&
		!slices.Contains(l.m.Mentions, recipient.ID)
}

// reacts reports whether a message from a tree was caused by another message. It may not name that message: the watchers of the
// Multi-Agent OS set a mode instead.
func (l *loop) reacts() bool {
	if l.m.Source != unit.SourceFile {
		return false
	}
	var kept struct {
		Document struct {
			Metadata struct {
				Mode string `json:"mode"`
			} `json:"metadata"`
		} `json:"agentos"`
	}
	return l.m.InReplyTo != "" || json.Unmarshal(l.m.Metadata, &kept) == nil && kept.Document.Metadata.Mode == "watcher"
}

func (l *loop) stop(d *parley.Delivery, cause *parley.Error) error {
	return deliveries.End(l.Unit, d, parley.DeliveryFailed, cause)
}

// pair returns the count of exchanges with another agent. An old count is over, and starts again at zero.
func (l *loop) pair(other string) (storage.Exchange, error) {
	fresh := storage.Exchange{A: min(l.sender.ID, other), B: max(l.sender.ID, other)}
	known, err := l.Loops().Get(fresh.A, fresh.B)
	switch {
	case errors.Is(err, parley.ErrNotFound):
		return fresh, nil
	case err != nil || l.Now.Sub(known.At) < l.limits.Quiet:
		return known, err
	case known.Open:
		return fresh, noteLoop(l.Unit, parley.EventLoopClosed, known)
	default:
		return fresh, nil
	}
}

// countExchange counts an exchange, and opens the breaker with the last exchange that passes. Several messages without an answer count
// once: a sender without answers is in no loop.
func (l *loop) countExchange(pair storage.Exchange, recipient parley.Agent, chain int) error {
	if pair.Last != l.sender.ID || l.reacts() {
		pair.Count++
	}
	pair.Last, pair.At, pair.Conversation = l.sender.ID, l.Now, l.m.Conversation
	pair.Open = pair.Count >= l.limits.Exchanges
	if err := l.Loops().Put(pair); err != nil {
		return err
	}
	if !pair.Open {
		return l.announceLongChain(pair, recipient, chain)
	}
	l.announced = true
	return l.announce(pair, parley.Wording{}.Name(l.sender.ID, l.sender.Name).Own(" and ").Name(recipient.ID, recipient.Name).
		Own(fmt.Sprintf(" woke each other %d times in a row; the hub holds further wake-ups between them. "+
			"To let them wake each other again, post a message here as a person, or run: parley agent resume-pair %s %s. Send held messages again.",
			pair.Count, l.sender.ID, recipient.ID)))
}

// announceLongChain announces, once, a chain that has reached its limit.
func (l *loop) announceLongChain(pair storage.Exchange, recipient parley.Agent, chain int) error {
	if chain != l.limits.Exchanges || l.announced {
		return nil
	}
	l.announced = true
	return l.announce(pair, parley.Own(fmt.Sprintf("%d automatic wake-ups in a row led to the message of ", chain)).
		Name(l.sender.ID, l.sender.Name).Own(" to ").Name(recipient.ID, recipient.Name).
		Own("; the hub holds further wake-ups in this chain. To let the agents continue, post a message here as a person."))
}

// announce posts in the conversation why the hub stops further wakes.
func (l *loop) announce(pair storage.Exchange, line parley.Wording) error {
	if err := noteLoop(l.Unit, parley.EventLoopOpened, pair); err != nil {
		return err
	}
	_, err := PostAsHub(l.Unit, parley.Message{Conversation: l.m.Conversation, TraceID: l.m.TraceID, Type: parley.TypeStatus}, line)
	return err
}

// noteLoop writes the event of a breaker that opens or closes.
func noteLoop(u *unit.Unit, kind parley.EventKind, pair storage.Exchange) error {
	data, err := json.Marshal(map[string]any{"agents": []string{pair.A, pair.B}, "exchanges": pair.Count})
	u.Note(parley.Event{Kind: kind, Conversation: pair.Conversation, Data: data})
	return err
}

// CloseBreakers closes the breakers of a conversation, because a person has posted there.
func CloseBreakers(u *unit.Unit, conversation string) error {
	closed, err := u.Loops().ForgetIn(conversation)
	for _, pair := range closed {
		err = errors.Join(err, noteLoop(u, parley.EventLoopClosed, pair))
	}
	return err
}

// ResumePair lets two agents wake each other again, and reports whether the breaker was open. Owners and the managers of either agent
// may do so.
func (s *Service) ResumePair(ctx context.Context, caller unit.Caller, a, b string) (held bool, err error) {
	err = s.Update(ctx, caller, unit.OpResumePair, func(u *unit.Unit) error {
		held, err = resumePair(u, a, b)
		return err
	})
	return held, err
}

func resumePair(u *unit.Unit, a, b string) (held bool, err error) {
	agent, err := agents.Agent(u, a)
	if err != nil {
		return false, err
	}
	other, err := agents.Agent(u, b)
	if err != nil {
		return false, err
	}
	if agent.Manager != u.Me.ID && other.Manager != u.Me.ID && !u.SeesAll() {
		return false, parley.Errorf(parley.NotPermitted, "%s cannot let %s and %s continue", u.Me.ID, agent.ID, other.ID).
			Suggest("ask the manager of either, or an owner of this hub")
	}
	pair, err := u.Loops().Get(agent.ID, other.ID)
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := u.Loops().Forget(agent.ID, other.ID); err != nil {
		return false, err
	}
	if err := access.Audit(u, "agent.resume_pair", agent.ID, map[string]any{"with": other.ID, "exchanges": pair.Count}); err != nil {
		return false, err
	}
	if !pair.Open {
		return false, nil
	}
	return true, noteLoop(u, parley.EventLoopClosed, pair)
}
