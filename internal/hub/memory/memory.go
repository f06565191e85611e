// Package memory holds the notes of agents and conversations: remembering, recalling, forgetting and redacting them, and the notes that
// a prompt gets. A memory is small, so a search reads all of it, and ranks it with the words of the tokenizer.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/search"
	"github.com/parley-hub/parley/internal/storage"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
}

// New returns the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// The rows of this package are written here and nowhere else.

// InsertRow stores a new note.
func InsertRow(tx storage.Tx, n parley.Note) error { return tx.Notes().Insert(n) }

func redactRow(tx storage.Tx, n parley.Note) error { return tx.Notes().Redact(n, rememberedText(n)) }

func removeRow(tx storage.Tx, id string) error { return tx.Notes().Remove(id) }

// Remember stores a note in the caller's own memory or in that of a conversation in which the caller may post. It returns a note
// that is there already: one of the same call, by its key, or one of the caller with the same text. It returns *parley.Held if the
// call needs an approval.
func (s *Service) Remember(ctx context.Context, caller unit.Caller, n parley.NewNote) (note parley.Note, err error) {
	if err := n.Check(); err != nil {
		return note, err
	}
	err = s.Update(ctx, caller, unit.OpRemember, func(u *unit.Unit) (err error) {
		note, err = remember(u, unit.Origin{Caller: caller}, &n)
		return err
	})
	if err != nil {
		held := n.WithoutCallKey()
		return parley.Note{}, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolMemory, policy.MemoryArgs{Action: policy.Remembers, New: &held})
	}
	return note, nil
}

// remember checks the caller's mode last, because a call that would be refused, or changes nothing, needs no approval. If the call is
// held, the update is rolled back. The conversation in n becomes an id.
func remember(u *unit.Unit, o unit.Origin, n *parley.NewNote) (note parley.Note, err error) {
	note = parley.Note{Scope: n.Scope, Author: u.Me.ID, Text: n.Text, CreatedAt: u.Now, IdempotencyKey: n.IdempotencyKey}
	if n.Scope == parley.PrivateNote {
		note.Agent = u.Me.ID
	} else {
		if err := mayShare(u, o, &n.Conversation); err != nil {
			return note, err
		}
		note.Conversation = n.Conversation
	}
	has, err := u.Notes().Of(note.Agent, note.Conversation)
	if err != nil {
		return note, err
	}
	if earlier, found, err := findEarlier(u, note, has); found || err != nil {
		return earlier, err
	}
	if err := checkRoom(u, note, has); err != nil {
		return note, err
	}
	if err := mustHold(u, o, note); err != nil {
		return note, err
	}
	if note.ID, err = u.Notes().NextID(); err != nil {
		return note, err
	}
	note = note.Sealed()
	if err := InsertRow(u.Tx, note); err != nil {
		return note, err
	}
	return note, noteEvent(u, parley.EventNoteAdded, note)
}

// findEarlier returns a note that the call, or one with the same text, has stored before.
func findEarlier(u *unit.Unit, n parley.Note, has []parley.Note) (earlier parley.Note, found bool, err error) {
	if n.IdempotencyKey != "" {
		earlier, err := u.Notes().Keyed(n.Author, n.IdempotencyKey)
		if err == nil {
			earlier, err = readable(u, earlier)
		}
		if !errors.Is(err, parley.ErrNotFound) {
			return earlier, err == nil, err
		}
	}
	i := slices.IndexFunc(has, func(other parley.Note) bool { return other.Author == n.Author && other.Text == n.Text })
	if i < 0 {
		return earlier, false, nil
	}
	return has[i], true, nil
}

// checkRoom returns E002 if a note does not fit into its memory, or if its author has too many notes in all conversations.
func checkRoom(u *unit.Unit, n parley.Note, has []parley.Note) error {
	if err := n.CheckMemory(has); err != nil || n.Scope == parley.PrivateNote {
		return err
	}
	shared, err := u.Notes().Shared(n.Author)
	if err == nil && shared >= parley.MaxSharedNotes {
		err = parley.Errorf(parley.Unavailable, "%s has %d notes in conversations, the limit is %d", n.Author, shared, parley.MaxSharedNotes).
			Suggest("forget notes that are no longer true")
	}
	return err
}

// noteEvent notes the event of a change of a note. The event does not have the text.
func noteEvent(u *unit.Unit, kind parley.EventKind, n parley.Note) error {
	data, err := json.Marshal(map[string]string{"note": n.ID})
	agent := n.Agent
	if n.Scope == parley.ConversationNote {
		agent = n.Author
	}
	u.Note(parley.Event{Kind: kind, Conversation: n.Conversation, Agent: agent, Data: data})
	return err
}

// Recall returns notes of one memory: the newest, or with a query the ones that match best. Only owners may read the private
// notes of another participant. It returns *parley.Held if the call needs an approval.
func (s *Service) Recall(ctx context.Context, caller unit.Caller, f parley.NoteFilter) (list []parley.Note, err error) {
	if f, err = f.Normal(); err != nil {
		return nil, err
	}
	words := search.WordSet(f.Query)
	err = s.View(ctx, caller, unit.OpRecall, func(u *unit.Unit) (err error) {
		if err := resolve(u, unit.Origin{Caller: caller}, &f); err != nil {
			return err
		}
		if list, err = u.Notes().Of(f.Agent, f.Conversation); f.Query != "" {
			list = best(words, list)
		}
		return err
	})
	if err != nil {
		return nil, holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolMemory, policy.MemoryArgs{Action: policy.Recalls, Filter: &f})
	}
	return list[:min(len(list), unit.Clamp(f.Limit, 20, parley.MaxNotes))], nil
}

// resolve replaces the names in a filter by ids, and checks whether the caller may read the memory.
func resolve(u *unit.Unit, o unit.Origin, f *parley.NoteFilter) error {
	if f.Scope == parley.ConversationNote {
		ref, err := inRun(u, o, f.Conversation)
		if err != nil {
			return err
		}
		p, err := conversations.Conversation(u, ref)
		if err != nil {
			return err
		}
		f.Conversation = p.ID
		return policy.MustRead(u, o, p.ID)
	}
	if f.Agent == "" {
		f.Agent = u.Me.ID
	}
	a, err := agents.Agent(u, f.Agent)
	if err != nil {
		return err
	}
	if f.Agent = a.ID; a.ID != u.Me.ID && !u.SeesAll() {
		return parley.Errorf(parley.NotPermitted, "only %s and owners may read its private notes", a.ID).Suggest("ask %s", a.ID)
	}
	return policy.MustRead(u, o, "")
}

// best returns the notes that have one of the words, the best first.
func best(words map[string]bool, list []parley.Note) (found []parley.Note) {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = n.Text
	}
	for _, i := range search.Relevant(words, texts) {
		found = append(found, list[i])
	}
	return found
}

// Forget erases a note. Its author, the creator of its conversation and owners may call it. It returns *parley.Held if the call needs
// an approval.
func (s *Service) Forget(ctx context.Context, caller unit.Caller, id string) error {
	err := s.Update(ctx, caller, unit.OpForget, func(u *unit.Unit) error {
		return forget(u, unit.Origin{Caller: caller}, &id)
	})
	return holding.HoldIfNeeded(ctx, s.Core, caller, err, policy.ToolMemory, policy.MemoryArgs{Action: policy.Forgets, Note: id})
}

// forget replaces the name of the note by its id.
func forget(u *unit.Unit, o unit.Origin, id *string) error {
	n, err := find(u, *id)
	if err != nil {
		return err
	}
	*id = n.ID
	if err := mayForget(u, n); err != nil {
		return err
	}
	if err := mustHold(u, o, n); err != nil {
		return err
	}
	if err := erase(u, n); err != nil || n.Author == u.Me.ID {
		return err
	}
	return access.Audit(u, "note.forget", n.ID, map[string]any{"author": n.Author, "agent": n.Agent, "conversation": n.Conversation})
}

func erase(u *unit.Unit, n parley.Note) error {
	if err := removeRow(u.Tx, n.ID); err != nil {
		return err
	}
	return noteEvent(u, parley.EventNoteForgotten, n)
}

// EraseOf erases the private notes of a participant that is removed. Its notes in conversations stay, like its messages.
func EraseOf(u *unit.Unit, agent string) error {
	list, err := u.Notes().Of(agent, "")
	for _, n := range list {
		if err == nil {
			err = erase(u, n)
		}
	}
	return err
}

// RedactNote erases the text of a note, and what the approval of the call that wrote it repeats of it. The rest of the note and its digest
// stay. Only owners may redact. A second call changes nothing.
func (s *Service) RedactNote(ctx context.Context, caller unit.Caller, id, reason string) (n parley.Note, err error) {
	if err := parley.CheckReason(reason); err != nil {
		return n, err
	}
	err = s.Update(ctx, caller, unit.OpRedactNote, func(u *unit.Unit) (err error) {
		if n, err = find(u, id); err != nil || n.RedactedAt != nil {
			return err
		}
		if n.Damage != nil {
			return n.Damage
		}
		n = n.Redacted(u.Now)
		if err := redactRow(u.Tx, n); err != nil {
			return err
		}
		if n.Scope == parley.PrivateNote {
			u.Core.Live.ForgetAgent(n.Agent) // its runs in all conversations may have the note
		} else {
			u.Core.Live.Forget(n.Conversation, "")
		}
		if err := noteEvent(u, parley.EventNoteRedacted, n); err != nil {
			return err
		}
		return access.Audit(u, "note.redact", n.ID, map[string]any{"reason": reason, "digest": n.Digest})
	})
	return n, err
}
