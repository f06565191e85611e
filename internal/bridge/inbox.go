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

// What S3 says of its tree.
const (
	agentsFolder    = "state/agents"
	sequencesFolder = ".sequences"
	inboxDepth      = 100
	routedLimit     = 10 << 10 // bytes of a document
)

// artifacts is where whole texts are that are cut in documents.
const artifacts = ownFolder + "/artifacts"

// inbox is the layout of S3. What the hub takes from an inbox it deletes, and an inbox never holds more than a hundred messages.
type inbox struct{ inboxes }

func newInbox(k layoutBase) layout {
	return &inbox{inboxes{
		layoutBase: k, dialect: dialect.Routing, limit: routedLimit, all: parley.All, skipped: map[string]bool{},
		inboxOf: func(folder string) string { return path.Join(agentsFolder, folder, "inbox") },
	}}
}

func (l *inbox) logFile() string { return "error.log" }

func (l *inbox) inlets(w bridgeView) ([]inlet, error) {
	folders, err := l.tree.folders(agentsFolder)
	if err != nil {
		return nil, err
	}
	return l.inboxesIn(w, folders), nil
}

func (l *inbox) settle(in inlet, f file, o outcome) error {
	if o == refused {
		return nil
	}
	return l.consumed(in, f, func() error { return l.tree.consume(f) })
}

// encode cuts the text of a document that is too long. The whole of it is written first, so that nobody is led to nothing.
func (l *inbox) encode(d parley.Departure) ([]byte, error) {
	d = l.withFolderNames(d)
	if dialect.IsCutID(d.Recipient) {
		return nil, parley.Errorf(parley.Unavailable, "the folder of %s is not there, and its name is longer than the id tells", d.Recipient).
			Suggest("make its inbox in the tree")
	}
	raw, err := dialect.Encode(l.dialect, d)
	if err != nil || len(raw) <= routedLimit {
		return raw, err
	}
	name := d.Name + ".txt"
	raw, err = dialect.EncodeWithin(l.dialect, d, routedLimit, path.Join(artifacts, name))
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

// before makes room in a full inbox. What made room is told to the hub first: a crash in between may leave the file for a while, and
// never lets a message vanish that its sender takes for read.
func (l *inbox) before(ctx context.Context, d parley.Departure) error {
	files, err := l.mail(l.place(d))
	if err != nil || len(files) < inboxDepth {
		return err
	}
	oldest, err := l.oldest(ctx, d, files)
	if err != nil {
		return err
	}
	if err := l.evicted(ctx, oldest.path); err != nil {
		return err
	}
	l.say("WARN: Inbox overflow for %s (%d messages), evicted oldest: %s", l.folderOf(d.Recipient), len(files), strings.TrimSuffix(oldest.name, ".json"))
	if err := l.tree.consume(oldest); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mail is what is in an inbox: each name with its time.
type mail struct {
	name string
	at   time.Time
}

// mail lists an inbox, the oldest first. Where a file server counts seconds, names break the ties.
func (l *inbox) mail(dir string) (list []mail, err error) {
	err = l.tree.inFolder(dir, func(f *folder) error {
		return f.list(func(names []string) error {
			for _, name := range names {
				info, err := f.stat(name)
				if err == nil && info.Mode().IsRegular() && path.Ext(name) == ".json" {
					list = append(list, mail{name, info.ModTime()})
				}
			}
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.SortFunc(list, func(a, b mail) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) })
	return list, err
}

// oldest returns the file to evict. A document that has not arrived yet must arrive first. It skips files that can never be
// read.
func (l *inbox) oldest(ctx context.Context, d parley.Departure, files []mail) (file, error) {
	dir := l.place(d)
	for _, m := range files {
		found, err := l.tree.read(path.Join(dir, m.name), l.limit)
		if refusal(err) != nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = l.mustHaveArrived(ctx, d, found)
		}
		return found, err
	}
	return file{}, parley.Errorf(parley.Unavailable, "%s is full of files that are no messages", dir).Suggest("remove them")
}

// mustHaveArrived returns an error if the hub does not have a document yet.
func (l *inbox) mustHaveArrived(ctx context.Context, d parley.Departure, f file) error {
	files := []parley.BridgeFile{{Path: f.path, Digest: f.digest}, {Path: path.Join(l.inboxOf(d.Recipient), f.name), Digest: f.digest}}
	unknown, err := l.hub.Unknown(ctx, l.id, files)
	if err != nil || len(unknown) < len(files) {
		return err
	}
	refused, err := l.tree.wasRefused(f)
	if err == nil && !refused {
		err = parley.Errorf(parley.Unavailable, "%s is the oldest in a full inbox, and has not arrived yet", f.path)
	}
	return err
}

// after keeps the sequence of a sender that the hub answers for. Scripts keep their own.
func (l *inbox) after(_ context.Context, d parley.Departure) error {
	if d.Sequence == 0 || l.lastView().inTree[d.Message.From] {
		return nil
	}
	dir := path.Join(agentsFolder, l.folderOf(d.Message.From), sequencesFolder)
	return l.tree.inMadeFolder(dir, func(f *folder) error {
		return f.replace(l.folderOf(d.Recipient), []byte(strconv.FormatInt(d.Sequence, 10)+"\n"))
	})
}

func (l *inbox) tick(context.Context, bridgeView) error { return nil }

func (l *inbox) watched() []string { return []string{agentsFolder} }

func (l *inbox) stop(context.Context, bridgeView) error { return nil }
