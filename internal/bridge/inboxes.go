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

// inboxes is what the layouts with an inbox for each agent share. Files in the inbox of an agent of the hub are imported and
// removed. Files in the inbox of an agent that lives in the tree are copied to the hub and stay.
type inboxes struct {
	layoutBase
	dialect dialect.Dialect
	inboxOf func(folder string) string // the inbox of an agent with that folder
	limit   int64                      // the size of a document
	all     string                     // the folder of what is for everybody

	mu      sync.Mutex        // guards what follows: documents come and go in goroutines of their own
	view    bridgeView        // as of the last poll
	folders map[string]string // of agents: a name that is too long for an id can be found only here
	skipped map[string]bool   // folders of nobody that a line was said about
}

// inboxesIn returns the inboxes in folders of agents, and the broadcast inbox.
func (b *inboxes) inboxesIn(w bridgeView, folders []string) (list []inlet) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.view, b.folders = w, map[string]string{}
	for _, folder := range folders {
		agent, _ := dialect.AgentID(b.dialect, folder)
		if folder == b.all {
			agent = parley.All
		} else if !w.knows(agent) {
			b.skipFolder(folder)
			continue
		}
		delete(b.skipped, folder)
		b.folders[agent] = folder
		list = append(list, inlet{path: b.inboxOf(folder), agent: agent, consume: !w.inTree[agent], limit: b.limit})
	}
	return list
}

// skipFolder logs once that an inbox belongs to no agent.
func (b *inboxes) skipFolder(folder string) {
	there, err := b.tree.has(path.Dir(b.inboxOf(folder)), path.Base(b.inboxOf(folder)))
	if there && err == nil && !b.skipped[folder] {
		b.skipped[folder] = true
		b.say("WARN: %s is left alone: %q is no agent of the hub, nor of this bridge (%s)", b.inboxOf(folder), folder, b.folderHint(folder))
	}
}

// folderHint returns how to fix an inbox that belongs to no agent.
func (b *inboxes) folderHint(folder string) string {
	w := b.view
	near := parley.Nearest(folder, append(slices.Sorted(maps.Keys(w.ofHub)), slices.Sorted(maps.Keys(w.inTree))...))
	agent, _ := dialect.AgentID(b.dialect, folder)
	if parley.CheckID(agent) != nil {
		return parley.DidYouMean(near, "give it the name of an agent")
	}
	return parley.DidYouMean(near, "to let it speak: parley bridge set "+b.id+" --agents "+strings.Join(append(slices.Clone(w.bridge.Agents), agent), ","))
}

// lastView returns the hub's state as of the last poll.
func (b *inboxes) lastView() bridgeView {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.view
}

// folderOf returns the name of an agent's folder.
func (b *inboxes) folderOf(agent string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(b.folders[agent], dialect.NativeName(b.dialect, agent))
}

// knows reports whether an agent is one of the hub or lives in the tree.
func (w bridgeView) knows(agent string) bool { return w.ofHub[agent] || w.inTree[agent] }

// complete sets the recipient of a document. Mail between scripts of the tree is history: it never expires and wakes nobody.
func (b *inboxes) complete(in inlet, _ file, a *parley.Arrival) error {
	if a.To == "" {
		a.To = in.agent
	}
	if a.To != in.agent && a.To != parley.All {
		return parley.Errorf(parley.BadInput, "The document is for %s and lies in the inbox of %s.", a.To, in.agent).
			Suggest("Write it into the inbox of the agent it is for.")
	}
	if !in.consume {
		a.History, a.ExpiresAt = true, time.Time{}
	}
	return nil
}

// place is the inbox of the recipient.
func (b *inboxes) place(d parley.Departure) string {
	return b.inboxOf(b.folderOf(d.Recipient))
}

// withFolderNames returns a departure that names agents as their folders do.
func (b *inboxes) withFolderNames(d parley.Departure) parley.Departure {
	for _, id := range []*string{&d.Recipient, &d.Message.From, &d.Message.To} {
		if *id != parley.All && dialect.NativeName(b.dialect, *id) == *id {
			*id = b.folderOf(*id)
		}
	}
	return d
}

// taken says whether a document is in the inbox no more. An inbox that is not there as a whole says nothing.
func (b *inboxes) taken(d parley.Departure) (bool, error) {
	var there bool
	err := b.tree.inFolder(b.place(d), func(f *folder) (err error) {
		there, err = f.has(d.Name + ".json")
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return !there && err == nil, err
}

// consumed removes a file from the inbox, unless it was replaced. The replacement arrives at a later poll.
func (b *inboxes) consumed(in inlet, f file, take func() error) error {
	if !in.consume {
		return nil
	}
	now, err := b.tree.read(f.path, in.limit)
	if refusal(err) != nil || err == nil && now.digest != f.digest {
		return errReplaced
	}
	if err == nil {
		err = take()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
