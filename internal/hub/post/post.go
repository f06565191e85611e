// Package post holds posting a message, from top to bottom: envelope, rules, recipients, what the message does to tasks and
// commands, and its answer.
package post

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/artifacts"
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
	post := Posting{Draft: draft, Source: caller.Source, Run: caller.Run, Trace: caller.Trace}
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
		return parley.Receipt{}, holding.HoldOr(ctx, s.Core, caller, err, policy.PostTool(draft), draft)
	}
	s.Wrote(began)
	s.Index.Posted(receipt.Message)
	receipt.UnknownMentions, receipt.Notices = unknown, append(receipt.Notices, UnknownNotices(ctx, s.Core, unknown)...)
	if opened != "" {
		receipt.Notices = append(receipt.Notices, newChannelNotice(ctx, s.Core, caller, opened))
	}
	return receipt, nil
}

// Store stores a message with its deliveries, within a transaction. The stages are marked below, in the order in which they run:
//
//  1. Sender: the sender is the caller. A call that was made before gets the receipt of its first message.
//  2. Place: the message that this one replies to, the conversation, and the envelope.
//  3. Rules: the sender may contact the recipients and may write here. If that needs an approval, Store returns unit.HeldBy.
//  4. Effects: the command that the message gives, and the task that it asks for or reports on.
//  5. Recipients: who gets a delivery, whom that wakes, and why.
//  6. Rows: the message gets its place in the order; the hub stores it and its deliveries.
//  7. Consequences: what the message answers, what it does to a task, an ask or an agent.
//
// A stage that only some messages need stands behind a check, so that a plain message in a DM runs no code for commands, tasks,
// asks or directory trees.
func Store(u *unit.Unit, p Posting) (parley.Receipt, error) {
	d, none := p.Draft, parley.Receipt{}

	// 1. Sender.
	if d.From != "" {
		if err := checkSender(u, d.From); err != nil {
			return none, err
		}
	}
	if !p.Request && !p.runAnswer { // for these the caller has looked already
		if first, found, err := findDuplicate(u, &p); found || err != nil {
			return first, err
		}
	}
	if err := artifacts.Check(u, d.Content.Artifacts); err != nil {
		return none, err
	}

	// 2. Place.
	var parent *parley.Message
	if d.InReplyTo != "" {
		var err error
		if parent, err = findParent(u, &d); err != nil {
			return none, err
		}
	}
	where, err := FindDestination(u, d)
	if err != nil {
		return none, err
	}
	if (where.Kind == parley.DM || where.Kind == parley.Ephemeral) && !p.runAnswer && p.command == nil {
		if err := mustReachMembers(u, where.Conversation); err != nil {
			return none, err
		}
	}
	m, err := fillEnvelope(u, p, d, where, parent)
	if err != nil {
		return none, err
	}

	// 3. Rules. A run's answer passes, and so does a contact, whose caller has applied them.
	if !p.Request && !p.runAnswer && !u.SeesAll() {
		if err := checkRules(u, &p, m, where, parent); err != nil {
			return none, p.pinHeld(err, m, where)
		}
	}

	// 4. Effects.
	var (
		receipt parley.Receipt
		command *resolvedCommand
		effect  *TaskEffect
	)
	if p.command != nil {
		if command, err = resolveCommand(u, p, &m, where.Conversation); err != nil {
			return none, err
		}
	}
	if p.mayConcernTask(parent) {
		if effect, err = FindTaskEffect(u, p, &m, parent, where.Conversation, &receipt); err != nil {
			return none, p.pinHeld(err, m, where)
		}
	}

	// 5. Recipients.
	reached, err := findRecipients(u, &m, p, where, &receipt)
	if err != nil {
		return none, err
	}
	if inTree, err := wakesInTree(u, reached); err != nil {
		return none, err
	} else if inTree {
		if err := trees.WakeOnlyReaders(u, where.Conversation, reached, &receipt); err != nil {
			return none, err
		}
	}
	var ask *parley.Wait // open, and this message may answer it
	if !p.runAnswer && (parent != nil || m.Task != "") {
		if reached, ask, err = withoutAsker(u, p, m, parent, reached); err != nil {
			return none, err
		}
	}
	if p.Tree != nil {
		if reached, err = messages.WithoutTreeReaders(u, p.Tree, reached); err != nil {
			return none, err
		}
	}
	if p.statusQuery {
		if err := leaveQueriedAsleep(u, reached); err != nil {
			return none, err
		}
	}
	if p.Purpose != "" {
		for i := range reached {
			if reached[i].Wakes {
				reached[i].Purpose = p.Purpose
			}
		}
	}
	if d.Sequence != 0 {
		if err := messages.CheckSequence(u, m, d.Sequence, reached); err != nil {
			return none, err
		}
	}
	if effect != nil || p.Purpose == parley.PurposeTask {
		if reached, err = setTaskPurpose(u, effect, p, m, reached); err != nil {
			return none, err
		}
	}

	// 6. Rows.
	if m, err = insertMessage(u, p, m); err != nil {
		return none, err
	}
	receipt.Message = m
	if receipt.Deliveries, err = messages.Deliver(u, m, reached); err != nil {
		return none, err
	}

	// 7. Consequences.
	if parent != nil {
		if err := work.Answer(u, parent, m, p.endingRun()); err != nil {
			return none, err
		}
	}
	if where.Kind == parley.Ephemeral || where.ArchivedAt != nil {
		if err := updateArchived(u, where, parent); err != nil {
			return none, err
		}
	}
	if effect != nil {
		if err := ApplyTaskEffect(u, effect, m, p.Tree); err != nil {
			return none, err
		}
	}
	if m.Type == parley.TypeRequest {
		if err := reports.AddCallbackNotice(u, m, &receipt); err != nil {
			return none, err
		}
	}
	if ask != nil {
		if err := noteAsk(u, *ask, &receipt); err != nil {
			return none, err
		}
	}
	if u.Me.Kind == parley.KindHuman {
		if err := messages.CloseBreakers(u, m.Conversation); err != nil {
			return none, err
		}
	}
	switch {
	case command != nil:
		err = executeCommand(u, *command, m, receipt.Deliveries)
	case p.statusQuery && len(receipt.Deliveries) == 1:
		err = answerStatusQuery(u, m, receipt.Deliveries[0].Recipient, p.Named)
	case p.health != nil && u.Me.Kind == parley.KindAgent:
		_, err = presence.KeepHealth(u, u.Me.ID, *p.health)
	}
	return receipt, err
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
