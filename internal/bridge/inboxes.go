package bridge

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// inboxLayoutBase is the common part of the layouts with an inbox for each agent. The bridge imports and removes files in the inbox of an
// agent of the hub. It copies files in the inbox of an agent that lives in the tree to the hub, and leaves them there.
type inboxLayoutBase struct {
	layoutBase
	dialect         dialect.Dialect
	inboxOf         func(folder string) string // returns the inbox of the agent with that folder
	limit           int64                      // the size limit of a document
	broadcastFolder string                     // the folder for documents to all agents

	mu      sync.Mutex        // guards the fields below, which the importing and the exporting goroutine use
	view    bridgeView        // the state of the hub at the last poll
	folders map[string]string // folders by agent: only this map has names that are too long for an id
	skipped map[string]bool   // folders of no agent that the log already mentions
}

// inboxesIn returns the inboxes in folders of agents, and the broadcast inbox.
func (b *inboxLayoutBase) inboxesIn(view bridgeView, folders []string) (list []inlet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.view, b.folders = view, map[string]string{}
	for _, folder := range folders {
		agent, _ := dialect.AgentID(b.dialect, folder)
		if folder == b.broadcastFolder {
			agent = parley.All
		} else if !view.knows(agent) {
			b.skipFolder(folder)
			continue
		}
		delete(b.skipped, folder)
		b.folders[agent] = folder
		list = append(list, inlet{path: b.inboxOf(folder), agent: agent, consume: !view.inTree[agent], limit: b.limit})
	}
	return list
}

// skipFolder logs once that an inbox belongs to no agent.
func (b *inboxLayoutBase) skipFolder(folder string) {
	exists, err := b.tree.has(path.Dir(b.inboxOf(folder)), path.Base(b.inboxOf(folder)))
	if exists && err == nil && !b.skipped[folder] {
		b.skipped[folder] = true
		b.logf("WARN: ignoring %s: %q is not an agent of the hub or of this bridge (%s)", b.inboxOf(folder), folder, b.folderHint(folder))
	}
}

// folderHint returns how to fix an inbox that belongs to no agent.
func (b *inboxLayoutBase) folderHint(folder string) string {
	view := b.view
	near := parley.Nearest(folder, append(slices.Sorted(maps.Keys(view.ofHub)), slices.Sorted(maps.Keys(view.inTree))...))
	agent, _ := dialect.AgentID(b.dialect, folder)
	if parley.CheckID(agent) != nil {
		return parley.DidYouMean(near, "rename the directory to the id of an agent")
	}
	return parley.DidYouMean(near, "to let this agent send: parley bridge set "+b.id+" --agents "+strings.Join(append(slices.Clone(view.bridge.Agents), agent), ","))
}

// lastView returns the state of the hub at the last poll.
func (b *inboxLayoutBase) lastView() bridgeView {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.view
}

// folderOf returns the name of the folder of an agent, which may not exist yet.
func (b *inboxLayoutBase) folderOf(agent string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.folders[agent], dialect.NativeName(b.dialect, agent))
}

// knows reports whether an agent belongs to the hub or lives in the tree.
func (view bridgeView) knows(agent string) bool { return view.ofHub[agent] || view.inTree[agent] }

// complete sets the recipient of a document. A document between scripts of the tree is history: it never expires and wakes
// nobody. E003 if the document is in the inbox of an agent that it is not addressed to.
func (b *inboxLayoutBase) complete(in inlet, _ file, a *parley.Arrival) error {
	if a.To == "" {
		a.To = in.agent
	}
	if a.To != in.agent && a.To != parley.All {
		return parley.Errorf(parley.BadInput, "the document is for %s, but it is in the inbox of %s", a.To, in.agent).
			Suggest("write the document into the inbox of its recipient")
	}
	if !in.consume {
		a.History, a.ExpiresAt = true, time.Time{}
	}
	return nil
}

// targetFolder returns the inbox of the recipient.
func (b *inboxLayoutBase) targetFolder(d parley.Departure) string {
	return b.inboxOf(b.folderOf(d.Recipient))
}

// withFolderNames returns a departure in which agents have the names of their folders.
func (b *inboxLayoutBase) withFolderNames(d parley.Departure) parley.Departure {
	for _, id := range []*string{&d.Recipient, &d.Message.From, &d.Message.To} {
		if *id != parley.All && dialect.NativeName(b.dialect, *id) == *id {
			*id = b.folderOf(*id)
		}
	}
	return d
}

// wasTaken reports whether a document was removed from the inbox. It returns false if the whole inbox is missing.
func (b *inboxLayoutBase) wasTaken(d parley.Departure) (bool, error) {
	var exists bool
	err := b.tree.inFolder(b.targetFolder(d), func(f *folder) (err error) {
		exists, err = f.has(d.Name + ".json")
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return !exists && err == nil, err
}

// removeUnchanged calls remove for a file in an inbox of the hub. It returns errReplaced if the file was replaced; the
// replacement arrives at a later poll. A missing file is no error.
func (b *inboxLayoutBase) removeUnchanged(in inlet, f file, remove func() error) error {
	if !in.consume {
		return nil
	}
	current, err := b.tree.read(f.path, in.limit)
	if refusalOf(err) != nil || err == nil && current.digest != f.digest {
		return errReplaced
	}
	if err == nil {
		err = remove()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
