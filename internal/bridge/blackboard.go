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

// The folders of a tree in the ClawOS format. Each inbox has a processed folder beside it, and so has the queue.
const (
	inboxFolder     = "inbox"
	processedFolder = "processed"
	tasksFolder     = "tasks"
	sharedFolder    = "shared"
)

// clawOSLimit is the size limit of a document, in bytes.
const clawOSLimit = 1 << 20

// reservedFolders are folders in the root that belong to no agent.
var reservedFolders = []string{inboxFolder, processedFolder, tasksFolder, sharedFolder, ownFolder}

// blackboardLayout is the layout of ClawOS. The bridge moves what it imports from an inbox to processed/.
type blackboardLayout struct {
	inboxLayoutBase
	mirroredUpTo int64 // the position in the hub's order up to which tasks/ is current
}

func newBlackboardLayout(base layoutBase) layout {
	return &blackboardLayout{inboxLayoutBase: inboxLayoutBase{
		layoutBase: base, dialect: dialect.ClawOS, limit: clawOSLimit, broadcastFolder: "broadcast", skipped: map[string]bool{},
		inboxOf: func(folder string) string { return path.Join(folder, inboxFolder) },
	}}
}

func (l *blackboardLayout) logFile() string { return path.Join(ownFolder, "bridge.log") }

// inlets returns the queue and the inboxes. The queue belongs to no agent, so the hub consumes it.
func (l *blackboardLayout) inlets(view bridgeView) ([]inlet, error) {
	folders, err := l.tree.folders("")
	folders = slices.DeleteFunc(folders, func(name string) bool { return slices.Contains(reservedFolders, name) })
	if err != nil {
		return nil, err
	}
	queue := inlet{path: inboxFolder, forQueueAgent: true, consume: true, limit: l.limit}
	return append([]inlet{queue}, l.inboxesIn(view, folders)...), nil
}

// complete turns a document in the queue into a request for the queue agent, unless the document names another agent that the
// hub knows.
func (l *blackboardLayout) complete(in inlet, f file, a *parley.Arrival) error {
	if !in.forQueueAgent {
		return l.inboxLayoutBase.complete(in, f, a)
	}
	view := l.lastView()
	a.Queue = a.To == view.bridge.QueueAgent || a.To != parley.All && !view.knows(a.To)
	return nil
}

// settle moves an imported file to processed/ and logs an expired one.
func (l *blackboardLayout) settle(in inlet, f file, o outcome) error {
	if o == refused {
		return nil
	}
	return l.removeUnchanged(in, f, func() error {
		if o == expired {
			l.logf("WARN: Expired message: %s, failed", strings.TrimSuffix(f.name, ".json"))
		}
		return l.tree.move(f, processed(in.path))
	})
}

func processed(inbox string) string { return path.Join(path.Dir(inbox), processedFolder) }

func (l *blackboardLayout) encode(d parley.Departure) ([]byte, error) {
	return dialect.Encode(l.dialect, d)
}

func (l *blackboardLayout) beforeWrite(context.Context, parley.Departure) error { return nil }

func (l *blackboardLayout) afterWrite(context.Context, parley.Departure) error { return nil }

// wasTaken reports whether a script has removed a document from the inbox, or has copied it to processed/ without removing it.
func (l *blackboardLayout) wasTaken(d parley.Departure) (bool, error) {
	removed, err := l.inboxLayoutBase.wasTaken(d)
	if removed || err != nil {
		return removed, err
	}
	return l.tree.has(processed(l.targetFolder(d)), d.Name+".json")
}

// tick writes the tasks that have changed into tasks/. If a task cannot be written, it still writes the others; the next poll
// retries all of them.
func (l *blackboardLayout) tick(ctx context.Context, _ bridgeView) error {
	for {
		page, err := l.hub.BridgeTasks(ctx, l.id, l.mirroredUpTo)
		if err != nil {
			return err
		}
		for _, t := range page.Tasks {
			err = errors.Join(err, l.writeTask(t))
		}
		if err != nil {
			return err
		}
		l.mirroredUpTo = page.UpTo
		if !page.More {
			return nil
		}
	}
}

func (l *blackboardLayout) writeTask(t parley.Task) error {
	raw, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return l.tree.inMadeFolder(tasksFolder, func(f *folder) error {
		name := t.ID + ".json"
		if existing, err := f.read(name, l.limit); err == nil && bytes.Equal(existing.raw, append(raw, '\n')) {
			return nil
		}
		return f.replace(name, append(raw, '\n'))
	})
}

func (l *blackboardLayout) watched() []string { return nil }

func (l *blackboardLayout) stop(context.Context, bridgeView) error { return nil }
