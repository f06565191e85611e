package feed

import (
	"context"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

const defaultAttention = 10

// Attention lists what the caller must act on: approvals to decide, dead letters if the caller is an owner, asks and tasks for
// the caller, and messages to acknowledge or answer. Each thing is listed once, at most limit (0: 10) of a kind.
func (s *Service) Attention(ctx context.Context, caller unit.Caller, limit int) (needs parley.Attention, err error) {
	limit = unit.Clamp(limit, defaultAttention, work.MaxWanted)
	err = s.View(ctx, caller, unit.OpAttention, func(u *unit.Unit) error {
		u.SkipUnreadable(nil)
		needs = parley.Attention{Items: []parley.AttentionItem{}, Totals: map[parley.AttentionKind]int{}}
		wanted, err := findActionable(u)
		if err != nil {
			return err
		}
		needs.Items = append(needs.Items, messageItems(wanted)...)
		for _, find := range []func(*unit.Unit) ([]parley.AttentionItem, error){approvalItems, deadLetterItems, taskItems} {
			list, err := find(u)
			if err != nil {
				return err
			}
			needs.Items = append(needs.Items, list...)
		}
		needs.Unread, err = countUnread(u, wanted)
		return err
	})
	needs.Items = slices.DeleteFunc(needs.Items, func(i parley.AttentionItem) bool {
		needs.Totals[i.Kind]++
		return needs.Totals[i.Kind] > limit
	})
	slices.SortStableFunc(needs.Items, func(a, b parley.AttentionItem) int {
		return slices.Index(attentionOrder, a.Kind) - slices.Index(attentionOrder, b.Kind)
	})
	return needs, err
}

var attentionOrder = []parley.AttentionKind{
	parley.AttentionApproval, parley.AttentionDeadLetter, parley.AttentionAsk, parley.AttentionTask, parley.AttentionAck, parley.AttentionReply,
}

// approvalItems returns the pending approvals that the caller should decide. An owner may also decide in place of a manager,
// but these approvals are not listed.
func approvalItems(u *unit.Unit) (items []parley.AttentionItem, err error) {
	list, err := approvals.List(u, parley.ApprovalFilter{State: parley.ApprovalPending, Mine: true, Limit: work.MaxWanted})
	for _, a := range list {
		if a.Agent == u.Me.ID || a.Decider != u.Me.ID && (a.Decider != "" || !u.Owner()) {
			continue
		}
		items = append(items, parley.AttentionItem{
			Kind: parley.AttentionApproval, ID: a.ID, Name: a.ShortName(), From: a.Agent, Recipient: a.Target,
			Text: parley.RequestLine(a.Summary), Since: a.CreatedAt, Due: a.ExpiresAt,
		})
	}
	return items, err
}

// deadLetterItems returns the dead letters if the caller is an owner, and nothing otherwise.
func deadLetterItems(u *unit.Unit) (items []parley.AttentionItem, err error) {
	if !u.Owner() {
		return nil, nil
	}
	list, err := u.Queue().Dead(0, work.MaxWanted)
	for _, d := range slices.Backward(list) {
		m := parley.Message{ID: d.Message, Seq: d.Seq}
		item := parley.AttentionItem{
			Kind: parley.AttentionDeadLetter, ID: d.Message, Name: m.ShortName(), From: d.From, Recipient: d.Recipient, Since: d.AcceptedAt,
		}
		if d.Failure != nil {
			item.Text = parley.QuestionOf(d.Failure.Message)
		}
		items = append(items, item)
	}
	return items, err
}

// actionable is a delivery that its recipient must act on, with its message.
type actionable struct {
	parley.Delivery
	message parley.Message
}

// findActionable returns the deliveries that the caller must act on, the newest first.
func findActionable(u *unit.Unit) (items []actionable, err error) {
	list, err := u.Queue().Newest(storage.InboxPage{Recipient: u.Me.ID, Wanted: true, Limit: work.MaxWanted})
	for _, d := range list {
		m, err := u.Messages().Get(d.Message)
		if errors.Is(err, parley.ErrNotFound) || m.Damage != nil || d.Damage != nil {
			continue
		}
		wanted := false
		if err == nil {
			wanted, err = work.IsWanted(u, d, m)
		}
		if err != nil {
			return nil, err
		}
		if wanted {
			items = append(items, actionable{d, m})
		}
	}
	return items, err
}

// messageItems returns the asks to the caller, and the messages that it must acknowledge or answer. taskItems and approvalItems
// list the rest.
func messageItems(wanted []actionable) (items []parley.AttentionItem) {
	for _, d := range wanted {
		m := d.message
		item := parley.AttentionItem{
			ID: m.ID, Name: m.ShortName(), From: m.From, Text: parley.QuestionOf(m.Content.Text), Since: m.CreatedAt, Due: m.Deadline,
		}
		switch {
		case d.Purpose == parley.PurposeTask || d.Purpose == parley.PurposeApproval:
			continue
		case d.Purpose == parley.PurposeAsk:
			item.Kind = parley.AttentionAsk
		case m.RequiresAck:
			item.Kind = parley.AttentionAck
		default:
			item.Kind = parley.AttentionReply
		}
		items = append(items, item)
	}
	return items
}

// taskItems returns the open tasks of the caller.
func taskItems(u *unit.Unit) (items []parley.AttentionItem, err error) {
	list, err := u.Tasks().List(parley.TaskFilter{Assignee: u.Me.ID, Open: true, Limit: work.MaxWanted}, "")
	for _, t := range list {
		items = append(items, parley.AttentionItem{
			Kind: parley.AttentionTask, ID: t.ID, Name: t.ID, From: t.Requester, Text: t.Title, Since: t.CreatedAt, Due: t.Deadline,
		})
	}
	return items, err
}

// countUnread returns how many open deliveries of the caller need no action.
func countUnread(u *unit.Unit, wanted []actionable) (int, error) {
	inbox, err := u.Queue().Inbox(u.Me.ID)
	open := inbox.Waking + inbox.Quiet + inbox.Work
	for _, d := range wanted {
		if d.Open() {
			open--
		}
	}
	return max(open, 0), err
}
