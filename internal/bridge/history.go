package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

const (
	startFile     = "added"
	listingFile   = "added.now" // exists while the channels are listed for the first time
	startFileSize = 64 << 20    // the file names what was in the channels
	// lateListing is how long the client of a file server may not list an existing name.
	lateListing = time.Minute
	// everyChannel stands for all channels of a bridge that maps no channels by name.
	everyChannel = "*"
)

// treeStart distinguishes documents that were in the channels when the bridge was added, which are history, from later ones. Its
// times come from the clock that stamps files. A channel that is mapped later has a start of its own.
type treeStart struct {
	Added    time.Time               `json:"added"` // when the bridge was added; the start of another bridge does not count
	Channels map[string]channelStart `json:"channels"`
	Closed   []string                `json:"closed,omitempty"` // channels that could not be listed at first; each gets a start when it can be listed

	replay *time.Time
	tree   *tree
}

// channelStart is when a channel was first scanned. A file that was changed well before that is history. A younger file is
// history if Recent lists it: some file systems count whole seconds, so a clock alone cannot tell.
type channelStart struct {
	At     time.Time           `json:"at"`
	Recent map[string][]string `json:"recent,omitempty"` // by channel
	// Renames says that a rename counts as a change too, because a file may be renamed into the channel long after it was
	// written. Older programs counted only writes.
	Renames bool `json:"renames,omitempty"`
}

// lastChange returns when a file was last changed, by the rule of the start.
func (s channelStart) lastChange(t *tree, info fs.FileInfo) time.Time {
	if at := t.changeTime(info); s.Renames && at.After(info.ModTime()) {
		return at
	}
	return info.ModTime()
}

// loadStart returns the start of a tree for the channels that can be listed. It creates a missing start once and stores it in
// the tree.
func loadStart(t *tree, start *treeStart, b parley.Bridge, channels, closed []string) (*treeStart, error) {
	if len(b.Channels) == 0 {
		channels = append(slices.Clip(channels), everyChannel)
	}
	if start == nil || len(start.withoutStart(channels)) > 0 {
		err := t.inMadeFolder(ownFolder, func(f *folder) (err error) {
			if start, err = readStart(f); err != nil {
				return err
			}
			if !start.Added.Equal(b.CreatedAt) {
				start = &treeStart{Added: b.CreatedAt, Channels: map[string]channelStart{}}
			}
			if missing := start.withoutStart(channels); len(missing) > 0 {
				if err := start.addStarts(t, f, missing, closed); err != nil {
					return err
				}
			}
			return f.remove(listingFile)
		})
		if err != nil {
			return nil, err
		}
	}
	start.replay, start.tree = b.ReplaySince, t
	return start, nil
}

func readStart(f *folder) (*treeStart, error) {
	b := &treeStart{Channels: map[string]channelStart{}}
	kept, err := f.read(startFile, startFileSize)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(kept.raw) == 0 {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(kept.raw, b); err != nil {
		return nil, parley.Errorf(parley.Internal, "cannot read %s/%s: %w", ownFolder, startFile, err).
			Suggest("remove the bridge and that file, and add the bridge again: files that exist then are history")
	}
	return b.normalized(), nil
}

// normalized repairs a start that somebody edited: it fills in a missing map and sorts the names.
func (b *treeStart) normalized() *treeStart {
	if b.Channels == nil {
		b.Channels = map[string]channelStart{}
	}
	for _, s := range b.Channels {
		for _, names := range s.Recent {
			slices.Sort(names)
		}
	}
	return b
}

// withoutStart returns the channels that have no start yet.
func (b *treeStart) withoutStart(channels []string) (list []string) {
	_, every := b.Channels[everyChannel]
	for _, c := range channels {
		if _, has := b.Channels[c]; !has && (!every || slices.Contains(b.Closed, c)) {
			list = append(list, c)
		}
	}
	return list
}

// addStarts creates the start of channels that have none. It stores the time first. Without that, a bridge that is killed during
// the listing would take later files for history.
func (b *treeStart) addStarts(t *tree, f *folder, missing, closed []string) error {
	at, resumed, err := b.listingTime(f)
	if err != nil {
		return err
	}
	first := channelStart{At: at, Recent: map[string][]string{}, Renames: true}
	for _, c := range missing {
		if c == everyChannel {
			continue
		}
		if first.Recent[c], err = first.recentNames(t, c, resumed); err != nil {
			return err
		}
	}
	b.add(missing, closed, first)
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return f.replace(startFile, raw)
}

// add gives channels a start: one start for all channels, or one for each.
func (b *treeStart) add(channels, closed []string, s channelStart) {
	if slices.Contains(channels, everyChannel) {
		b.Channels[everyChannel], b.Closed = s, closed
		return
	}
	for _, c := range channels {
		b.Channels[c] = channelStart{At: s.At, Recent: map[string][]string{c: s.Recent[c]}, Renames: s.Renames}
	}
	b.Closed = slices.DeleteFunc(b.Closed, func(c string) bool { return slices.Contains(channels, c) })
}

// listingTime returns when the listing began, by the clock that stamps files, and whether an earlier listing was
// interrupted.
func (b *treeStart) listingTime(f *folder) (at time.Time, resumed bool, err error) {
	added := b.Added.Format(time.RFC3339Nano)
	kept, err := f.read(listingFile, presenceSize)
	if resumed = err == nil && string(kept.raw) == added; resumed {
		return kept.mtime, true, nil
	}
	if err := f.replace(listingFile, []byte(added)); err != nil {
		return at, false, err
	}
	info, err := f.stat(listingFile)
	if err != nil {
		return at, false, err
	}
	return info.ModTime(), false, nil
}

// recentNames lists the names in a channel for which the time alone does not tell whether they are history. After an interrupted
// listing it leaves out younger files, because they may have arrived since.
func (s channelStart) recentNames(t *tree, channel string, resumed bool) ([]string, error) {
	var names []string
	err := t.inFolder("channels/"+channel, func(f *folder) error {
		return f.list(func(some []string) error {
			for _, name := range some {
				info, err := f.root.Lstat(name)
				if err != nil || !candidate(name) {
					continue
				}
				last := s.lastChange(t, info)
				if !last.Before(s.At.Add(-lateListing)) && (!resumed || last.Before(s.At.Truncate(time.Second))) {
					names = append(names, name)
				}
			}
			return nil
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

// isHistory reports whether a document was in its channel at the start, and is older than the bridge's replay time.
func (b *treeStart) isHistory(channel string, f file, written time.Time) bool {
	if b.replay != nil && !written.Before(*b.replay) {
		return false
	}
	s, ok := b.Channels[channel]
	if !ok {
		s = b.Channels[everyChannel]
	}
	last := f.mtime
	if f.info != nil {
		last = s.lastChange(b.tree, f.info)
	}
	if last.Before(s.At.Add(-lateListing)) {
		return true
	}
	_, listed := slices.BinarySearch(s.Recent[channel], f.name)
	return listed
}
