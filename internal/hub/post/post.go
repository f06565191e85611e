// Package post holds posting a message, from top to bottom: envelope, rules, recipients, what the message does to tasks and
// commands, and its answer.
package post

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
	names  *names.Service
}

// New makes the use cases from the core of a hub and from the use cases of other packages.
func New(core *unit.Core, access *access.Service, names *names.Service) *Service {
	return &Service{Core: core, access: access, names: names}
}

// Post stores a message with its deliveries. When it returns, the message is on disk.
func (s *Service) Post(ctx context.Context, caller unit.Caller, draft parley.Draft) (parley.Receipt, error) {
	began := time.Now()
	draft, err := draft.Check(s.Config.Limits)
	replies := caller.Kind == parley.TokenReply
	if err == nil && replies {
		caller, err = s.checkReply(caller, draft)
	}
	if err != nil {
		return parley.Receipt{}, err
	}
	if err := s.names.FindID(ctx, caller, unit.OpPostMessage, parley.NounMessage, &draft.InReplyTo); err != nil {
		return parley.Receipt{}, err
	}
	if draft.Content.Artifacts, err = FillArtifactSizes(ctx, s.Core, caller, unit.OpPostMessage, draft); err != nil {
		return parley.Receipt{}, err
	}
	post := Posting{Draft: draft, Source: caller.Source, Run: caller.Run, Trace: caller.Trace, replyToken: replies}
	if err := post.Compose(); err != nil {
		return parley.Receipt{}, err
	}
	var (
		receipt parley.Receipt
		unknown []string // the names in the text that no participant has
		opened  string   // the channel that the hub made for the message
	)
	err = s.Update(ctx, caller, unit.OpPostMessage, func(u *unit.Unit) (err error) {
		if replies {
			var found bool
			if receipt, found, err = spendReply(u, caller, post); found || err != nil {
				return err
			}
		}
		receipt, err = Store(u, post)
		unknown, opened = u.UnknownNames, u.Opened
		return err
	})
	if err != nil {
		return parley.Receipt{}, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.PostTool(draft), draft)
	}
	s.ObserveWrite(began)
	s.Index.Posted(receipt.Message)
	receipt.UnknownMentions, receipt.Notices = unknown, append(receipt.Notices, UnknownNotices(ctx, s.Core, unknown)...)
	if opened != "" {
		receipt.Notices = append(receipt.Notices, newChannelNotice(ctx, s.Core, caller, opened))
	}
	return receipt, nil
}

// stages are what Store does with a message, in this order. All seven run, unless the same call has posted before. Within a stage, a check
// stands before each step that only some messages need. A plain message in a DM runs only the checks, and no code for commands, tasks, asks
// or directory trees.
var stages = [...]func(*storing) error{
	(*storing).findSender,        // The sender is the caller. A call that was made before gets the receipt of its first message.
	(*storing).findPlace,         // the message that this one replies to, the conversation, and the envelope
	(*storing).applyRules,        // The sender may contact the recipients and may write here, or it needs an approval.
	(*storing).findEffects,       // the command that the message gives, and the task that it asks for or reports on
	(*storing).findRecipients,    // who gets a delivery, whom that wakes, and why
	(*storing).insertRows,        // The message gets its place in the order. The hub stores it and its deliveries.
	(*storing).applyConsequences, // what the message answers, what it does to a task, an ask or an agent
}

// storing is a message that Store is about to store, with what the stages have found out about it so far.
type storing struct {
	u *unit.Unit
	p Posting

	d        parley.Draft    // as the sender wrote it; findParent adds the conversation and the recipient of a reply that names neither
	repeated bool            // the same call has posted before; the receipt is that of its message
	parent   *parley.Message // the message that this one replies to, or nil
	where    conversations.Place
	m        parley.Message
	command  *resolvedCommand // what the message tells an agent to do, or nil
	effect   *TaskEffect      // what the message does to a task, or nil
	reached  []parley.NewDelivery
	ask      *parley.Wait // open, and this message may answer it; or nil
	receipt  parley.Receipt
}

// Store stores a message with its deliveries, within a transaction. It returns unit.HeldBy if the message needs an approval.
func Store(u *unit.Unit, p Posting) (parley.Receipt, error) {
	s := &storing{u: u, p: p, d: p.Draft}
	for _, stage := range stages {
		if err := stage(s); err != nil {
			return parley.Receipt{}, err
		}
		if s.repeated {
			break
		}
	}
	return s.receipt, nil
}

func (s *storing) findSender() (err error) {
	if s.d.From != "" {
		if err := checkSender(s.u, s.d.From); err != nil {
			return err
		}
	}
	if !s.p.Request && !s.p.runAnswer { // for these the caller has looked already
		if s.receipt, s.repeated, err = findDuplicate(s.u, &s.p); s.repeated || err != nil {
			return err
		}
	}
	return artifacts.Check(s.u, s.d.Content.Artifacts)
}

func (s *storing) findPlace() (err error) {
	if s.d.InReplyTo != "" {
		if s.parent, err = findParent(s.u, &s.d); err != nil {
			return err
		}
		if s.parent.From == parley.System && !s.p.runAnswer && !s.p.replyToken {
			if err := mustDecide(s.u, *s.parent); err != nil {
				return err
			}
		}
	}
	if s.where, err = FindDestination(s.u, s.d); err != nil {
		return err
	}
	if (s.where.Kind == parley.DM || s.where.Kind == parley.Ephemeral) && !s.p.runAnswer && s.p.command == nil {
		if err := mustReachMembers(s.u, s.where.Conversation); err != nil {
			return err
		}
	}
	s.m, err = fillEnvelope(s.u, s.p, s.d, s.where, s.parent)
	return err
}

// applyRules lets a run's answer pass, and a contact, whose caller has applied the rules.
func (s *storing) applyRules() error {
	if s.p.Request || s.p.runAnswer || s.u.SeesAll() {
		return nil
	}
	return s.p.pinHeld(checkRules(s.u, &s.p, s.m, s.where, s.parent), s.m, s.where)
}

func (s *storing) findEffects() (err error) {
	if s.p.command != nil {
		if s.command, err = resolveCommand(s.u, s.p, &s.m, s.where.Conversation); err != nil {
			return err
		}
	}
	if s.p.mayConcernTask(s.parent) {
		s.effect, err = FindTaskEffect(s.u, s.p, &s.m, s.parent, s.where.Conversation, &s.receipt)
	}
	return s.p.pinHeld(err, s.m, s.where)
}

func (s *storing) findRecipients() (err error) {
	if s.reached, err = resolveRecipients(s.u, &s.m, s.p, s.where, &s.receipt); err != nil {
		return err
	}
	if inTree, err := wakesInTree(s.u, s.reached); err != nil {
		return err
	} else if inTree {
		if err := trees.WakeOnlyReaders(s.u, s.where.Conversation, s.reached, &s.receipt); err != nil {
			return err
		}
	}
	if !s.p.runAnswer && (s.parent != nil || s.m.Task != "") {
		if s.reached, s.ask, err = withoutAsker(s.u, s.p, s.m, s.parent, s.reached); err != nil {
			return err
		}
	}
	if s.p.Tree != nil {
		if s.reached, err = messages.WithoutTreeReaders(s.u, s.p.Tree, s.reached); err != nil {
			return err
		}
	}
	if s.p.statusQuery {
		if err := leaveQueriedAsleep(s.u, s.reached); err != nil {
			return err
		}
	}
	if s.p.Purpose != "" {
		for i := range s.reached {
			if s.reached[i].Wakes {
				s.reached[i].Purpose = s.p.Purpose
			}
		}
	}
	if s.d.Sequence != 0 {
		if err := messages.CheckSequence(s.u, s.m, s.d.Sequence, s.reached); err != nil {
			return err
		}
	}
	if s.effect != nil || s.p.Purpose == parley.PurposeTask {
		s.reached, err = setTaskPurpose(s.u, s.effect, s.p, s.m, s.reached)
	}
	return err
}

func (s *storing) insertRows() (err error) {
	if s.m, err = insertMessage(s.u, s.p, s.m); err != nil {
		return err
	}
	s.receipt.Message = s.m
	s.receipt.Deliveries, err = messages.Deliver(s.u, s.m, s.reached)
	return err
}

func (s *storing) applyConsequences() (err error) {
	if s.parent != nil {
		if err := work.Answer(s.u, s.parent, s.m, s.p.endingRun()); err != nil {
			return err
		}
	}
	if s.where.Kind == parley.Ephemeral || s.where.ArchivedAt != nil {
		if err := updateArchived(s.u, s.where, s.parent); err != nil {
			return err
		}
	}
	if s.effect != nil {
		if err := ApplyTaskEffect(s.u, s.effect, s.m, s.p.Tree); err != nil {
			return err
		}
	}
	if s.m.Type == parley.TypeRequest {
		if err := reports.AddCopyNotice(s.u, s.m, &s.receipt); err != nil {
			return err
		}
	}
	if s.ask != nil {
		if err := noteAsk(s.u, *s.ask, &s.receipt); err != nil {
			return err
		}
	} else if err := noteFailedAsk(s.u, s.p, s.m, s.parent, &s.receipt); err != nil {
		return err
	}
	if s.u.Me.Kind == parley.KindHuman {
		if err := messages.CloseBreakers(s.u, s.m.Conversation); err != nil {
			return err
		}
	}
	switch {
	case s.command != nil:
		err = executeCommand(s.u, *s.command, s.m, s.receipt.Deliveries)
	case s.p.statusQuery && len(s.receipt.Deliveries) == 1:
		err = answerStatusQuery(s.u, s.m, s.receipt.Deliveries[0].Recipient, s.p.Named)
	case s.p.health != nil && s.u.Me.Kind == parley.KindAgent:
		_, err = presence.SaveHealth(s.u, s.u.Me.ID, *s.p.health)
	}
	return err
}

// insertMessage gives a message its place in the order and stores it. It notes the message as a post of the run that posts it.
func insertMessage(u *unit.Unit, p Posting, m parley.Message) (parley.Message, error) {
	err := u.WriteEvents() // the events that led to the message come before it
	if err != nil {
		return m, err
	}
	if m.Seq, err = u.Messages().NextSeq(); err != nil {
		return m, err
	}
	m.Checksum = m.Seal(p.Digest)
	u.Touch(m.Conversation)
	if err := messages.InsertRow(u.Tx, m); err != nil || p.By == nil {
		return m, err
	}
	return m, runs.NotePost(u.Tx, p.By.ID, storage.RunPost{Digest: p.Call, Message: m.ID})
}
