// Package notify tells people outside of the hub what waits for them: approvals, dead letters, budgets and alerts, by
// the ways that the configuration has for each of them. What is to be told is in the hub's outbox; here it is sent, at
// least once by each way, and a person's answer by a button becomes their decision. docs/notifiers.md is for those who
// set it up.
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
	lookEvery = 5 * time.Second // for what is to be tried again
	atOnce    = 16
	sendTime  = 20 * time.Second // by one way
)

// Options are what the service needs to know.
type Options struct {
	Settings  Settings
	PublicURL string   // what links begin with
	Allow     []string // addresses that may be called although they are private
	Environ   []string // of the hub; programs get what is allowed of it
	Log       *slog.Logger
}

// way is one way to tell a person something.
type way interface {
	// name tells it from the other ways of its person. It has no secret in it, and no space.
	name() string
	// send tells the person. If what was sent can be changed later, it returns the receiver's number for it.
	send(ctx context.Context, l letter) (receipt string, err error)
}

// amender is a way that can change what it has sent.
type amender interface {
	amend(ctx context.Context, receipt string, l letter) error
}

// Service sends what is due, and listens for answers, from its Start to its Stop.
type Service struct {
	*service.Service
	hub  *hub.Hub
	o    Options
	ways map[string][]way // by person
	bots []*bot
}

// New makes the service. It returns E003 if what is allowed cannot be read.
func New(h *hub.Hub, o Options) (*Service, error) {
	client, err := webhook.NewClient(o.Allow)
	if err != nil {
		return nil, err
	}
	s := &Service{hub: h, o: o, ways: map[string][]way{}}
	s.Service = service.New(func(ctx context.Context, started func()) {
		defer client.CloseIdleConnections()
		s.run(ctx, started)
	})
	for person, list := range o.Settings {
		for _, one := range list {
			s.ways[person] = append(s.ways[person], s.make(client, person, one))
		}
	}
	return s, nil
}

func (s *Service) run(ctx context.Context, started func()) {
	var listening sync.WaitGroup
	for _, b := range s.bots {
		listening.Go(func() { b.listen(ctx) })
	}
	defer listening.Wait()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	started()
	for {
		if err := s.Send(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Error("notices could not be sent, will try again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.hub.NoticesCome():
		case <-ticker.C:
		}
	}
}

// Send sends everything that is due now.
func (s *Service) Send(ctx context.Context) error {
	for {
		due, err := s.hub.DueNotices(ctx, atOnce)
		if err != nil || len(due) == 0 {
			return err
		}
		var sending sync.WaitGroup
		errs := make([]error, len(due))
		for i, one := range due {
			sending.Go(func() { errs[i] = s.handle(ctx, one) })
		}
		sending.Wait()
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
	}
}

// handle sends one notice, or has what was sent of it say what was decided.
func (s *Service) handle(ctx context.Context, due hub.DueNotice) error {
	work := s.tell
	if due.About != nil && due.About.State != parley.ApprovalPending {
		work = s.amend
	}
	failures, err := work(ctx, &due)
	if err != nil || ctx.Err() != nil {
		return err // it is tried again, once nobody has it
	}
	return s.hub.NoticeTried(ctx, due, strings.Join(failures, "; "))
}

// tell sends a notice by each way by which it was not sent yet, and says what failed.
func (s *Service) tell(ctx context.Context, due *hub.DueNotice) (failures []string, err error) {
	l, err := s.letter(ctx, *due)
	if err != nil {
		if parley.AsError(err).Reason == parley.Conflict {
			return nil, nil // it was decided meanwhile
		}
		return []string{"link: " + short(err).Error()}, nil
	}
	for _, w := range s.ways[due.Person] {
		if _, sent := receipt(due.Notice, w); sent {
			continue
		}
		number, err := s.try(ctx, w, l)
		if err != nil {
			failures = append(failures, w.name()+": "+err.Error())
			continue
		}
		due.Sent = append(due.Sent, strings.TrimSpace(w.name()+" "+number))
		if err := s.hub.NoticeSent(ctx, due.Notice); err != nil {
			return nil, err
		}
	}
	return failures, nil
}

func (s *Service) try(ctx context.Context, w way, l letter) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	return w.send(ctx, l)
}

func (s *Service) amend(ctx context.Context, due *hub.DueNotice) (failures []string, err error) {
	l := newLetter(*due)
	for _, w := range s.ways[due.Person] {
		number, _ := receipt(due.Notice, w)
		changes, can := w.(amender)
		if !can || number == "" {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, sendTime)
		if err := changes.amend(ctx, number, l); err != nil {
			failures = append(failures, w.name()+": "+err.Error())
		}
		cancel()
	}
	return failures, nil
}

// receipt is what the receiver calls a notice that was sent by a way, if it was.
func receipt(n parley.Notice, w way) (number string, sent bool) {
	for _, entry := range n.Sent {
		if by, number, _ := strings.Cut(entry, " "); by == w.name() {
			return number, true
		}
	}
	return "", false
}

// letter is what a person is told, with a link where they are asked for something.
func (s *Service) letter(ctx context.Context, due hub.DueNotice) (letter, error) {
	l := newLetter(due)
	if due.About == nil || len(s.ways[due.Person]) == 0 {
		return l, nil
	}
	secret, err := s.hub.NewApprovalLink(ctx, due.Approval, due.Person)
	if err != nil {
		return l, err
	}
	l.link = s.o.PublicURL + "/approve/" + secret
	return l, nil
}

// botOf is the bot itself, or the same one that another way has: what several people share is asked for answers once.
func (s *Service) botOf(made *bot) *bot {
	i := slices.IndexFunc(s.bots, func(b *bot) bool { return b.base == made.base && b.token == made.token })
	if i < 0 {
		s.bots = append(s.bots, made)
		return made
	}
	return s.bots[i]
}
