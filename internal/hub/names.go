package hub

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// candidatesShown are the things that an ambiguous piece of an id may mean which the caller is told of.
const candidatesShown = 4

// findID puts the id of a message, approval or run in place of what the caller has called it: its short name, its number, or a
// beginning or end of its id. An id costs nothing. A name that stands for nothing the caller may see is an unknown one, whether
// or not it exists. E003 if a piece of an id may mean several things that the caller may see.
func (h *Hub) findID(ctx context.Context, caller Caller, do op, noun parley.Noun, name *string) error {
	ref, ok := parley.ParseRef(noun, *name)
	if !ok || ref.ID != "" || caller.Kind == parley.TokenReply {
		return nil // the use case knows what to say of it
	}
	if err := h.countPiece(ctx, caller, ref); err != nil {
		return err
	}
	return h.view(ctx, caller, do, func(s *scene) (err error) {
		*name, err = s.findID(noun, *name)
		return err
	})
}

// countPiece counts a look-up by a piece of an id as a search, since it looks at many ids.
func (h *Hub) countPiece(ctx context.Context, caller Caller, ref parley.Ref) error {
	if ref.Piece == "" || caller.inProcess() {
		return nil
	}
	return h.limitReads(ctx, caller, Searching)
}

// findMessages is findID for several messages.
func (h *Hub) findMessages(ctx context.Context, caller Caller, do op, names []string) ([]string, error) {
	if !slices.ContainsFunc(names, func(name string) bool { return !parley.IsUUID(name) }) || len(names) > mostTaken {
		return names, nil
	}
	ids := slices.Clone(names)
	for i := range ids {
		if err := h.findID(ctx, caller, do, parley.NounMessage, &ids[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// findID is the id of the message, approval or run that the caller calls by a name.
func (s *scene) findID(noun parley.Noun, name string) (string, error) {
	ref, ok := parley.ParseRef(noun, name)
	if !ok || ref.ID != "" {
		return name, nil
	}
	if ref.Number > 0 {
		id, err := s.Names().Numbered(noun, ref.Number)
		if err == nil {
			err = s.mustSee(noun, id)
		}
		if _, hidden := errors.AsType[unknown](err); err == nil || !hidden && !errors.Is(err, parley.ErrNotFound) {
			return id, err
		}
	}
	if ref.Piece == "" {
		return "", unknown{string(noun), name}
	}
	return s.findPiece(noun, name, ref.Piece)
}

func (s *scene) findPiece(noun parley.Noun, name string, p parley.IDPiece) (string, error) {
	reader, err := s.idReader()
	if err != nil {
		return "", err
	}
	found, err := s.Names().Like(noun, p, reader, candidatesShown+1)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", unknown{string(noun), name}
	case len(found) > 1:
		return "", ambiguous(noun, name, found)
	}
	return found[0].ID, nil
}

// mustSee refuses what the caller does not see as if it were not there.
func (s *scene) mustSee(noun parley.Noun, id string) (err error) {
	switch noun {
	case parley.NounRun:
		_, err = s.managedRun(id)
	case parley.NounApproval:
		_, err = s.approval(id)
	default:
		_, _, err = s.message(id)
		if _, hidden := errors.AsType[unknown](err); !hidden {
			return err
		}
		if _, own := s.Deliveries().Get(id, s.me.ID); own == nil { // it has left the conversation since
			return nil
		}
	}
	return err
}

// idReader is the caller as one who looks ids up.
func (s *scene) idReader() (reader parley.IDReader, err error) {
	if s.seesAll() {
		return reader, nil
	}
	reader.ID = s.me.ID
	all, err := s.Agents().List()
	for _, a := range all {
		if a.Manager == s.me.ID {
			reader.Reports = append(reader.Reports, a.ID)
		}
	}
	return reader, err
}

// ambiguous names what a piece of an id may mean.
func ambiguous(noun parley.Noun, name string, found []parley.NamedID) error {
	slices.SortFunc(found, func(a, b parley.NamedID) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID)) })
	var candidates []string
	for _, one := range found[:min(len(found), candidatesShown)] {
		if one.Number > 0 {
			candidates = append(candidates, noun.ShortName(one.Number))
		} else {
			candidates = append(candidates, one.ID)
		}
	}
	list := strings.Join(candidates, ", ")
	if len(found) > candidatesShown {
		list += " and others"
	}
	return parley.Errorf(parley.BadInput, "%q may be several %ss: %s", shortened(name), noun, list).
		Because(parley.Conflict).Suggest("use one of these names, or give more of the id")
}

// findNeeded puts the ids of messages in place of what the caller has called them in a list of what a task depends on. Tasks
// stay as they are named.
func (h *Hub) findNeeded(ctx context.Context, caller Caller, do op, refs []string) ([]string, error) {
	if !slices.ContainsFunc(refs, namesMessage) {
		return refs, nil
	}
	refs = slices.Clone(refs)
	for i := range refs {
		if !namesMessage(refs[i]) {
			continue
		}
		if err := h.findID(ctx, caller, do, parley.NounMessage, &refs[i]); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// namesMessage says whether a name that may be a task's or a message's is a message's: a number alone is a task.
func namesMessage(name string) bool {
	ref, ok := parley.ParseRef(parley.NounMessage, name)
	return ok && strings.Trim(name, "0123456789") != "" && (ref.Number > 0 || ref.Piece != "")
}

// traceOfWork is the trace of a run, approval or task that the caller calls by its short name, or nothing.
func (s *scene) traceOfWork(name string) (trace string, err error) {
	noun, _, ok := parley.ParseShortName(name)
	if !ok {
		return "", nil
	}
	switch noun {
	case parley.NounTask:
		var t parley.Task
		t, err = s.task(name)
		trace = t.TraceID
	case parley.NounRun, parley.NounApproval:
		trace, err = s.traceOfNumbered(noun, name)
	}
	if _, hidden := errors.AsType[unknown](err); hidden {
		return "", nil
	}
	return trace, err
}

func (s *scene) traceOfNumbered(noun parley.Noun, name string) (string, error) {
	id, err := s.findID(noun, name)
	if err != nil {
		return "", err
	}
	if noun == parley.NounRun {
		r, err := s.managedRun(id)
		return r.TraceID, err
	}
	a, err := s.approval(id)
	return a.TraceID, err
}

// otherwiseNamed says how to find what the caller may have meant by a name.
func otherwiseNamed(u unknown) string {
	hint := "list what there is, and check the name"
	if ref, ok := parley.ParseRef(parley.Noun(u.noun), u.name); ok && ref.Piece != "" && hasPieces[parley.Noun(u.noun)] {
		hint += fmt.Sprintf("; an end of an id is looked for among the newest %d", parley.IDsLookedAt)
	}
	return hint
}

// hasPieces are the nouns that are found by a piece of an id.
var hasPieces = map[parley.Noun]bool{parley.NounMessage: true, parley.NounApproval: true, parley.NounRun: true}
