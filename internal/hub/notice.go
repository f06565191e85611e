package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

const (
	noticeTries = 10
	// noticeClaim is how long whoever sends a notice may take, before another may try it.
	noticeClaim = 5 * time.Minute
	// undecided is when a notice of an approval is looked at again that nobody has decided. Its decision comes before.
	undecided   = 365 * 24 * time.Hour
	noticesKept = 30 * 24 * time.Hour
)

// DueNotice is a notice that is to be sent now, with the approval it is about. Where that is not pending any more,
// there is nothing to ask for: only what was sent is to say so.
type DueNotice struct {
	parley.Notice
	About *parley.Approval
}

// tellPerson has a person told something outside of the hub, by the ways they have chosen, once this is committed.
// What they were told already, by the notice's key, they are not told again.
func (s *scene) tellPerson(n parley.Notice) error {
	if told := s.hub.config.Notified; told != nil && !told(n.Person) {
		return nil
	}
	n.ID, n.CreatedAt, n.NextAt = newID(), s.now, s.now
	err := s.Notices().Insert(n)
	if errors.Is(err, parley.ErrTaken) {
		return nil
	}
	s.notices = true
	return err
}

// tellPeople tells each of several the same.
func (s *scene) tellPeople(people []string, n parley.Notice) error {
	for _, n.Person = range people {
		if err := s.tellPerson(n); err != nil {
			return err
		}
	}
	return nil
}

// noticesOf makes the notices of an approval due that is not pending any more: what was sent is to say so.
func (s *scene) noticesOf(approval string) error {
	open, err := s.Notices().About(approval)
	for _, n := range open {
		if err == nil {
			n.Attempt, n.NextAt, s.notices = 0, s.now, true
			err = s.Notices().Put(n)
		}
	}
	return err
}

// NoticesCome is sent to when notices may be due that were not before.
func (h *Hub) NoticesCome() <-chan struct{} { return h.noticesCome }

// DueNotices takes notices that are due. Nobody else is given them for a while.
func (h *Hub) DueNotices(ctx context.Context, limit int) (list []DueNotice, err error) {
	var due []parley.Notice
	err = h.store.View(ctx, func(tx parley.Tx) error {
		due, err = tx.Notices().Due(h.now(), 1)
		return err
	})
	if err != nil || len(due) == 0 {
		return nil, h.explain(ctx, Caller{}, err)
	}
	err = h.write(ctx, theHub, opItself, func(s *scene) error {
		list = nil
		due, err := s.Notices().Due(s.now, limit)
		for _, n := range due {
			if err == nil {
				list, err = s.takeNotice(list, n)
			}
		}
		return err
	})
	return list, err
}

// takeNotice adds a notice to those that are sent now, unless nobody needs it any more.
func (s *scene) takeNotice(list []DueNotice, n parley.Notice) ([]DueNotice, error) {
	about, needed, err := s.needed(n)
	if err != nil {
		return list, err
	}
	if !needed {
		n.Done = true
		return list, s.Notices().Put(n)
	}
	n.Attempt++
	n.NextAt = s.now.Add(noticeClaim)
	return append(list, DueNotice{n, about}), s.Notices().Put(n)
}

func (s *scene) needed(n parley.Notice) (about *parley.Approval, needed bool, err error) {
	person, err := s.Agents().Find(n.Person)
	if err != nil || person.RemovedAt != nil || n.Approval == "" {
		return nil, err == nil && person.RemovedAt == nil, err
	}
	a, err := s.Approvals().Get(n.Approval)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil || hasReceipt(n) || a.State != parley.ApprovalPending {
		return &a, hasReceipt(n), err
	}
	asked, err := s.deciders(a) // who it was may have changed
	return &a, slices.ContainsFunc(asked, func(who parley.Agent) bool { return who.ID == n.Person }), err
}

// hasReceipt says whether something was sent that can still be changed: its entry among what was sent has the
// receiver's number for it behind a space.
func hasReceipt(n parley.Notice) bool {
	return slices.ContainsFunc(n.Sent, func(sent string) bool { return strings.Contains(sent, " ") })
}

// NoticeSent writes down that a notice was sent by one of the ways of its person.
func (h *Hub) NoticeSent(ctx context.Context, n parley.Notice) error {
	return h.write(ctx, theHub, opItself, func(s *scene) error { return s.Notices().Put(n) })
}

// NoticeTried ends a try of a notice, which went well if failure is empty. Else it is tried again later, but not for
// ever.
func (h *Hub) NoticeTried(ctx context.Context, tried DueNotice, failure string) error {
	return h.write(ctx, theHub, opItself, func(s *scene) error {
		n := tried.Notice
		n.Failure = storable(failure)
		switch {
		case failure == "":
			return s.endNotice(tried)
		case n.Attempt >= noticeTries:
			n.Done = true
			s.warn(fmt.Sprintf("gave up telling %s of %s: %s", n.Person, n.Key, n.Failure))
		default:
			n.NextAt = s.now.Add(noticePause(n.Attempt))
		}
		return s.Notices().Put(n)
	})
}

// endNotice ends a notice that was sent. One that asked for a decision, and can be changed, waits for it; if it has
// come meanwhile, it is due.
func (s *scene) endNotice(sent DueNotice) error {
	n := sent.Notice
	n.Failure, n.Done = "", true
	if sent.About == nil || sent.About.State != parley.ApprovalPending || !hasReceipt(n) {
		return s.Notices().Put(n)
	}
	n.Done, n.Attempt, n.NextAt = false, 0, s.now.Add(undecided)
	a, err := s.Approvals().Get(n.Approval)
	if err != nil {
		return err
	}
	if a.State != parley.ApprovalPending {
		n.NextAt, s.notices = s.now, true
	}
	return s.Notices().Put(n)
}

// noticePause is how long to wait after so many failures: 15 seconds, then twice as long each time, up to an hour.
func noticePause(failures int) time.Duration {
	return min(15*time.Second<<min(failures-1, 10), time.Hour)
}

func (h *Hub) forgetNotices(ctx context.Context) error {
	_, err := h.repeat(ctx, func(tx parley.Tx) (int, error) {
		return tx.Notices().Forget(h.now().Add(-noticesKept), purgeBatch)
	})
	return err
}
