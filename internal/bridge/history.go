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
	beginningFile = "added"
	listingFile   = "added.now" // there while the beginning is made
	beginningSize = 64 << 20    // it names what lay there
	// lateListing is how long a file server's client may not show a name that is there.
	lateListing = time.Minute
	// everyChannel stands for the channels of a bridge to which none was named.
	everyChannel = "*"
)

// beginning tells documents that were in the channels when the bridge was added from later ones. Times are those of the
// clock that stamps files. A channel that is mapped later has a start of its own.
type beginning struct {
	Added    time.Time               `json:"added"` // when the bridge was; one of another tells nothing
	Channels map[string]channelStart `json:"channels"`
	Closed   []string                `json:"closed,omitempty"` // could not be listed when all began: each begins when it can be

	replay *time.Time
	tree   *tree
}

// channelStart is when a channel was first scanned. A file that was changed well before that is history. A younger file is
// history if Recent lists it: some file systems count whole seconds, so a clock alone cannot tell.
type channelStart struct {
	At     time.Time           `json:"at"`
	Recent map[string][]string `json:"recent,omitempty"` // by channel
	// Renames says that a rename counts as a change, and not only writing: somebody may rename a file into the channel long
	// after it was written. Older programs counted writing alone.
	Renames bool `json:"renames,omitempty"`
}

// lastChange returns when a file was last changed, by the rule of the start.
func (s channelStart) lastChange(t *tree, info fs.FileInfo) time.Time {
	if at := t.changeTime(info); s.Renames && at.After(info.ModTime()) {
		return at
	}
	return info.ModTime()
}

// loadBeginning returns the beginning of a tree for the channels that can be listed. It is created once and survives
// restarts.
func loadBeginning(t *tree, before *beginning, b parley.Bridge, channels, closed []string) (*beginning, error) {
	if len(b.Channels) == 0 {
		channels = append(slices.Clip(channels), everyChannel)
	}
	if before == nil || len(before.withoutStart(channels)) > 0 {
		err := t.inMadeFolder(ownFolder, func(f *folder) (err error) {
			if before, err = readBeginning(f); err != nil {
				return err
			}
			if !before.Added.Equal(b.CreatedAt) {
				before = &beginning{Added: b.CreatedAt, Channels: map[string]channelStart{}}
			}
			if lacking := before.withoutStart(channels); len(lacking) > 0 {
				if err := before.addStarts(t, f, lacking, closed); err != nil {
					return err
				}
			}
			return f.remove(listingFile)
		})
		if err != nil {
			return nil, err
		}
	}
	before.replay, before.tree = b.ReplaySince, t
	return before, nil
}

func readBeginning(f *folder) (*beginning, error) {
	b := &beginning{Channels: map[string]channelStart{}}
	kept, err := f.read(beginningFile, beginningSize)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(kept.raw) == 0 {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(kept.raw, b); err != nil {
		return nil, parley.Errorf(parley.Internal, "%s/%s cannot be read: %w", ownFolder, beginningFile, err).
			Suggest("remove the bridge and that file, and add the bridge again: what is there then is history")
	}
	return b.normalized(), nil
}

// normalized repairs a beginning that somebody edited: it fills in a missing map and sorts the names.
func (b *beginning) normalized() *beginning {
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
func (b *beginning) withoutStart(channels []string) (list []string) {
	_, every := b.Channels[everyChannel]
	for _, c := range channels {
		if _, has := b.Channels[c]; !has && (!every || slices.Contains(b.Closed, c)) {
			list = append(list, c)
		}
	}
	return list
}

// addStarts creates the start of channels that have none. It stores the time first, so that a bridge that is killed during
// the listing does not take later files for history.
func (b *beginning) addStarts(t *tree, f *folder, lacking, closed []string) error {
	at, again, err := b.listingTime(f)
	if err != nil {
		return err
	}
	first := channelStart{At: at, Recent: map[string][]string{}, Renames: true}
	for _, c := range lacking {
		if c == everyChannel {
			continue
		}
		if first.Recent[c], err = first.recentNames(t, c, again); err != nil {
			return err
		}
	}
	b.add(lacking, closed, first)
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return f.replace(beginningFile, raw)
}

// add gives channels a start: one for all, or each its own.
func (b *beginning) add(channels, closed []string, s channelStart) {
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
func (b *beginning) listingTime(f *folder) (at time.Time, again bool, err error) {
	added := b.Added.Format(time.RFC3339Nano)
	kept, err := f.read(listingFile, presenceSize)
	if again = err == nil && string(kept.raw) == added; again {
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

// recentNames lists the names in a channel whose time alone does not tell whether they are history. After an interrupted
// listing it leaves out younger files, which may have arrived since.
func (s channelStart) recentNames(t *tree, channel string, again bool) ([]string, error) {
	var names []string
	err := t.inFolder("channels/"+channel, func(f *folder) error {
		return f.list(func(some []string) error {
			for _, name := range some {
				info, err := f.root.Lstat(name)
				if err != nil || !candidate(name) {
					continue
				}
				last := s.lastChange(t, info)
				if !last.Before(s.At.Add(-lateListing)) && (!again || last.Before(s.At.Truncate(time.Second))) {
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

// isHistory reports whether a document was in its channel at the beginning, and is older than the bridge's replay time.
func (b *beginning) isHistory(channel string, f file, written time.Time) bool {
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
	_, lay := slices.BinarySearch(s.Recent[channel], f.name)
	return lay
}
