package names

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// maxCandidates are the things that an ambiguous piece of an id may mean which the caller is told of.
const maxCandidates = 4

// FindID puts the id of a message, approval or run in place of what the caller has called it: its short name, its number, or a
// beginning or end of its id. An id costs nothing. A name that stands for nothing the caller may see is an unknown one, whether
// or not it exists. E003 if a piece of an id may mean several things that the caller may see.
func (s *Service) FindID(ctx context.Context, caller unit.Caller, do unit.Op, noun parley.Noun, name *string) error {
	ref, ok := parley.ParseRef(noun, *name)
	if !ok || ref.ID != "" || caller.Kind == parley.TokenReply {
		return nil // the use case knows what to say of it
	}
	if err := s.countPiece(ctx, caller, ref); err != nil {
		return err
	}
	return s.View(ctx, caller, do, func(u *unit.Unit) (err error) {
		*name, err = FindID(u, noun, *name)
		return err
	})
}

// countPiece counts a look-up by a piece of an id as a search, since it looks at many ids.
func (s *Service) countPiece(ctx context.Context, caller unit.Caller, ref parley.Ref) error {
	if ref.Piece == "" || caller.InProcess() {
		return nil
	}
	return access.LimitReads(ctx, s.access, caller, unit.Searching)
}

// FindMessages is findID for several messages.
func (s *Service) FindMessages(ctx context.Context, caller unit.Caller, do unit.Op, names []string) ([]string, error) {
	if !slices.ContainsFunc(names, func(name string) bool { return !parley.IsUUID(name) }) || len(names) > deliveries.MostTaken {
		return names, nil
	}
	ids := slices.Clone(names)
	for i := range ids {
		if err := s.FindID(ctx, caller, do, parley.NounMessage, &ids[i]); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// FindID is the id of the message, approval or run that the caller calls by a name.
func FindID(u *unit.Unit, noun parley.Noun, name string) (string, error) {
	ref, ok := parley.ParseRef(noun, name)
	if !ok || ref.ID != "" {
		return name, nil
	}
	if ref.Number > 0 {
		id, err := u.Names().Numbered(noun, ref.Number)
		if err == nil {
			err = mustSee(u, noun, id)
		}
		if _, hidden := errors.AsType[unit.Unknown](err); err == nil || !hidden && !errors.Is(err, parley.ErrNotFound) {
			return id, err
		}
	}
	if ref.Piece == "" {
		return "", unit.Unknown{Noun: string(noun), Name: name}
	}
	return findPiece(u, noun, name, ref.Piece)
}

func findPiece(u *unit.Unit, noun parley.Noun, name string, p parley.IDPiece) (string, error) {
	reader, err := idReader(u)
	if err != nil {
		return "", err
	}
	found, err := u.Names().Like(noun, p, reader, maxCandidates+1)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", unit.Unknown{Noun: string(noun), Name: name}
	case len(found) > 1:
		return "", ambiguousError(noun, name, found)
	}
	return found[0].ID, nil
}

// mustSee refuses what the caller does not see as if it were not there.
func mustSee(u *unit.Unit, noun parley.Noun, id string) (err error) {
	switch noun {
	case parley.NounRun:
		_, err = runs.ManagedRun(u, id)
	case parley.NounApproval:
		_, err = approvals.Approval(u, id)
	default:
		_, _, err = conversations.Message(u, id)
		if _, hidden := errors.AsType[unit.Unknown](err); !hidden {
			return err
		}
		if _, own := u.Deliveries().Get(id, u.Me.ID); own == nil { // it has left the conversation since
			return nil
		}
	}
	return err
}

// idReader is the caller as one who looks ids up.
func idReader(u *unit.Unit) (reader storage.IDReader, err error) {
	if u.SeesAll() {
		return reader, nil
	}
	reader.ID = u.Me.ID
	all, err := u.Agents().List()
	for _, a := range all {
		if a.Manager == u.Me.ID {
			reader.Reports = append(reader.Reports, a.ID)
		}
	}
	return reader, err
}

// ambiguousError names what a piece of an id may mean.
func ambiguousError(noun parley.Noun, name string, found []storage.NamedID) error {
	slices.SortFunc(found, func(a, b storage.NamedID) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.ID, b.ID))
	})
	var candidates []string
	for _, one := range found[:min(len(found), maxCandidates)] {
		if one.Number > 0 {
			candidates = append(candidates, noun.ShortName(one.Number))
		} else {
			candidates = append(candidates, one.ID)
		}
	}
	list := strings.Join(candidates, ", ")
	if len(found) > maxCandidates {
		list += " and others"
	}
	return parley.Errorf(parley.BadInput, "%q may be several %ss: %s", unit.Shortened(name), noun, list).
		Because(parley.Conflict).Suggest("use one of these names, or give more of the id")
}

// FindNeeded puts the ids of messages in place of what the caller has called them in a list of what a task depends on. Tasks
// stay as they are named.
func (s *Service) FindNeeded(ctx context.Context, caller unit.Caller, do unit.Op, refs []string) ([]string, error) {
	if !slices.ContainsFunc(refs, NamesMessage) {
		return refs, nil
	}
	refs = slices.Clone(refs)
	for i := range refs {
		if !NamesMessage(refs[i]) {
			continue
		}
		if err := s.FindID(ctx, caller, do, parley.NounMessage, &refs[i]); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// NamesMessage says whether a name that may be a task's or a message's is a message's: a number alone is a task.
func NamesMessage(name string) bool {
	ref, ok := parley.ParseRef(parley.NounMessage, name)
	return ok && strings.Trim(name, "0123456789") != "" && (ref.Number > 0 || ref.Piece != "")
}

// TraceOfWork is the trace of a run, approval or task that the caller calls by its short name, or nothing.
func TraceOfWork(u *unit.Unit, name string) (trace string, err error) {
	noun, _, ok := parley.ParseShortName(name)
	if !ok {
		return "", nil
	}
	switch noun {
	case parley.NounTask:
		var t parley.Task
		t, err = tasks.Task(u, name)
		trace = t.TraceID
	case parley.NounRun, parley.NounApproval:
		trace, err = traceOfNumbered(u, noun, name)
	}
	if _, hidden := errors.AsType[unit.Unknown](err); hidden {
		return "", nil
	}
	return trace, err
}

func traceOfNumbered(u *unit.Unit, noun parley.Noun, name string) (string, error) {
	id, err := FindID(u, noun, name)
	if err != nil {
		return "", err
	}
	if noun == parley.NounRun {
		r, err := runs.ManagedRun(u, id)
		return r.TraceID, err
	}
	a, err := approvals.Approval(u, id)
	return a.TraceID, err
}

// pieceHint says how to find what the caller may have meant by a name.
func pieceHint(u unit.Unknown) string {
	hint := "list what there is, and check the name"
	if ref, ok := parley.ParseRef(parley.Noun(u.Noun), u.Name); ok && ref.Piece != "" && hasPieces[parley.Noun(u.Noun)] {
		hint += fmt.Sprintf("; an end of an id is looked for among the newest %d", storage.IDsLookedAt)
	}
	return hint
}

// hasPieces are the nouns that are found by a piece of an id.
var hasPieces = map[parley.Noun]bool{parley.NounMessage: true, parley.NounApproval: true, parley.NounRun: true}
