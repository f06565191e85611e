// Package notices holds what people are to be told outside of the hub, and when it is due.
package notices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core

	noticesCome chan struct{} // a person is to be told something
}

// AfterCommit returns the function that tells the notifiers about new notices.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		if c.NoticesDue {
			local.Signal(s.noticesCome)
		}
	}
}

// New makes the use cases from the core of a hub.
func New(core *unit.Core) *Service {
	s := &Service{Core: core}
	s.noticesCome = make(chan struct{}, 1)
	return s
}

const (
	maxAttempts = 10
	// sendTimeout is how long one attempt to send a notice may take. After that another notifier may try.
	sendTimeout = 5 * time.Minute
	// undecidedPause is how long a sent notice of a pending approval rests. The decision makes it due earlier.
	undecidedPause = 365 * 24 * time.Hour
	noticeAge      = 30 * 24 * time.Hour
)

// DueNotice is a notice to be sent now, with the approval it is about. If that approval is no longer pending, the notifier only updates
// what it has sent.
type DueNotice struct {
	parley.Notice
	About *parley.Approval
}

// insertNotice has a person notified outside of the hub after the commit. A notice with the same key is sent only once.
func insertNotice(u *unit.Unit, n parley.Notice) error {
	if notified := u.Core.Config.Notified; notified != nil && !notified(n.Person) {
		return nil
	}
	n.ID, n.CreatedAt, n.NextAt = unit.NewID(), u.Now, u.Now
	err := u.Notices().Insert(n)
	if errors.Is(err, parley.ErrTaken) {
		return nil
	}
	u.NoticesDue = true
	return err
}

// TellPeople notifies each of several people of the same.
func TellPeople(u *unit.Unit, people []string, n parley.Notice) error {
	for _, n.Person = range people {
		if err := insertNotice(u, n); err != nil {
			return err
		}
	}
	return nil
}

// ReopenNotices makes the notices of a decided approval due, so that the notifiers update what they have sent.
func ReopenNotices(u *unit.Unit, approval string) error {
	open, err := u.Notices().About(approval)
	for _, n := range open {
		if err == nil {
			n.Attempt, n.NextAt, u.NoticesDue = 0, u.Now, true
			err = u.Notices().Put(n)
		}
	}
	return err
}

// NoticesCome returns a channel that signals that notices may be due.
func (s *Service) NoticesCome() <-chan struct{} { return s.noticesCome }

// DueNotices returns notices that are due. No other notifier gets them before sendTimeout has passed.
func (s *Service) DueNotices(ctx context.Context, limit int) (list []DueNotice, err error) {
	var due []parley.Notice
	err = s.Store.View(ctx, func(tx storage.Tx) error {
		due, err = tx.Notices().Due(s.Now(), 1)
		return err
	})
	if err != nil || len(due) == 0 {
		return nil, s.Explain(ctx, unit.Caller{}, err)
	}
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		list = nil
		due, err := u.Notices().Due(u.Now, limit)
		for _, n := range due {
			if err == nil {
				list, err = takeNotice(u, list, n)
			}
		}
		return err
	})
	return list, err
}

// takeNotice adds a notice to the list of notices to send, or ends it if it is no longer needed.
func takeNotice(u *unit.Unit, list []DueNotice, n parley.Notice) ([]DueNotice, error) {
	about, needed, err := findNeeded(u, n)
	if err != nil {
		return list, err
	}
	if !needed {
		n.Done = true
		return list, u.Notices().Put(n)
	}
	n.Attempt++
	n.NextAt = u.Now.Add(sendTimeout)
	return append(list, DueNotice{n, about}), u.Notices().Put(n)
}

// findNeeded returns the approval that a notice is about, and whether the notice is still needed.
func findNeeded(u *unit.Unit, n parley.Notice) (about *parley.Approval, needed bool, err error) {
	person, err := u.Agents().Find(n.Person)
	if err != nil || person.RemovedAt != nil || n.Approval == "" {
		return nil, err == nil && person.RemovedAt == nil, err
	}
	a, err := u.Approvals().Get(n.Approval)
	if errors.Is(err, parley.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil || hasReceipt(n) || a.State != parley.ApprovalPending {
		return &a, hasReceipt(n), err
	}
	deciders, err := approvals.FindDeciders(u, a) // the deciders may have changed
	return &a, slices.ContainsFunc(deciders, func(decider parley.Agent) bool { return decider.ID == n.Person }), err
}

// hasReceipt reports whether a notice was sent by a way that allows to update it. Then an entry of Sent has the receiver's number
// behind a space.
func hasReceipt(n parley.Notice) bool {
	return slices.ContainsFunc(n.Sent, func(sent string) bool { return strings.Contains(sent, " ") })
}

// NoticeSent stores that a notice was sent by one of the ways of its person.
func (s *Service) NoticeSent(ctx context.Context, n parley.Notice) error {
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return u.Notices().Put(n) })
}

// NoticeTried ends an attempt to send a notice. An empty failure means success. Otherwise the hub retries later, at most maxAttempts
// times.
func (s *Service) NoticeTried(ctx context.Context, tried DueNotice, failure string) error {
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		n := tried.Notice
		n.Failure = unit.Storable(failure)
		switch {
		case failure == "":
			return endNotice(u, tried)
		case n.Attempt >= maxAttempts:
			n.Done = true
			u.Warn(fmt.Sprintf("cannot notify %s of %s: %s; the hub gives up after %d attempts", n.Person, n.Key, n.Failure, n.Attempt))
		default:
			n.NextAt = u.Now.Add(retryPause(n.Attempt))
		}
		return u.Notices().Put(n)
	})
}

// endNotice ends a notice that was sent. A notice of a pending approval that can be updated stays open until the decision.
func endNotice(u *unit.Unit, sent DueNotice) error {
	n := sent.Notice
	n.Failure, n.Done = "", true
	if sent.About == nil || sent.About.State != parley.ApprovalPending || !hasReceipt(n) {
		return u.Notices().Put(n)
	}
	n.Done, n.Attempt, n.NextAt = false, 0, u.Now.Add(undecidedPause)
	a, err := u.Approvals().Get(n.Approval)
	if err != nil {
		return err
	}
	if a.State != parley.ApprovalPending {
		n.NextAt, u.NoticesDue = u.Now, true
	}
	return u.Notices().Put(n)
}

// retryPause returns the time to the next attempt: 15 seconds after the first failure, then twice as long each time, at most an hour.
func retryPause(failures int) time.Duration {
	return min(15*time.Second<<min(failures-1, 10), time.Hour)
}

// ForgetNotices deletes old notices.
func ForgetNotices(ctx context.Context, core *unit.Core) error {
	_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) {
		return tx.Notices().Forget(core.Now().Add(-noticeAge), unit.PurgeBatch)
	})
	return err
}

// TellDeciders notifies the people who are asked for an approval. The key keeps one request, and each reminder, from being sent twice.
func TellDeciders(u *unit.Unit, a parley.Approval, people []string, key string) error {
	return TellPeople(u, people, parley.Notice{
		Key: key, Kind: parley.NoticeApproval, Title: a.Agent + " needs your approval (" + a.ShortName() + ")", Text: a.Summary, Approval: a.ID,
	})
}
