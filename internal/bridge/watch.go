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

// changeSet collects the folders that have changed since the last poll.
type changeSet struct {
	signal chan struct{}

	mu         sync.Mutex
	changed    map[string]bool // folders
	everywhere bool            // any folder may have changed
}

func (w *changeSet) addAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.everywhere = true
}

// add notes that something has changed in a folder, or in any folder if the name is empty, and wakes the poller.
func (w *changeSet) add(folder string) {
	w.mu.Lock()
	w.changed[folder] = true
	w.everywhere = w.everywhere || folder == ""
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default: // the poller is awake already
	}
}

func (w *changeSet) take() (changed map[string]bool, everywhere bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed, everywhere = w.changed, w.everywhere
	w.changed, w.everywhere = map[string]bool{}, false
	return changed, everywhere
}

// watcher wakes the poller early. On some file systems it loses events or does not work at all, but polling does not need it.
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
			w.wake.add("") // events were lost
		}
	}
}

// onEvent wakes the poller for a new or changed document, and for a new folder. The next poll notices removals.
func (w *watcher) onEvent(root string, event fsnotify.Event) {
	if !event.Has(fsnotify.Create) && !event.Has(fsnotify.Write) {
		return
	}
	if !strings.HasSuffix(event.Name, ".json") {
		if info, err := os.Lstat(event.Name); err == nil && info.IsDir() {
			w.wake.add("")
		}
		return
	}
	if folder, err := filepath.Rel(root, filepath.Dir(event.Name)); err == nil {
		w.wake.add(filepath.ToSlash(folder))
	}
}

// follow watches the given folders and their parents, and no other folders. Every poll adds each folder again, because the folder
// may have been removed and created again.
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
		if w.events.Add(filepath.Join(root, folder)) != nil { // the folder may be missing
			delete(wanted, folder)
			continue
		}
		fresh = fresh || !w.watched[folder]
	}
	if fresh {
		w.wake.add("") // a folder may have been created there before the watch began
	}
	for folder := range w.watched {
		if !wanted[folder] {
			_ = w.events.Remove(filepath.Join(root, folder)) // the folder may be missing
		}
	}
	w.watched = wanted
}

func (w *watcher) stop() {
	if w.events != nil {
		_ = w.events.Close() // the watcher is not needed any more
	}
	<-w.finished
}
