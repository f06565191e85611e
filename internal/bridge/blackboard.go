package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// The folders of S1's tree. An inbox has its processed folder beside it; so has the queue.
const (
	inboxFolder     = "inbox"
	processedFolder = "processed"
	tasksFolder     = "tasks"
	sharedFolder    = "shared"
)

const clawLimit = 1 << 20 // bytes of a document

// reservedFolders are folders in the root that belong to no agent.
var reservedFolders = []string{inboxFolder, processedFolder, tasksFolder, sharedFolder, ownFolder}

// blackboard is the layout of ClawOS. The bridge moves what it imports from an inbox to processed/.
type blackboard struct {
	inboxes
	shown int64 // how far the order is mirrored in tasks/
}

func newBlackboard(k layoutBase) layout {
	return &blackboard{inboxes: inboxes{
		layoutBase: k, dialect: dialect.ClawOS, limit: clawLimit, all: "broadcast", skipped: map[string]bool{},
		inboxOf: func(folder string) string { return path.Join(folder, inboxFolder) },
	}}
}

func (l *blackboard) logFile() string { return path.Join(ownFolder, "bridge.log") }

// inlets are the queue, which is nobody's and so the hub's, and the inboxes.
func (l *blackboard) inlets(w bridgeView) ([]inlet, error) {
	folders, err := l.tree.folders("")
	folders = slices.DeleteFunc(folders, func(name string) bool { return slices.Contains(reservedFolders, name) })
	if err != nil {
		return nil, err
	}
	queue := inlet{path: inboxFolder, queue: true, consume: true, limit: l.limit}
	return append([]inlet{queue}, l.inboxesIn(w, folders)...), nil
}

// complete turns a document in the queue into a request for the queue agent, unless it names another agent that the hub
// knows.
func (l *blackboard) complete(in inlet, f file, a *parley.Arrival) error {
	if !in.queue {
		return l.inboxes.complete(in, f, a)
	}
	w := l.lastView()
	a.Queue = a.To == w.bridge.QueueAgent || a.To != parley.All && !w.knows(a.To)
	return nil
}

// settle moves an imported file to processed/ and logs an expired one.
func (l *blackboard) settle(in inlet, f file, o outcome) error {
	if o == refused {
		return nil
	}
	return l.consumed(in, f, func() error {
		if o == expired {
			l.say("WARN: Expired message: %s, failed", strings.TrimSuffix(f.name, ".json"))
		}
		return l.tree.move(f, processed(in.path))
	})
}

func processed(inbox string) string { return path.Join(path.Dir(inbox), processedFolder) }

func (l *blackboard) encode(d parley.Departure) ([]byte, error) { return dialect.Encode(l.dialect, d) }

func (l *blackboard) before(context.Context, parley.Departure) error { return nil }

func (l *blackboard) after(context.Context, parley.Departure) error { return nil }

// taken is also what a script has copied to processed/ and not removed.
func (l *blackboard) taken(d parley.Departure) (bool, error) {
	gone, err := l.inboxes.taken(d)
	if gone || err != nil {
		return gone, err
	}
	return l.tree.has(processed(l.place(d)), d.Name+".json")
}

// tick shows the tasks that have changed. What cannot be written is tried again, and keeps nothing else from it.
func (l *blackboard) tick(ctx context.Context, _ bridgeView) error {
	for {
		page, err := l.hub.BridgeTasks(ctx, l.id, l.shown)
		if err != nil {
			return err
		}
		for _, t := range page.Tasks {
			err = errors.Join(err, l.show(t))
		}
		if err != nil {
			return err
		}
		l.shown = page.UpTo
		if !page.More {
			return nil
		}
	}
}

func (l *blackboard) show(t parley.Task) error {
	raw, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return l.tree.inMadeFolder(tasksFolder, func(f *folder) error {
		name := t.ID + ".json"
		if there, err := f.read(name, l.limit); err == nil && bytes.Equal(there.raw, append(raw, '\n')) {
			return nil
		}
		return f.replace(name, append(raw, '\n'))
	})
}

func (l *blackboard) watched() []string { return nil }

func (l *blackboard) stop(context.Context, bridgeView) error { return nil }
