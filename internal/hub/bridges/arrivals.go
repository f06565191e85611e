package bridges

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/arrivals"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	documentsPerCall   = 1000 // documents in one call at most
	documentsPerUpdate = 25   // in one update; other writers wait for it
)

// Unknown returns the files that have not arrived and that the hub did not write.
func (b bridgeAPI) Unknown(ctx context.Context, id string, files []parley.BridgeFile) (list []parley.BridgeFile, err error) {
	err = b.hub.View(ctx, b.caller, unit.OpUnknownFiles, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return err
		}
		list, err = unknownFiles(u, bridge, files)
		return err
	})
	return list, err
}

func unknownFiles(u *unit.Unit, b parley.Bridge, files []parley.BridgeFile) (list []parley.BridgeFile, err error) {
	askable := slices.DeleteFunc(slices.Clone(files), func(f parley.BridgeFile) bool { return !trees.IsStorable(f.Path, f.Digest) })
	known, err := u.Bridges().KnownFiles(b.ID, askable)
	if err != nil {
		return nil, err
	}
	have := map[parley.BridgeFile]bool{}
	for _, f := range known {
		have[f] = true
	}
	for _, f := range files {
		if have[f] {
			continue
		}
		own, of, err := departures.FindOwn(u, b, trees.FolderOf(f.Path), strings.TrimSuffix(path.Base(f.Path), ".json"))
		if err != nil {
			return nil, err
		}
		if !own || of.ID != "" { // else who wrote it has to be looked at
			list = append(list, f)
		}
	}
	return list, nil
}

// Arrive stores documents in their order, each once, and returns what became of each. There is no rate limit, because the
// directory is the queue.
func (b bridgeAPI) Arrive(ctx context.Context, id string, list []parley.Arrival) ([]parley.Arrived, error) {
	bridge, err := b.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(list) > documentsPerCall {
		return nil, parley.Errorf(parley.BadInput, "%d documents arrive at once, the limit is %d", len(list), documentsPerCall).
			Because(parley.TooLarge).Suggest("send them in several calls")
	}
	documents := make([]*arrivals.Document, len(list))
	for i, a := range list {
		documents[i] = arrivals.Prepare(b.hub.Core, bridge, a)
	}
	done := make([]parley.Arrived, 0, len(list))
	full := map[string]*parley.Error{}
	for part := range slices.Chunk(documents, documentsPerUpdate) {
		stored, err := b.storeDocuments(ctx, id, part, full)
		if done = append(done, stored...); err != nil {
			return done, err
		}
	}
	return done, nil
}

// storeDocuments stores documents in one update if it can, else in one update each. Documents for an inbox that is full stay
// behind the first refused one. Documents that the bridge has refused do not: their senders are told.
func (b bridgeAPI) storeDocuments(ctx context.Context, id string, documents []*arrivals.Document, full map[string]*parley.Error) ([]parley.Arrived, error) {
	if len(documents) > 1 && len(full) == 0 {
		if done, err := b.storeTogether(ctx, id, documents); err == nil {
			return done, nil
		}
	}
	done := make([]parley.Arrived, 0, len(documents))
	for _, document := range documents {
		if why := full[document.Folder()]; why != nil && document.Refused == nil {
			done = append(done, parley.Arrived{Error: why})
			continue
		}
		one, err := b.storeOne(ctx, id, document)
		if err != nil {
			return done, err
		}
		if one.Error != nil && one.Error.Code == parley.Unavailable && document.Channel == "" {
			full[document.Folder()] = one.Error
		}
		done = append(done, one)
	}
	return done, nil
}

// storeTogether stores documents in one update, or none of them.
func (b bridgeAPI) storeTogether(ctx context.Context, id string, documents []*arrivals.Document) (done []parley.Arrived, err error) {
	began := time.Now()
	err = b.hub.Write(ctx, b.caller, unit.OpArrive, func(u *unit.Unit) error {
		done = done[:0]
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return err
		}
		in := arrivals.NewWriter(u, bridge)
		for _, document := range documents {
			if !document.IsStorable() {
				return errNotKeepable()
			}
			one, err := in.Store(document)
			if err != nil {
				return err
			}
			done = append(done, one)
		}
		return in.History.RestoreConversations()
	})
	b.observeWrites(began, err, done...)
	return done, err
}

// storeOne stores one document, or records that it was refused for good.
func (b bridgeAPI) storeOne(ctx context.Context, id string, document *arrivals.Document) (one parley.Arrived, err error) {
	if !document.IsStorable() {
		return parley.Arrived{Error: errNotKeepable()}, nil
	}
	began, begun := time.Now(), false // else the bridge itself is not there, or not the caller's
	err = b.hub.Write(ctx, b.caller, unit.OpArrive, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if begun = err == nil; !begun {
			return err
		}
		in := arrivals.NewWriter(u, bridge)
		if one, err = in.Store(document); err != nil {
			return err
		}
		return in.History.RestoreConversations()
	})
	b.observeWrites(began, err, one)
	if err == nil || !begun {
		return one, err
	}
	if why, held := errors.AsType[unit.HeldBy](err); held {
		return b.holdForApproval(ctx, id, document, why)
	}
	return b.refuse(ctx, id, document, parley.AsError(err))
}

// observeWrites measures how long it took to store new documents.
func (b bridgeAPI) observeWrites(began time.Time, err error, done ...parley.Arrived) {
	for _, one := range done {
		if err == nil && one.Message != "" && !one.Duplicate {
			b.hub.ObserveWrite(began)
		}
	}
}

func errNotKeepable() *parley.Error {
	return parley.Errorf(parley.BadInput, "the path, the id or the sender is too long, or is not valid text").
		Suggest("use ids of a few letters and digits")
}

// refuse returns why a document was not stored. A temporary refusal is not recorded, so the bridge retries it.
func (b bridgeAPI) refuse(ctx context.Context, id string, document *arrivals.Document, why *parley.Error) (parley.Arrived, error) {
	switch {
	case why.Code == parley.Internal, why.Code == parley.TimedOut, why.Reason == parley.StorageFull:
		return parley.Arrived{}, why // the hub's own trouble
	case why.Code == parley.Unavailable && why.Reason != parley.Gone && !errors.Is(why, trees.ErrNoInbox):
		return parley.Arrived{Error: why}, nil
	case why.Code != parley.NotPermitted: // what has failed, or is removed, stays so
		forGood := *why
		forGood.Code = parley.BadInput
		why = &forGood
	}
	return parley.Arrived{Error: why}, b.record(ctx, id, func(u *unit.Unit, in parley.Bridge) error { return arrivals.RecordRefusal(u, in, document, why) })
}

// record records what became of a document without a message, so that the bridge does not retry it.
func (b bridgeAPI) record(ctx context.Context, id string, keep func(*unit.Unit, parley.Bridge) error) error {
	return b.hub.Write(ctx, b.caller, unit.OpArrive, func(u *unit.Unit) error {
		bridge, err := trees.Bridge(u, id)
		if err != nil {
			return err
		}
		return keep(u, bridge)
	})
}

// holdForApproval requests an approval for a document that the sender may not post by itself. The document counts as
// arrived; it is posted once it is approved.
func (b bridgeAPI) holdForApproval(ctx context.Context, id string, document *arrivals.Document, why unit.HeldBy) (parley.Arrived, error) {
	if document.To == parley.All && document.Channel == "" {
		refusal := parley.Errorf(parley.NotPermitted, "%s needs an approval to write to everybody", document.From).
			Suggest("write to each agent separately, or ask an owner of this hub to change the mode of %s", document.From)
		return b.refuse(ctx, id, document, refusal)
	}
	draft := document.Posting.Draft
	if why.Draft != nil {
		draft = *why.Draft
	}
	if document.Channel != "" {
		var err error
		if draft.Conversation, draft.Make, err = b.channelOf(ctx, document); err != nil {
			return parley.Arrived{}, err
		}
	}
	why.Draft = nil
	err := holding.HoldIfNeeded(ctx, b.hub.Core, unit.Caller{Agent: document.From, Source: unit.SourceFile, By: b.caller.Agent}, why, policy.PostTool(draft), policy.HeldPost{Draft: draft, Bridge: id, Document: document.Name})
	held, waits := errors.AsType[*parley.Held](err)
	if !waits {
		return b.refuse(ctx, id, document, parley.AsError(err))
	}
	note := "it waits for an approval: " + held.Approval.ShortName()
	return parley.Arrived{Notices: []string{note}}, b.record(ctx, id, func(u *unit.Unit, in parley.Bridge) error {
		return arrivals.RecordHeld(u, in, document, held.Approval)
	})
}

// channelOf returns the id of the channel of a document, or the name of one that an approval will create.
func (b bridgeAPI) channelOf(ctx context.Context, document *arrivals.Document) (ref string, missing bool, err error) {
	ref = document.Channel
	err = b.hub.View(ctx, b.caller, unit.OpArrive, func(u *unit.Unit) error {
		c, err := u.Conversations().Find(document.Channel)
		if missing = errors.Is(err, parley.ErrNotFound); missing {
			return nil
		}
		ref = c.ID
		return err
	})
	return ref, missing, err
}
