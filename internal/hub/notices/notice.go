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
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	maxAttempts = 10
	// noticeClaim is how long whoever sends a notice may take, before another may try it.
	sendTimeout = 5 * time.Minute
	// undecided is when a notice of an approval is looked at again that nobody has decided. Its decision comes before.
	undecidedPause = 365 * 24 * time.Hour
	noticeAge      = 30 * 24 * time.Hour
)

// DueNotice is a notice that is to be sent now, with the approval it is about. Where that is not pending any more,
// there is nothing to ask for: only what was sent is to say so.
type DueNotice struct {
	parley.Notice
	About *parley.Approval
}

// insertNotice has a person told something outside of the hub, by the ways they have chosen, once this is committed.
// What they were told already, by the notice's key, they are not told again.
func insertNotice(u *unit.Unit, n parley.Notice) error {
	if told := u.Core.Config.Notified; told != nil && !told(n.Person) {
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

// TellPeople tells each of several the same.
func TellPeople(u *unit.Unit, people []string, n parley.Notice) error {
	for _, n.Person = range people {
		if err := insertNotice(u, n); err != nil {
			return err
		}
	}
	return nil
}

// NoticesOf makes the notices of an approval due that is not pending any more: what was sent is to say so.
func NoticesOf(u *unit.Unit, approval string) error {
	open, err := u.Notices().About(approval)
	for _, n := range open {
		if err == nil {
			n.Attempt, n.NextAt, u.NoticesDue = 0, u.Now, true
			err = u.Notices().Put(n)
		}
	}
	return err
}

// NoticesCome is sent to when notices may be due that were not before.
func (s *Service) NoticesCome() <-chan struct{} { return s.noticesCome }

// DueNotices takes notices that are due. Nobody else is given them for a while.
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

// takeNotice adds a notice to those that are sent now, unless nobody needs it any more.
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
	asked, err := approvals.Deciders(u, a) // who it was may have changed
	return &a, slices.ContainsFunc(asked, func(who parley.Agent) bool { return who.ID == n.Person }), err
}

// hasReceipt says whether something was sent that can still be changed: its entry among what was sent has the
// receiver's number for it behind a space.
func hasReceipt(n parley.Notice) bool {
	return slices.ContainsFunc(n.Sent, func(sent string) bool { return strings.Contains(sent, " ") })
}

// NoticeSent writes down that a notice was sent by one of the ways of its person.
func (s *Service) NoticeSent(ctx context.Context, n parley.Notice) error {
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return u.Notices().Put(n) })
}

// NoticeTried ends a try of a notice, which went well if failure is empty. Else it is tried again later, but not for
// ever.
func (s *Service) NoticeTried(ctx context.Context, tried DueNotice, failure string) error {
	return s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		n := tried.Notice
		n.Failure = unit.Storable(failure)
		switch {
		case failure == "":
			return endNotice(u, tried)
		case n.Attempt >= maxAttempts:
			n.Done = true
			u.Warn(fmt.Sprintf("gave up telling %s of %s: %s", n.Person, n.Key, n.Failure))
		default:
			n.NextAt = u.Now.Add(retryPause(n.Attempt))
		}
		return u.Notices().Put(n)
	})
}

// endNotice ends a notice that was sent. One that asked for a decision, and can be changed, waits for it; if it has
// come meanwhile, it is due.
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

// retryPause is how long to wait after so many failures: 15 seconds, then twice as long each time, up to an hour.
func retryPause(failures int) time.Duration {
	return min(15*time.Second<<min(failures-1, 10), time.Hour)
}

func ForgetNotices(ctx context.Context, core *unit.Core) error {
	_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) {
		return tx.Notices().Forget(core.Now().Add(-noticeAge), unit.PurgeBatch)
	})
	return err
}

// TellDeciders tells the people who are asked for an approval. The key keeps one request, and each reminder, from being
// told twice.
func TellDeciders(u *unit.Unit, a parley.Approval, people []string, key string) error {
	return TellPeople(u, people, parley.Notice{
		Key: key, Kind: parley.NoticeApproval, Title: a.Agent + " needs your approval (" + a.ShortName() + ")", Text: a.Summary, Approval: a.ID,
	})
}
