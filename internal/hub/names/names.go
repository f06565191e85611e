// Package names holds short names and pieces of ids: what a name stands for, and what could have been meant by a wrong one.
package names

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
}

// New makes the use cases from the core of a hub and from the use cases of other packages.
func New(core *unit.Core, access *access.Service) *Service {
	return &Service{Core: core, access: access}
}

// maxCandidates is how many matches of an ambiguous piece of an id the error names.
const maxCandidates = 4

// FindID replaces the name of a message, approval or run by its id. The name may be a short name, a number, or the beginning or end of
// an id. An id passes unchanged, without a transaction. A name of something that the caller may not see is unknown. E003 if a piece of
// an id matches several things that the caller may see.
func (s *Service) FindID(ctx context.Context, caller unit.Caller, do unit.Op, noun parley.Noun, name *string) error {
	ref, ok := parley.ParseRef(noun, *name)
	if !ok || ref.ID != "" || caller.Kind == parley.TokenReply {
		return nil // the use case reports what is wrong with it
	}
	if err := s.countPiece(ctx, caller, ref); err != nil {
		return err
	}
	return s.View(ctx, caller, do, func(u *unit.Unit) (err error) {
		*name, err = FindID(u, noun, *name)
		return err
	})
}

// countPiece counts a look-up by a piece of an id as a search, because it reads many ids.
func (s *Service) countPiece(ctx context.Context, caller unit.Caller, ref parley.Ref) error {
	if ref.Piece == "" || caller.InProcess() {
		return nil
	}
	return access.LimitReads(ctx, s.access, caller, unit.Searching)
}

// FindMessages replaces the names of several messages by their ids. See FindID.
func (s *Service) FindMessages(ctx context.Context, caller unit.Caller, do unit.Op, names []string) ([]string, error) {
	if !slices.ContainsFunc(names, func(name string) bool { return !parley.IsUUID(name) }) || len(names) > deliveries.MaxTaken {
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

// FindID is Service.FindID within a transaction. It returns a name that cannot be parsed unchanged.
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

// findPiece returns the id that a piece of an id stands for.
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

// mustSee returns an unknown error for something that the caller may not see.
func mustSee(u *unit.Unit, noun parley.Noun, id string) (err error) {
	switch noun {
	case parley.NounRun:
		_, err = runs.ManagedRun(u, id)
	case parley.NounApproval:
		_, err = approvals.Find(u, id)
	default:
		_, _, err = conversations.Message(u, id)
		if _, hidden := errors.AsType[unit.Unknown](err); !hidden {
			return err
		}
		if _, own := u.Deliveries().Get(id, u.Me.ID); own == nil { // the caller got it, and left the conversation later
			return nil
		}
	}
	return err
}

// idReader returns the caller with its reports, as the store needs them to look up ids.
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

// ambiguousError names the matches of an ambiguous piece of an id.
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
	return parley.Errorf(parley.BadInput, "%q matches several %ss: %s", unit.Shortened(name), noun, list).
		Because(parley.Conflict).Suggest("use one of these names, or write more characters of the id")
}

// FindNeeded replaces the names of messages by their ids in the list of what a task depends on. Tasks keep their names.
func (s *Service) FindNeeded(ctx context.Context, caller unit.Caller, do unit.Op, refs []string) ([]string, error) {
	if !slices.ContainsFunc(refs, IsMessageName) {
		return refs, nil
	}
	refs = slices.Clone(refs)
	for i := range refs {
		if !IsMessageName(refs[i]) {
			continue
		}
		if err := s.FindID(ctx, caller, do, parley.NounMessage, &refs[i]); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// IsMessageName reports whether the name of a task or message is that of a message. A mere number is a task.
func IsMessageName(name string) bool {
	ref, ok := parley.ParseRef(parley.NounMessage, name)
	return ok && strings.Trim(name, "0123456789") != "" && (ref.Number > 0 || ref.Piece != "")
}

// TraceOfWork returns the trace of the run, approval or task with this short name. It returns nothing if the name is no such short
// name, or unknown to the caller.
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

// traceOfNumbered returns the trace of a run or approval with this short name.
func traceOfNumbered(u *unit.Unit, noun parley.Noun, name string) (string, error) {
	id, err := FindID(u, noun, name)
	if err != nil {
		return "", err
	}
	if noun == parley.NounRun {
		r, err := runs.ManagedRun(u, id)
		return r.TraceID, err
	}
	a, err := approvals.Find(u, id)
	return a.TraceID, err
}

// pieceHint returns the hint for an unknown name of a message, approval or run.
func pieceHint(u unit.Unknown) string {
	hint := "check the name"
	if ref, ok := parley.ParseRef(parley.Noun(u.Noun), u.Name); ok && ref.Piece != "" && hasPieces[parley.Noun(u.Noun)] {
		hint += fmt.Sprintf("; the hub looks for the end of an id among the newest %d", storage.IDsLookedAt)
	}
	return hint
}

// hasPieces has the nouns that can be found by a piece of an id.
var hasPieces = map[parley.Noun]bool{parley.NounMessage: true, parley.NounApproval: true, parley.NounRun: true}

// maxUnindexed is how many messages that the search index does not have yet the hub searches for a trace. While more are missing, only
// an owner joins a trace by naming it.
const maxUnindexed = 1000

// JoinableTrace returns the trace that the caller names, or nothing if the caller may not join it. A caller may join a trace if it may
// read one of its messages, or is an owner; knowing the id is not enough. An id that no message has is a new trace of the caller. own
// is the trace that the caller is already in.
func JoinableTrace(u *unit.Unit, trace, own string) (string, error) {
	if trace == "" || u.SeesAll() || own != "" && parley.TraceKey(trace) == parley.TraceKey(own) {
		return trace, nil
	}
	takesPart, others, err := mayReadTrace(u, trace)
	if err != nil || others && !takesPart {
		return "", err
	}
	return trace, nil
}

// mayReadTrace reports whether the caller may read a message of a trace, and whether the trace has messages that the caller may not
// read.
func mayReadTrace(u *unit.Unit, trace string) (takesPart, others bool, err error) {
	list, cut, err := conversationsInTrace(u, trace)
	for _, conversation := range list {
		if err != nil || takesPart {
			break
		}
		_, err = conversations.Conversation(u, conversation)
		if _, hidden := errors.AsType[unit.Unknown](err); hidden {
			others, err = true, nil
			continue
		}
		takesPart = err == nil
	}
	return takesPart, others || cut, err
}

// conversationsInTrace returns conversations with messages of a trace: that of the message whose id is the trace, that of one indexed
// message the caller may read, that of any other indexed message, and those of messages that the index does not have yet. cut is true
// if there are too many of the last. It reads no message texts, because other writers wait meanwhile.
func conversationsInTrace(u *unit.Unit, trace string) (list []string, cut bool, err error) {
	first, err := u.Messages().Get(uuid.UUID(parley.TraceBytes(trace)).String())
	if err == nil {
		list = append(list, first.Conversation)
	} else if !errors.Is(err, parley.ErrNotFound) {
		return nil, false, err
	}
	for _, reader := range []string{u.Me.ID, ""} {
		found, err := u.Search().Match(storage.SearchQuery{Trace: trace, Reader: reader, Limit: 1})
		if err != nil {
			return nil, false, err
		}
		for _, m := range found.Messages {
			list = append(list, m.Conversation)
		}
	}
	mark, err := u.Search().Mark()
	if err != nil {
		return nil, false, err
	}
	rest, cut, err := u.Messages().InTrace(trace, mark.Seq, maxUnindexed)
	return append(list, rest...), cut, err
}
