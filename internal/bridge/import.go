package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

const (
	batch      = 100     // documents in one call to the hub
	batchBytes = 1 << 20 // total size of these documents, without the last one
	roundBytes = 8 << 20 // size of the documents of all folders in memory
)

// document is a document that the bridge has read and not yet sent to the hub.
type document struct {
	queue   *importQueue
	item    item
	file    file
	arrival parley.Arrival
}

// importRound imports a batch from each folder with new files, so that a large folder does not delay the others. It reports
// whether more documents are pending.
func (e *engine) importRound(ctx context.Context) (more bool, err error) {
	docs, err := e.gather(ctx)
	if err != nil {
		e.putBack(docs)
		return false, err
	}
	slices.SortStableFunc(docs, inOrder)
	later, err := e.sendDocuments(ctx, docs)
	e.putBack(later)
	if err != nil {
		return false, err
	}
	for _, q := range e.queues {
		more = more || q.pending() > 0 && !q.blocked
	}
	return more && ctx.Err() == nil, ctx.Err()
}

// sendDocuments sends documents to the hub in batches and returns those that must wait, in their order.
func (e *engine) sendDocuments(ctx context.Context, docs []document) (later []document, err error) {
	for len(docs) > 0 {
		n := batchLength(docs)
		postponed, err := e.sendBatch(ctx, docs[:n])
		if err != nil {
			return append(later, docs...), err
		}
		later = append(later, postponed...)
		docs = docs[n:]
		for _, d := range docs {
			if d.queue.blocked {
				later = append(later, d)
			}
		}
		docs = slices.DeleteFunc(docs, func(d document) bool { return d.queue.blocked })
	}
	return later, nil
}

// inOrder compares documents by their times. It does not order documents of folders that are read in the order of names.
func inOrder(a, b document) int {
	if a.queue.byName || b.queue.byName {
		return 0
	}
	return cmp.Or(a.item.at.Compare(b.item.at), cmp.Compare(a.item.name, b.item.name))
}

// gather reads a batch from each folder, up to a total size. Folders that were not read come first in the next round.
func (e *engine) gather(ctx context.Context) ([]document, error) {
	var docs []document
	var bytesRead int64
	for i, at := range e.nextQueues {
		q := e.queues[at]
		if q.blocked {
			continue
		}
		some, err := e.gatherFrom(ctx, q)
		docs = append(docs, some...)
		if err != nil {
			return docs, err
		}
		for _, d := range some {
			bytesRead += d.file.size
		}
		if bytesRead > roundBytes {
			e.nextQueues = slices.Concat(e.nextQueues[i+1:], e.nextQueues[:i+1])
			break
		}
	}
	return docs, nil
}

func (e *engine) gatherFrom(ctx context.Context, q *importQueue) (docs []document, err error) {
	if !q.listAgain && q.pending() == 0 {
		return nil, nil
	}
	var hubErr error
	treeErr := e.inFolder(q, func(f *folder) error {
		if q.listAgain && q.pending() == 0 {
			e.status.setProblem(q.path, nil)
			if err := q.list(f); err != nil {
				return err
			}
		}
		if hubErr = e.advance(ctx, q, f); hubErr != nil {
			return nil
		}
		var bytesRead int64
		for n := 0; n < batch && len(q.next) > 0 && bytesRead < batchBytes; n++ {
			i := q.next[0]
			q.next = q.next[1:]
			if d, ok := e.readDocument(f, q, i); ok {
				docs, bytesRead = append(docs, d), bytesRead+d.file.size
			}
		}
		return nil
	})
	if treeErr != nil {
		e.status.setProblem(q.path, treeErr)
	}
	if len(docs) == 0 || hubErr != nil || q.fixed || q.consume {
		return docs, hubErr
	}
	return e.dropKnown(ctx, q, docs)
}

// dropKnown drops documents that the hub already has.
func (e *engine) dropKnown(ctx context.Context, q *importQueue, docs []document) ([]document, error) {
	var files []parley.BridgeFile
	for _, d := range docs {
		files = append(files, d.arrival.BridgeFile)
	}
	unknown, err := e.hub.Unknown(ctx, e.id, files)
	if err != nil {
		return docs, err
	}
	var left []document
	for _, d := range docs {
		if slices.Contains(unknown, d.arrival.BridgeFile) {
			left = append(left, d)
		} else {
			q.markDone(d.file)
		}
	}
	return left, nil
}

// readDocument reads one file. It handles refused, expired, removed and unfinished files itself, and returns false for them.
func (e *engine) readDocument(f *folder, q *importQueue, i item) (document, bool) {
	var found file
	err := checkPlain(i.name)
	if err == nil {
		found, err = f.read(i.name, q.limit)
	} else {
		found = f.describe(i.name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errReplaced):
		return document{}, false
	case refusalOf(err) != nil:
		return e.refuseDocument(q, i, found, refusalOf(err))
	case err != nil:
		e.status.setProblem(q.path, err)
		return document{}, false
	}
	return e.decodeDocument(q, i, found)
}

// decodeDocument decodes a file. It returns false for a file that it has refused, settled or left for later.
func (e *engine) decodeDocument(q *importQueue, i item, found file) (document, bool) {
	if cause := q.unreportedRefusal(found); cause != nil {
		e.refuseFile(q, found, cause)
		return document{}, false
	}
	a, err := dialect.Decode(e.dialect, found.raw)
	if err != nil && !json.Valid(found.raw) && e.mayBeUnfinished(q, found) {
		return document{}, false
	}
	if err == nil {
		a.BridgeFile = parley.BridgeFile{Path: found.path}
		if !q.fixed {
			a.Digest = found.digest
		}
		err = e.layout.complete(q.inlet, found, &a)
	}
	switch {
	case refusalOf(err) != nil:
		return e.refuseDocument(q, i, found, refusalOf(err))
	case err != nil:
		e.status.setProblem(q.path, err)
		return document{}, false
	case !a.ExpiresAt.IsZero() && a.ExpiresAt.Before(e.now()):
		e.settle(q, found, expired)
		return document{}, false
	}
	return document{q, i, found, a}, true
}

// mayBeUnfinished reports whether a script may still be writing a file that cannot be parsed.
func (e *engine) mayBeUnfinished(q *importQueue, f file) bool {
	before, seen := q.partial[f.name]
	if !seen || before.size != f.size || !before.mtime.Equal(f.mtime) {
		q.partial[f.name] = unparsed{f.size, f.mtime, e.now()}
		return true
	}
	return e.now().Sub(before.since) < unfinishedFor
}

// batchLength returns how many of the documents to send at once.
func batchLength(docs []document) int {
	n, bytesRead := 0, int64(0)
	for n < len(docs) && n < batch && bytesRead < batchBytes {
		bytesRead += docs[n].file.size
		n++
	}
	return n
}

// sendBatch sends documents to the hub, applies the results, and returns the documents that must wait.
func (e *engine) sendBatch(ctx context.Context, docs []document) (later []document, err error) {
	list := make([]parley.Arrival, len(docs))
	for i, d := range docs {
		list[i] = d.arrival
	}
	results, err := e.hub.Arrive(ctx, e.id, list)
	if err != nil {
		return nil, err
	}
	if len(results) != len(docs) {
		return nil, parley.Errorf(parley.Internal, "the hub got %d documents and returned %d results", len(docs), len(results))
	}
	for i, d := range docs {
		if !e.applyResult(d, results[i]) {
			later = append(later, d)
		}
	}
	return later, nil
}

// applyResult applies the hub's result for one document. It returns false if the document must wait, together with the documents
// behind it in its inbox.
func (e *engine) applyResult(d document, r parley.Arrived) bool {
	switch {
	case d.arrival.Refused != nil:
		e.refuseFile(d.queue, d.file, d.arrival.Refused)
	case r.Error == nil && r.Duplicate && r.Message == "" && d.queue.consume:
		e.refuseFile(d.queue, d.file, arrivedWithoutMessage())
	case r.Error == nil:
		if r.Duplicate {
			e.warn(d, r.Notices)
		} else {
			e.status.imported.Add(1)
			e.warn(d, slices.Concat(d.arrival.Warnings, r.Notices))
		}
		e.settle(d.queue, d.file, arrived)
	case refusalOf(r.Error) != nil:
		e.refuseFile(d.queue, d.file, r.Error)
	default:
		e.status.setProblem(d.queue.path, r.Error)
		d.queue.blocked = d.queue.consume
		return !d.queue.consume
	}
	return true
}

// arrivedWithoutMessage returns the refusal of a document that arrived before a bridge was killed, which has no message.
func arrivedWithoutMessage() *parley.Error {
	return parley.Errorf(parley.BadInput, "the document arrived before, but the hub has no message for it").
		Suggest("see the log of the hub, and write it again under another name")
}

func (e *engine) warn(d document, notices []string) {
	for _, w := range notices {
		e.logf("WARN: %s: %s", d.file.path, w)
	}
}

// putBack returns documents to the heads of their queues.
func (e *engine) putBack(docs []document) {
	for _, d := range slices.Backward(docs) {
		d.queue.putBack(d.item)
	}
}

// settle lets the layout handle a file that needs nothing more from the hub. A later poll retries what fails.
func (e *engine) settle(q *importQueue, f file, o outcome) {
	err := e.layout.settle(q.inlet, f, o)
	switch {
	case err == nil:
		q.markDone(f)
	case !errors.Is(err, errReplaced): // the replacement has not arrived yet
		e.status.setProblem(q.path, err)
	}
}
