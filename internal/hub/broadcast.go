package hub

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
)

// broadcastChannel is where what is for everybody is said.
const broadcastChannel = "broadcast"

// broadcasts finds the channel for what is for everybody, or makes it. It is private: those read it who were told
// something there.
func (s *scene) broadcasts() (parley.Conversation, error) {
	c, err := s.Conversations().Find(broadcastChannel)
	if errors.Is(err, parley.ErrNotFound) {
		made, err := s.createNamed(parley.Conversation{Name: broadcastChannel, Kind: parley.Channel, Visibility: parley.Private}, []string{s.me.ID})
		return made.Conversation, err
	}
	if err != nil {
		return c, err
	}
	return c, s.joinOnce(c, s.me.ID)
}

func (s *scene) joinOnce(c parley.Conversation, id string) error {
	in, err := s.takesPart(c, id)
	if err != nil || in {
		return err
	}
	return s.join(c, id)
}

// spreadTo has a post reach every agent that its sender may contact by itself, of a tier where one is given. Whose inbox is
// full is not woken: one that is behind does not keep the others from being told.
func (s *scene) spreadTo(tier parley.Tier, p *post) (notices []string, err error) {
	where, err := s.broadcasts()
	if err != nil {
		return nil, err
	}
	all, err := s.Agents().List()
	if err != nil {
		return nil, err
	}
	p.spread = []parley.Reach{}
	var barred []string
	for _, a := range all {
		if a.Kind != parley.KindAgent || a.RemovedAt != nil || a.ID == s.me.ID || tier != "" && a.Tier != tier {
			continue
		}
		v, err := s.rules(a)
		if err != nil {
			return notices, err
		}
		if !v.Allowed || v.RequiresApproval {
			barred = append(barred, a.ID)
			continue
		}
		if err := s.mustReach(a); parley.CodeOf(err) == parley.Unavailable {
			notices = append(notices, a.ID+" is not told: "+parley.AsError(err).Message)
			continue
		} else if err != nil {
			return notices, err
		}
		full, err := s.inboxIsFull(a)
		if err == nil {
			err = s.joinOnce(where, a.ID)
		}
		if err != nil {
			return notices, err
		}
		if full {
			notices = append(notices, a.ID+" was not woken: its inbox is full")
		}
		p.spread = append(p.spread, parley.Reach{Agent: a.ID, Wakes: !full && p.draft.Type.Wakes()})
	}
	if len(p.spread)+len(notices) == 0 {
		notices = append(notices, s.reachedNobody(tier, barred))
	}
	return notices, nil
}

// reachedNobody says why what is for everybody is told to nobody.
func (s *scene) reachedNobody(tier parley.Tier, barred []string) string {
	switch {
	case len(barred) > 0:
		return fmt.Sprintf("it reached nobody: %s may not contact %s (to see why: parley permit check %s %s)", s.me.ID, listed(barred), s.me.ID, barred[0])
	case tier != "":
		return fmt.Sprintf("it reached nobody: no other agent is of the tier %s (parley agent set AGENT --tier %s)", tier, tier)
	default:
		return "it reached nobody: there is no other agent"
	}
}

func (s *scene) inboxIsFull(a parley.Agent) (bool, error) {
	inbox, err := s.Queue().Inbox(a.ID)
	return a.InboxOverflow != parley.OverflowUnbounded && inbox.Waking >= a.InboxDepth, err
}

// spreadBefore says whether what is for everybody has come by another of its files: scripts write one for each. What was
// only copied in for somebody has been told to nobody.
func (s *scene) spreadBefore(b parley.Bridge, l *landing) (first parley.Arrived, known bool, err error) {
	row, err := s.Bridges().Named(b.ID, l.Name, l.From)
	if err != nil || row.Message == "" {
		return first, false, ignoreNotFound(err)
	}
	if said, err := s.saysTheSame(row.Message, l); err != nil || !said {
		return first, false, err
	}
	if !l.History {
		told, err := s.Deliveries().Of(row.Message)
		if err != nil || len(told) == 0 {
			return first, false, err
		}
	}
	if err := s.Bridges().Arrived(l.row(b.ID, row.Message, s.now)); err != nil {
		return first, false, err
	}
	return parley.Arrived{Message: row.Message, Duplicate: true}, true, nil
}

// saysTheSame says whether a document says what a message does. Names may come again.
func (s *scene) saysTheSame(message string, l *landing) (bool, error) {
	m, err := s.Messages().Get(message)
	if err != nil {
		return false, ignoreNotFound(err)
	}
	body := l.post.body
	return m.RedactedAt != nil || m.Content.Text == body.Content.Text && bytes.Equal(m.Payload, body.Payload), nil
}

// withoutTree leaves out those whom a message reaches by its file: who lives in the tree whose channel it was found in.
func (s *scene) withoutTree(tree *parley.Bridge, to []parley.Reach) (_ []parley.Reach, err error) {
	if tree == nil || tree.Layout != parley.LayoutAgentOS {
		return to, nil
	}
	return slices.DeleteFunc(to, func(r parley.Reach) bool {
		_, lives, failed := s.livesIn(*tree, r.Agent)
		err = errors.Join(err, failed)
		return lives
	}), err
}
