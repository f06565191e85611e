// Package reading holds reading messages: history, context, threads, traces and search.
package reading

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
	names  *names.Service
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, access *access.Service, names *names.Service) *Service {
	return &Service{Core: core, access: access, names: names}
}

// History returns a part of a conversation, oldest message first. Reading changes nothing.
func (s *Service) History(ctx context.Context, caller unit.Caller, ref string, page parley.Page) (list []parley.Message, err error) {
	read, err := s.history(ctx, caller, ref, page, func(*unit.Unit, *parley.NamedMessages) error { return nil })
	return read.Messages, err
}

// HistoryWithNames returns what History returns, the names of the participants in it, and the short names of the messages that it answers.
func (s *Service) HistoryWithNames(ctx context.Context, caller unit.Caller, ref string, page parley.Page) (parley.NamedMessages, error) {
	return s.history(ctx, caller, ref, page, func(u *unit.Unit, read *parley.NamedMessages) (err error) {
		if read.Names, err = agents.NamesOf(u, parley.ParticipantsIn(read.Messages)...); err == nil {
			read.Answered, err = messages.Answered(u, read.Messages)
		}
		return err
	})
}

func (s *Service) history(
	ctx context.Context, caller unit.Caller, ref string, page parley.Page, addNames func(*unit.Unit, *parley.NamedMessages) error,
) (read parley.NamedMessages, err error) {
	defer s.ObserveRead(time.Now(), &err)
	page.Limit = unit.Clamp(page.Limit, 50, 1000)
	err = s.View(ctx, caller, unit.OpListMessages, func(u *unit.Unit) error {
		list, err := readPage(u, caller, &ref, page)
		if err != nil {
			return err
		}
		read = parley.NamedMessages{Messages: list}
		return addNames(u, &read)
	})
	return read, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolRead, policy.ReadArgs{Conversation: ref, Page: page})
}

// readPage reads a part of a conversation. It replaces the reference by the conversation's id, so that a held call reads the
// same conversation after its approval, even if that was renamed.
func readPage(u *unit.Unit, caller unit.Caller, ref *string, page parley.Page) ([]parley.Message, error) {
	p, err := conversations.Conversation(u, *ref)
	if err != nil {
		return nil, err
	}
	*ref = p.ID
	if err := policy.MustRead(u, unit.Origin{Caller: caller}, p.ID); err != nil {
		return nil, err
	}
	return u.Messages().Page(p.ID, page)
}

// Context returns what an agent sees when a message wakes it: the last messages of one conversation, as many as the caller's
// limit says.
func (s *Service) Context(ctx context.Context, caller unit.Caller, ref string) (list []parley.Message, err error) {
	defer s.ObserveRead(time.Now(), &err)
	var page parley.Page
	err = s.View(ctx, caller, unit.OpReadContext, func(u *unit.Unit) error {
		page.Limit = u.Me.ContextMessages
		list, err = readPage(u, caller, &ref, page)
		return err
	})
	return list, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolRead, policy.ReadArgs{Conversation: ref, Page: page})
}

// Message shows one message.
func (s *Service) Message(ctx context.Context, caller unit.Caller, id string) (shown parley.Shown, err error) {
	if err := s.names.FindID(ctx, caller, unit.OpShowMessage, parley.NounMessage, &id); err != nil {
		return shown, err
	}
	err = s.View(ctx, caller, unit.OpShowMessage, func(u *unit.Unit) error {
		var err error
		if shown.Message, _, err = conversations.Message(u, id); err != nil {
			return err
		}
		if err := policy.MustReadMessage(u, caller, shown.Message); err != nil {
			return err
		}
		if shown.Damage != nil {
			return shown.Damage
		}
		shown.Deliveries, err = u.Deliveries().OfMessage(shown.ID)
		return err
	})
	return shown, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolMessage, policy.MessageArgs{Message: id})
}

// Messages returns the messages with these ids, in their order, without missing ones and those that the caller may not read. If
// messages are large, it stops earlier: rest has the ids that it has not read.
func (s *Service) Messages(ctx context.Context, caller unit.Caller, ids []string) (list []parley.Message, rest []string, err error) {
	err = s.View(ctx, caller, unit.OpShowMessage, func(u *unit.Unit) error {
		found, err := u.Messages().GetAll(ids)
		if err != nil || len(found) == 0 {
			return err
		}
		rest = ids[slices.Index(ids, found[len(found)-1].ID)+1:]
		for _, m := range found {
			_, err := conversations.Conversation(u, m.Conversation)
			if err == nil {
				err = policy.MustReadMessage(u, caller, m)
			}
			_, hidden := errors.AsType[unit.Unknown](err)
			_, held := errors.AsType[unit.HeldBy](err)
			if hidden || held {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, m)
		}
		return nil
	})
	return list, rest, err
}

const maxThreadMessages = 1000

// Thread returns a message and all direct and indirect replies, in order: at most a thousand messages, and about 4 MiB of
// texts. If there may be more, the result says so.
func (s *Service) Thread(ctx context.Context, caller unit.Caller, id string) (found parley.Thread, err error) {
	if err := s.names.FindID(ctx, caller, unit.OpReadThread, parley.NounMessage, &id); err != nil {
		return found, err
	}
	err = s.View(ctx, caller, unit.OpReadThread, func(u *unit.Unit) error {
		root, place, err := conversations.Message(u, id)
		if err != nil {
			return err
		}
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, place.ID); err != nil {
			return err
		}
		found, err = collectThread(u, root)
		return err
	})
	return found, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolMessage, policy.MessageArgs{Message: id, Thread: true})
}

func collectThread(u *unit.Unit, root parley.Message) (found parley.Thread, err error) {
	list, size, looked := []parley.Message{root}, root.Size(), 0
	for ; looked < len(list) && len(list) < maxThreadMessages && size < unit.ReadBytes; looked++ {
		replies, err := u.Messages().Replies(list[looked].ID, maxThreadMessages-len(list))
		if err != nil {
			return found, err
		}
		for _, m := range replies {
			if m.Conversation == root.Conversation { // an imported message may name a parent elsewhere
				list = append(list, m)
				size += m.Size()
			}
		}
	}
	found.Cut = looked < len(list)
	unit.SortBySeq(list)
	if found.Items = list; found.Cut {
		found.Notice = fmt.Sprintf("these are %d messages of the thread, and there may be more: read the threads of the last of them, "+
			"or the messages of conversation %s after number %d", len(list), root.Conversation, root.Seq)
	}
	return found, nil
}

// MarkRead moves the caller's read cursor in a conversation forward to a seq, or to the newest message if the seq is 0. It
// never moves back. MarkRead marks a person's deliveries as seen in small updates that do not block others for long.
func (s *Service) MarkRead(ctx context.Context, caller unit.Caller, ref string, seq int64) error {
	if err := access.Limit(ctx, s.access, caller); err != nil {
		return err
	}
	for reached := false; !reached; {
		err := s.Write(ctx, caller, unit.OpMarkRead, func(u *unit.Unit) (err error) {
			p, err := conversations.Conversation(u, ref)
			if err != nil {
				return err
			}
			if seq == 0 || seq > p.LastSeq {
				seq = p.LastSeq
			}
			reached, err = advanceCursor(u, p, seq)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// advanceCursor moves the caller's cursor towards a seq. In one call it marks at most unit.ReadBatch deliveries to a person as
// seen. It returns true when the cursor has reached the seq.
func advanceCursor(u *unit.Unit, p conversations.Place, seq int64) (reached bool, err error) {
	if !p.Joined {
		return false, parley.Errorf(parley.BadInput, "%s does not take part in %s", u.Me.ID, p.Title()).Suggest("join it first")
	}
	m, err := u.Members().Get(p.ID, u.Me.ID)
	if err != nil || seq <= m.ReadSeq {
		return true, err
	}
	var passed []parley.Delivery
	if u.Me.Kind == parley.KindHuman {
		if passed, err = u.Deliveries().Between(p.ID, u.Me.ID, m.ReadSeq, seq, unit.ReadBatch); err != nil {
			return false, err
		}
	}
	m.ReadSeq = seq
	if len(passed) == unit.ReadBatch {
		m.ReadSeq = passed[unit.ReadBatch-1].Seq
	}
	if err := conversations.MoveCursor(u, m); err != nil {
		return false, err
	}
	return m.ReadSeq == seq, markPassedSeen(u, passed)
}

// markPassedSeen marks the deliveries that a person's cursor has passed as seen.
func markPassedSeen(u *unit.Unit, list []parley.Delivery) error {
	for i := range list {
		if list[i].State != parley.DeliveryAccepted && list[i].State != parley.DeliveryDelivered {
			continue
		}
		if err := deliveries.SetState(u, &list[i], parley.DeliverySeen, nil); err != nil {
			return err
		}
	}
	return nil
}
