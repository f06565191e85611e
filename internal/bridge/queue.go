package bridge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

const (
	askedAtOnce   = 500             // files that the hub is asked about at a time
	unfinishedFor = 5 * time.Second // for how long a file that cannot be parsed must be the same
)

// queue is an inlet with what is known of its files. Of a large folder it keeps only the names.
type queue struct {
	inlet
	listAgain  bool                         // it is to be listed again
	blocked    bool                         // the hub has no room for the next one: nothing is read until the next poll
	known      map[mark]struct{}            // what was dealt with and is still there
	found      []string                     // names that may be new, to be asked for and put in order
	ordered    []item                       // of these, until all have their place
	next       []item                       // new, in order
	partial    map[string]unparsed          // what cannot be parsed, perhaps because it is still being written
	refused    map[string]mark              // what was refused and may be mended: its name alone does not tell
	unreported map[string]unreportedRefusal // what was refused, and no reason could be kept for it yet
}

// unreportedRefusal is why a file was refused. The hub says it only once.
type unreportedRefusal struct {
	of  mark
	why *parley.Error
}

// item is a file whose place in the order is known.
type item struct {
	name string
	at   time.Time
}

// unparsed is how a file was when it could first not be parsed.
type unparsed struct {
	size  int64
	mtime time.Time
	since time.Time
}

// mark is what a file is known again by.
type mark [16]byte

func newQueue() *queue {
	return &queue{
		listAgain: true, known: map[mark]struct{}{}, partial: map[string]unparsed{}, refused: map[string]mark{}, unreported: map[string]unreportedRefusal{},
	}
}

func (q *queue) pending() int64 { return int64(len(q.found) + len(q.ordered) + len(q.next)) }

func (q *queue) markOf(name string, size int64, mtime time.Time) mark {
	if q.fixed {
		size, mtime = 0, time.Time{}
	}
	return markOf(name, size, mtime)
}

func markOf(name string, size int64, mtime time.Time) mark {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", name, size, mtime.UnixNano()))
	return mark(sum[:16])
}

// markDone notes that a file needs nothing more.
func (q *queue) markDone(f file) {
	q.known[q.markOf(f.name, f.size, f.mtime)] = struct{}{}
	delete(q.partial, f.name)
	delete(q.unreported, f.name)
}

// unreportedRefusal is why a file was refused for which no reason could be kept, or nil.
func (q *queue) unreportedRefusal(f file) *parley.Error {
	d, owed := q.unreported[f.name]
	if owed && d.of != markOf(f.name, f.size, f.mtime) {
		delete(q.unreported, f.name)
		return nil
	}
	return d.why
}

// noteRefused notes the state of a refused file.
func (q *queue) noteRefused(f file) {
	if q.fixed {
		q.refused[f.name] = markOf(f.name, f.size, f.mtime)
	}
}

// wasReplaced reports whether a refused file is a different one now.
func (q *queue) wasReplaced(f *folder, name string) bool {
	was, refused := q.refused[name]
	if !refused {
		return false
	}
	info, err := f.stat(name)
	if err == nil && markOf(name, info.Size(), info.ModTime()) == was {
		return false
	}
	delete(q.refused, name)
	return true
}

// putBack returns an item to the head.
func (q *queue) putBack(i item) { q.next = slices.Insert(q.next, 0, i) }

// list finds the names that are new.
func (q *queue) list(f *folder) error {
	q.listAgain = false
	there, seen := map[mark]struct{}{}, map[string]bool{}
	err := f.list(func(names []string) error {
		for _, name := range names {
			if !candidate(name) {
				continue
			}
			m, err := q.markAt(f, name)
			if err != nil {
				continue // it is gone again
			}
			if q.remembers(name) {
				seen[name] = true
			}
			if _, known := q.known[m]; known && !q.wasReplaced(f, name) {
				there[m] = struct{}{}
			} else {
				q.found = append(q.found, name)
			}
		}
		return nil
	})
	if err == nil {
		q.known = there
		maps.DeleteFunc(q.partial, func(name string, _ unparsed) bool { return !seen[name] })
		maps.DeleteFunc(q.refused, func(name string, _ mark) bool { return !seen[name] })
		maps.DeleteFunc(q.unreported, func(name string, _ unreportedRefusal) bool { return !seen[name] })
	}
	slices.Sort(q.found)
	return err
}

// remembers reports whether the queue has notes on a file that it must drop once the file is removed.
func (q *queue) remembers(name string) bool {
	_, partial := q.partial[name]
	_, refused := q.refused[name]
	_, owed := q.unreported[name]
	return partial || refused || owed
}

func (q *queue) markAt(f *folder, name string) (mark, error) {
	if q.fixed {
		return q.markOf(name, 0, time.Time{}), nil
	}
	info, err := f.stat(name)
	if err != nil {
		return mark{}, err
	}
	return q.markOf(name, info.Size(), info.ModTime()), nil
}

// candidate reports whether a file may be a document by its name. A file that is being written has another name.
func candidate(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".")
}

// advance brings some of what was found nearer to being read.
func (e *engine) advance(ctx context.Context, q *queue, f *folder) error {
	some := q.found[:min(askedAtOnce, len(q.found))]
	if len(some) == 0 {
		return nil
	}
	items, err := e.order(ctx, q, f, some)
	if err != nil {
		return err
	}
	q.found = q.found[len(some):]
	if q.byName {
		q.next = append(q.next, items...)
		return nil
	}
	q.ordered = append(q.ordered, items...)
	if len(q.found) == 0 {
		slices.SortFunc(q.ordered, func(a, b item) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
		q.next, q.ordered = q.ordered, nil
	}
	return nil
}

// order finds the places of some names. Of files that never change only those are left that the hub does not know.
func (e *engine) order(ctx context.Context, q *queue, f *folder, names []string) ([]item, error) {
	var items []item
	if !q.fixed {
		for _, name := range names {
			items = append(items, item{name, e.timestamp(f, name, q.limit)})
		}
		return items, nil
	}
	var files []parley.BridgeFile
	for _, name := range names {
		if _, owed := q.unreported[name]; isPlain(name) && !owed {
			files = append(files, parley.BridgeFile{Path: q.path + "/" + name})
		} else {
			items = append(items, item{name: name}) // it is refused
		}
	}
	unknown, err := e.hub.Unknown(ctx, e.id, files)
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for _, u := range unknown {
		left[u.Path] = true
	}
	for _, b := range files {
		if name := path.Base(b.Path); left[b.Path] {
			items = append(items, item{name: name})
		} else {
			q.markDone(file{name: name})
		}
	}
	return items, nil
}

// timestamp is when a document says that it was written. What cannot be read comes first: it is dealt with when it is read in
// its turn.
func (e *engine) timestamp(f *folder, name string, limit int64) time.Time {
	found, err := f.read(name, limit)
	if err != nil {
		return time.Time{}
	}
	a, err := dialect.Decode(e.dialect, found.raw)
	if err != nil {
		return time.Time{}
	}
	return a.At
}

// markForListing makes the queues of changed folders, or all, list their files again.
func (e *engine) markForListing(changed map[string]bool, everywhere bool) {
	for at, q := range e.queues {
		if everywhere || changed[at] {
			q.listAgain = true
		}
		if everywhere {
			q.blocked = false
		}
	}
}

func (e *engine) pendingFiles() (n int64) {
	for _, q := range e.queues {
		n += q.pending()
	}
	return n
}

// inFolder does something in a queue's folder. One that is gone is no error.
func (e *engine) inFolder(q *queue, do func(*folder) error) error {
	err := e.tree.inFolder(q.path, do)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
