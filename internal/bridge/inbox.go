package bridge

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
	"github.com/parley-hub/parley/internal/quote"
)

// The folders and limits of the Routing Protocol.
const (
	agentsFolder    = "state/agents"
	sequencesFolder = ".sequences"
	inboxDepth      = 100
	routingLimit    = 10 << 10 // size limit of a document, in bytes
)

// artifacts is the folder for the full texts of documents that were cut.
const artifacts = ownFolder + "/artifacts"

// inboxLayout is the layout of the Routing Protocol. The bridge deletes the files that it imports from the inbox of an agent of the
// hub, and keeps at most a hundred messages in an inbox.
type inboxLayout struct{ inboxLayoutBase }

func newInboxLayout(base layoutBase) layout {
	return &inboxLayout{inboxLayoutBase{
		layoutBase: base, dialect: dialect.Routing, limit: routingLimit, broadcastFolder: parley.All, skipped: map[string]bool{},
		inboxOf: func(folder string) string { return path.Join(agentsFolder, folder, "inbox") },
	}}
}

func (l *inboxLayout) logFile() string { return "error.log" }

func (l *inboxLayout) inlets(view bridgeView) ([]inlet, error) {
	folders, err := l.tree.folders(agentsFolder)
	if err != nil {
		return nil, err
	}
	return l.inboxesIn(view, folders), nil
}

func (l *inboxLayout) settle(in inlet, f file, o outcome) error {
	if o == refused {
		return nil
	}
	return l.removeUnchanged(in, f, func() error { return l.tree.consume(f) })
}

// encode encodes a departure. If the document is too long, it cuts the text, and writes the full text into a file first, because
// the document names that file.
func (l *inboxLayout) encode(d parley.Departure) ([]byte, error) {
	d = l.withFolderNames(d)
	if dialect.IsCutID(d.Recipient) {
		return nil, parley.Errorf(parley.Unavailable, "cannot find the folder of %s in the tree: the id has only a part of the name of the folder", d.Recipient).
			Suggest("create the inbox of the agent in the tree")
	}
	raw, err := dialect.Encode(l.dialect, d)
	if err != nil || len(raw) <= routingLimit {
		return raw, err
	}
	name := d.Name + ".txt"
	raw, err = dialect.EncodeWithin(l.dialect, d, routingLimit, path.Join(artifacts, name))
	if err != nil {
		return nil, err
	}
	return raw, l.tree.inMadeFolder(artifacts, func(f *folder) error { return f.replace(name, []byte(wholeText(d.Message))) })
}

// wholeText returns the full text of a message as a file. Texts of the hub name the author of each quoted part.
func wholeText(m parley.Message) string {
	if m.From == parley.System {
		return quote.Wording(m.Wording())
	}
	return m.Content.Text
}

// beforeWrite deletes the oldest file of a full inbox. It reports the eviction to the hub before it deletes the file. After a
// crash in between, the file stays for a while; in the other order, the sender would take the deleted message for read.
func (l *inboxLayout) beforeWrite(ctx context.Context, d parley.Departure) error {
	files, err := l.listInbox(l.targetFolder(d))
	if err != nil || len(files) < inboxDepth {
		return err
	}
	oldest, err := l.oldest(ctx, d, files)
	if err != nil {
		return err
	}
	if err := l.onEvict(ctx, oldest.path); err != nil {
		return err
	}
	l.logf("WARN: Inbox overflow for %s (%d messages), evicted oldest: %s", l.folderOf(d.Recipient), len(files), strings.TrimSuffix(oldest.name, ".json"))
	if err := l.tree.consume(oldest); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// inboxFile is a file in an inbox.
type inboxFile struct {
	name string
	at   time.Time
}

// listInbox lists an inbox, the oldest file first. It orders files of the same time by name, because some file servers count
// whole seconds.
func (l *inboxLayout) listInbox(dir string) (list []inboxFile, err error) {
	err = l.tree.inFolder(dir, func(f *folder) error {
		return f.list(func(names []string) error {
			for _, name := range names {
				info, err := f.stat(name)
				if err == nil && info.Mode().IsRegular() && path.Ext(name) == ".json" {
					list = append(list, inboxFile{name, info.ModTime()})
				}
			}
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortFunc(list, func(a, b inboxFile) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) })
	return list, err
}

// oldest returns the oldest file of an inbox, which can be evicted. It skips files that can never be read. E002 if the file has
// not arrived in the hub yet, or if no file can be read.
func (l *inboxLayout) oldest(ctx context.Context, d parley.Departure, files []inboxFile) (file, error) {
	dir := l.targetFolder(d)
	for _, m := range files {
		found, err := l.tree.read(path.Join(dir, m.name), l.limit)
		if refusalOf(err) != nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = l.mustHaveArrived(ctx, d, found)
		}
		return found, err
	}
	return file{}, parley.Errorf(parley.Unavailable, "%s is full of files that are not messages", dir).Suggest("remove them")
}

// mustHaveArrived returns E002 if the hub has neither imported nor refused a document yet.
func (l *inboxLayout) mustHaveArrived(ctx context.Context, d parley.Departure, f file) error {
	files := []parley.BridgeFile{{Path: f.path, Digest: f.digest}, {Path: path.Join(l.inboxOf(d.Recipient), f.name), Digest: f.digest}}
	unknown, err := l.hub.Unknown(ctx, l.id, files)
	if err != nil || len(unknown) < len(files) {
		return err
	}
	wasRefused, err := l.tree.wasRefused(f)
	if err == nil && !wasRefused {
		err = parley.Errorf(parley.Unavailable, "the oldest document in a full inbox, %s, has not arrived in the hub yet", f.path)
	}
	return err
}

// afterWrite stores the sequence number of a sender that the hub answers for. Scripts store their own.
func (l *inboxLayout) afterWrite(_ context.Context, d parley.Departure) error {
	if d.Sequence == 0 || l.lastView().inTree[d.Message.From] {
		return nil
	}
	dir := path.Join(agentsFolder, l.folderOf(d.Message.From), sequencesFolder)
	return l.tree.inMadeFolder(dir, func(f *folder) error {
		return f.replace(l.folderOf(d.Recipient), []byte(strconv.FormatInt(d.Sequence, 10)+"\n"))
	})
}

func (l *inboxLayout) tick(context.Context, bridgeView) error { return nil }

func (l *inboxLayout) watched() []string { return []string{agentsFolder} }

func (l *inboxLayout) stop(context.Context, bridgeView) error { return nil }
