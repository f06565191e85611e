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
	filesPerQuery = 500             // files in one question to the hub
	unfinishedFor = 5 * time.Second // how long a file must stay unchanged before it counts as invalid
)

// importQueue is an inlet with the state of its files. For pending files it keeps only names and times, so that a large folder fits
// into memory.
type importQueue struct {
	inlet
	listAgain  bool                         // the folder must be listed again
	blocked    bool                         // the hub could not take the next file: nothing is read until the next poll
	known      map[fileVersion]struct{}     // files that are done and still exist
	found      []string                     // names that may be new and have no order yet
	ordered    []item                       // files with a time, until all found ones have one
	next       []item                       // new files in their order
	partial    map[string]unparsed          // files that cannot be parsed, perhaps because they are still being written
	refused    map[string]fileVersion       // refused files that may be replaced under the same name
	unreported map[string]unreportedRefusal // refused files whose reason could not be written yet
}

// unreportedRefusal is why a file was refused, and the state of that file. The hub returns a refusal only once.
type unreportedRefusal struct {
	version fileVersion
	cause   *parley.Error
}

// item is a file with its time. The time is zero where names are the order.
type item struct {
	name string
	at   time.Time
}

// unparsed is the state of a file that could not be parsed, and since when.
type unparsed struct {
	size  int64
	mtime time.Time
	since time.Time
}

// fileVersion identifies a state of a file: a digest of name, size and time.
type fileVersion [16]byte

func newImportQueue() *importQueue {
	return &importQueue{
		listAgain: true, known: map[fileVersion]struct{}{}, partial: map[string]unparsed{}, refused: map[string]fileVersion{}, unreported: map[string]unreportedRefusal{},
	}
}

func (q *importQueue) pending() int64 { return int64(len(q.found) + len(q.ordered) + len(q.next)) }

func (q *importQueue) versionOf(name string, size int64, mtime time.Time) fileVersion {
	if q.fixed {
		size, mtime = 0, time.Time{}
	}
	return fileVersionOf(name, size, mtime)
}

func fileVersionOf(name string, size int64, mtime time.Time) fileVersion {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d", name, size, mtime.UnixNano()))
	return fileVersion(sum[:16])
}

// markDone notes that a file is done.
func (q *importQueue) markDone(f file) {
	q.known[q.versionOf(f.name, f.size, f.mtime)] = struct{}{}
	delete(q.partial, f.name)
	delete(q.unreported, f.name)
}

// unreportedRefusal returns why a file was refused if the reason could not be written yet, or nil.
func (q *importQueue) unreportedRefusal(f file) *parley.Error {
	d, noted := q.unreported[f.name]
	if noted && d.version != fileVersionOf(f.name, f.size, f.mtime) {
		delete(q.unreported, f.name)
		return nil
	}
	return d.cause
}

// noteRefused notes the state of a refused file.
func (q *importQueue) noteRefused(f file) {
	if q.fixed {
		q.refused[f.name] = fileVersionOf(f.name, f.size, f.mtime)
	}
}

// wasReplaced reports whether a refused file is a different one now.
func (q *importQueue) wasReplaced(f *folder, name string) bool {
	was, refused := q.refused[name]
	if !refused {
		return false
	}
	info, err := f.stat(name)
	if err == nil && fileVersionOf(name, info.Size(), info.ModTime()) == was {
		return false
	}
	delete(q.refused, name)
	return true
}

// putBack returns an item to the head of the queue.
func (q *importQueue) putBack(i item) { q.next = slices.Insert(q.next, 0, i) }

// list lists the folder and adds new names to found.
func (q *importQueue) list(f *folder) error {
	q.listAgain = false
	present, seen := map[fileVersion]struct{}{}, map[string]bool{}
	err := f.list(func(names []string) error {
		for _, name := range names {
			if !candidate(name) {
				continue
			}
			m, err := q.versionAt(f, name)
			if err != nil {
				continue // the file was removed meanwhile
			}
			if q.remembers(name) {
				seen[name] = true
			}
			if _, known := q.known[m]; known && !q.wasReplaced(f, name) {
				present[m] = struct{}{}
			} else {
				q.found = append(q.found, name)
			}
		}
		return nil
	})
	if err == nil {
		q.known = present
		maps.DeleteFunc(q.partial, func(name string, _ unparsed) bool { return !seen[name] })
		maps.DeleteFunc(q.refused, func(name string, _ fileVersion) bool { return !seen[name] })
		maps.DeleteFunc(q.unreported, func(name string, _ unreportedRefusal) bool { return !seen[name] })
	}
	slices.Sort(q.found)
	return err
}

// remembers reports whether the queue has notes on a file that it must drop once the file is removed.
func (q *importQueue) remembers(name string) bool {
	_, partial := q.partial[name]
	_, refused := q.refused[name]
	_, noted := q.unreported[name]
	return partial || refused || noted
}

func (q *importQueue) versionAt(f *folder, name string) (fileVersion, error) {
	if q.fixed {
		return q.versionOf(name, 0, time.Time{}), nil
	}
	info, err := f.stat(name)
	if err != nil {
		return fileVersion{}, err
	}
	return q.versionOf(name, info.Size(), info.ModTime()), nil
}

// candidate reports whether a file may be a document by its name. A file that is being written has another name.
func candidate(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".")
}

// advance orders some of the found names. It moves them to next once their order is known.
func (e *engine) advance(ctx context.Context, q *importQueue, f *folder) error {
	names := q.found[:min(filesPerQuery, len(q.found))]
	if len(names) == 0 {
		return nil
	}
	items, err := e.order(ctx, q, f, names)
	if err != nil {
		return err
	}
	q.found = q.found[len(names):]
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

// order returns items for some names. Of files that never change, it returns only files that the hub does not know.
func (e *engine) order(ctx context.Context, q *importQueue, f *folder, names []string) ([]item, error) {
	var items []item
	if !q.fixed {
		for _, name := range names {
			items = append(items, item{name, e.timestamp(f, name, q.limit)})
		}
		return items, nil
	}
	var files []parley.BridgeFile
	for _, name := range names {
		if _, noted := q.unreported[name]; isPlain(name) && !noted {
			files = append(files, parley.BridgeFile{Path: q.path + "/" + name})
		} else {
			items = append(items, item{name: name}) // readDocument refuses it
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

// timestamp returns the time in a document. It returns zero for a file that cannot be read, so that the file comes first and
// readDocument handles it.
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

// inFolder calls do in the folder of a queue. A missing folder is no error.
func (e *engine) inFolder(q *importQueue, do func(*folder) error) error {
	err := e.tree.inFolder(q.path, do)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
