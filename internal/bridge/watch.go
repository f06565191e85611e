package bridge

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// changeSet collects the folders that have changed.
type changeSet struct {
	signal chan struct{}

	mu         sync.Mutex
	changed    map[string]bool // folders
	everywhere bool
}

func (w *changeSet) markAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.everywhere = true
}

// mark says that something has changed in a folder; none: somewhere.
func (w *changeSet) mark(folder string) {
	w.mu.Lock()
	w.changed[folder] = true
	w.everywhere = w.everywhere || folder == ""
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default: // it is awake already
	}
}

func (w *changeSet) take() (changed map[string]bool, everywhere bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed, everywhere = w.changed, w.everywhere
	w.changed, w.everywhere = map[string]bool{}, false
	return changed, everywhere
}

// watcher wakes the poller early. It may lose events or not work at all on some file systems; polling does not need it.
type watcher struct {
	events   *fsnotify.Watcher
	wake     *changeSet
	watched  map[string]bool // folders
	finished chan struct{}
}

func (e *engine) watch(ctx context.Context) *watcher {
	w := &watcher{wake: &e.wake, watched: map[string]bool{}, finished: make(chan struct{})}
	if e.pollOnly {
		close(w.finished)
		return w
	}
	if events, err := fsnotify.NewWatcher(); err == nil {
		w.events = events
		go w.run(ctx, e.view.bridge.Root)
	} else {
		close(w.finished)
	}
	return w
}

func (w *watcher) run(ctx context.Context, root string) {
	defer close(w.finished)
	for {
		select {
		case <-ctx.Done():
			return
		case event, open := <-w.events.Events:
			if !open {
				return
			}
			w.onEvent(root, event)
		case _, open := <-w.events.Errors:
			if !open {
				return
			}
			w.wake.mark("") // events were lost
		}
	}
}

// onEvent wakes the poller for a new or changed document and for a new folder. Removals wait for the next poll.
func (w *watcher) onEvent(root string, event fsnotify.Event) {
	if !event.Has(fsnotify.Create) && !event.Has(fsnotify.Write) {
		return
	}
	if !strings.HasSuffix(event.Name, ".json") {
		if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
			w.wake.mark("")
		}
		return
	}
	if folder, err := filepath.Rel(root, filepath.Dir(event.Name)); err == nil {
		w.wake.mark(filepath.ToSlash(folder))
	}
}

// follow watches these folders and their parents, and no others. It adds each again at every poll, because a folder may have
// been removed and created again.
func (w *watcher) follow(root string, folders []string) {
	if w.events == nil {
		return
	}
	wanted := map[string]bool{".": true}
	for _, folder := range folders {
		for ; !wanted[folder]; folder = path.Dir(folder) {
			wanted[folder] = true
		}
	}
	fresh := false
	for _, folder := range slices.Sorted(maps.Keys(wanted)) {
		if w.events.Add(filepath.Join(root, folder)) != nil { // it may not be there
			delete(wanted, folder)
			continue
		}
		fresh = fresh || !w.watched[folder]
	}
	if fresh {
		w.wake.mark("") // a folder may have come into it before it was watched
	}
	for folder := range w.watched {
		if !wanted[folder] {
			_ = w.events.Remove(filepath.Join(root, folder)) // it may be gone
		}
	}
	w.watched = wanted
}

func (w *watcher) stop() {
	if w.events != nil {
		_ = w.events.Close() // nothing depends on it
	}
	<-w.finished
}
