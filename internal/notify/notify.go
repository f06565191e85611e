// Package notify notifies people outside of the hub about pending approvals, dead letters, budgets and alerts.
//
// The configuration lists the ways to notify each person. Pending notices are in the hub's outbox. The service sends each
// notice at least once by each way. A button that a person presses becomes that person's decision. docs/notifiers.md
// describes the configuration.
package notify

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/runtime/webhook"
	"github.com/parley-hub/parley/internal/service"
)

const (
	retryEvery  = 5 * time.Second // how often the service looks for notices to retry
	batchSize   = 16
	sendTimeout = 20 * time.Second // of one notice by one way
)

// Options configure the service.
type Options struct {
	Settings  Settings
	PublicURL string   // the beginning of all links
	Allow     []string // private addresses that webhooks may use
	Environ   []string // of the hub; programs get only the allowed variables
	Log       *slog.Logger
}

// sender is one way to notify a person.
type sender interface {
	// name identifies the way among the ways of a person. It contains no secret and no space.
	name() string
	// send sends a notification. The receipt identifies the sent message for amend; it is "" if the message cannot be changed.
	send(ctx context.Context, n notification) (receipt string, err error)
}

// amender is a way that can change a sent message.
type amender interface {
	// amend replaces the message with this receipt by one that says how the approval ended.
	amend(ctx context.Context, receipt string, n notification) error
}

// Service sends due notices and receives answers, from Start to Stop.
type Service struct {
	*service.Service
	hub  *hub.Hub
	o    Options
	ways map[string][]sender // by person
	bots []*bot
}

// New makes the service. It returns E003 if an entry of Options.Allow is malformed.
func New(h *hub.Hub, o Options) (*Service, error) {
	client, err := webhook.NewClient(o.Allow)
	if err != nil {
		return nil, err
	}
	s := &Service{hub: h, o: o, ways: map[string][]sender{}}
	s.Service = service.New(func(ctx context.Context, started func()) {
		defer client.CloseIdleConnections()
		s.run(ctx, started)
	})
	for person, list := range o.Settings {
		for _, settings := range list {
			s.ways[person] = append(s.ways[person], s.make(client, person, settings))
		}
	}
	return s, nil
}

func (s *Service) run(ctx context.Context, started func()) {
	var listening sync.WaitGroup
	for _, b := range s.bots {
		listening.Go(func() { b.receiveAnswers(ctx) })
	}
	defer listening.Wait()
	ticker := time.NewTicker(retryEvery)
	defer ticker.Stop()
	started()
	for {
		if err := s.Send(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Error("cannot send notices; retrying soon", "error", err, "retry_in", retryEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.hub.NoticesCome():
		case <-ticker.C:
		}
	}
}

// Send sends all notices that are due.
func (s *Service) Send(ctx context.Context) error {
	for {
		due, err := s.hub.DueNotices(ctx, batchSize)
		if err != nil || len(due) == 0 {
			return err
		}
		var sending sync.WaitGroup
		errs := make([]error, len(due))
		for i, notice := range due {
			sending.Go(func() { errs[i] = s.handle(ctx, notice) })
		}
		sending.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
	}
}

// handle sends one notice. If its approval is already decided, handle amends the sent messages instead.
func (s *Service) handle(ctx context.Context, due hub.DueNotice) error {
	work := s.sendByEachWay
	if due.About != nil && due.About.State != parley.ApprovalPending {
		work = s.amend
	}
	failures, err := work(ctx, &due)
	if err != nil || ctx.Err() != nil {
		return err // the hub offers the notice again when its lease ends
	}
	return s.hub.NoticeTried(ctx, due, strings.Join(failures, "; "))
}

// sendByEachWay sends a notice by each way that has not sent it yet. It returns a text for each way that failed.
func (s *Service) sendByEachWay(ctx context.Context, due *hub.DueNotice) (failures []string, err error) {
	n, err := s.notificationWithLink(ctx, *due)
	if err != nil {
		if parley.AsError(err).Reason == parley.Conflict {
			return nil, nil // the approval was decided meanwhile
		}
		return []string{"link: " + shortError(err).Error()}, nil
	}
	for _, w := range s.ways[due.Person] {
		if _, sent := receipt(due.Notice, w); sent {
			continue
		}
		sentAs, err := s.sendBy(ctx, w, n)
		if err != nil {
			failures = append(failures, w.name()+": "+err.Error())
			continue
		}
		due.Sent = append(due.Sent, strings.TrimSpace(w.name()+" "+sentAs))
		if err := s.hub.NoticeSent(ctx, due.Notice); err != nil {
			return nil, err
		}
	}
	return failures, nil
}

func (s *Service) sendBy(ctx context.Context, w sender, n notification) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return w.send(ctx, n)
}

// amend adds the decision about an approval to the sent messages. It returns a text for each way that failed.
func (s *Service) amend(ctx context.Context, due *hub.DueNotice) (failures []string, err error) {
	n := newNotification(*due)
	for _, w := range s.ways[due.Person] {
		sentAs, _ := receipt(due.Notice, w)
		amending, canAmend := w.(amender)
		if !canAmend || sentAs == "" {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, sendTimeout)
		if err := amending.amend(ctx, sentAs, n); err != nil {
			failures = append(failures, w.name()+": "+err.Error())
		}
		cancel()
	}
	return failures, nil
}

// receipt reports whether a way has sent a notice, and returns the receipt that the way returned.
func receipt(n parley.Notice, w sender) (sentAs string, sent bool) {
	for _, entry := range n.Sent {
		if name, sentAs, _ := strings.Cut(entry, " "); name == w.name() {
			return sentAs, true
		}
	}
	return "", false
}

// notificationWithLink returns the notification for a notice. If the notice is about an approval, it has a new link to decide
// it.
func (s *Service) notificationWithLink(ctx context.Context, due hub.DueNotice) (notification, error) {
	n := newNotification(due)
	if due.About == nil || len(s.ways[due.Person]) == 0 {
		return n, nil
	}
	secret, err := s.hub.NewApprovalLink(ctx, due.Approval, due.Person)
	if err != nil {
		return n, err
	}
	n.link = s.o.PublicURL + "/approve/" + secret
	return n, nil
}

// botOf returns the bot that another way already uses, if it is the same bot. Otherwise it keeps and returns the new one.
// So the service polls a bot that several people share only once.
func (s *Service) botOf(made *bot) *bot {
	i := slices.IndexFunc(s.bots, func(b *bot) bool { return b.base == made.base && b.token == made.token })
	if i < 0 {
		s.bots = append(s.bots, made)
		return made
	}
	return s.bots[i]
}
