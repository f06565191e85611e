package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
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

// beginning tells what lay in the channels when the bridge was added from what has come since. Times are those of the clock that
// stamps files. One channel may be mapped later than another, and has a beginning of its own.
type beginning struct {
	Channels map[string]start `json:"channels"`

	replay *time.Time
}

// start is when a channel was first looked at. What is a good deal older lay there; what is younger lay there if it is Recent: the
// names that were seen then. A clock alone could not tell, with steps of a second, and files that were renamed into place
// long after they were written.
type start struct {
	At     time.Time           `json:"at"`
	Recent map[string][]string `json:"recent,omitempty"` // by channel
}

// begin is the beginning of a tree. It is made once, and lasts: what was history or not is so after a restart, too.
func begin(t *tree, before *beginning, b parley.Bridge, channels []string) (*beginning, error) {
	mapped := b.Channels
	if len(mapped) == 0 {
		mapped = []string{everyChannel}
	}
	if before == nil || before.lacks(mapped) {
		err := t.inMade(own, func(f *folder) (err error) {
			if before, err = readBeginning(f); err != nil {
				return err
			}
			if before.lacks(mapped) {
				if err := before.extend(t, f, mapped, channels); err != nil {
					return err
				}
			}
			return f.remove(listingFile)
		})
		if err != nil {
			return nil, err
		}
	}
	before.replay = b.ReplaySince
	return before, nil
}

func readBeginning(f *folder) (*beginning, error) {
	b := &beginning{Channels: map[string]start{}}
	kept, err := f.read(beginningFile, beginningSize)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(kept.raw) == 0 {
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(kept.raw, b); err != nil {
		return nil, parley.Errorf(parley.Internal, "%s/%s cannot be read: %w", own, beginningFile, err).
			Suggest("remove the bridge and that file, and add the bridge again: what is there then is history")
	}
	return b.whole(), nil
}

// whole is a beginning as it was written, whoever has changed it since.
func (b *beginning) whole() *beginning {
	if b.Channels == nil {
		b.Channels = map[string]start{}
	}
	for _, s := range b.Channels {
		for _, names := range s.Recent {
			slices.Sort(names)
		}
	}
	return b
}

// lacks says whether some of the channels have no beginning yet. Where all are mapped, none lacks one.
func (b *beginning) lacks(mapped []string) bool {
	_, every := b.Channels[everyChannel]
	return !every && slices.ContainsFunc(mapped, func(c string) bool { _, ok := b.Channels[c]; return !ok })
}

// extend makes the beginning of channels that have none. The time is taken and kept first: a bridge that is killed while it lists
// what is there does not take what comes meanwhile for old.
func (b *beginning) extend(t *tree, f *folder, mapped, channels []string) error {
	at, again, err := began(f)
	if err != nil {
		return err
	}
	s := start{At: at, Recent: map[string][]string{}}
	for _, c := range channels {
		if _, has := b.Channels[c]; has {
			continue
		}
		if s.Recent[c], err = recent(t, c, at, again); err != nil {
			return err
		}
	}
	for _, c := range mapped {
		if _, has := b.Channels[c]; !has {
			b.Channels[c] = start{At: at, Recent: pick(s.Recent, c)}
		}
	}
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return f.replace(beginningFile, raw)
}

func pick(recent map[string][]string, channel string) map[string][]string {
	if channel == everyChannel {
		return recent
	}
	return map[string][]string{channel: recent[channel]}
}

// began is the time at which the listing began, by the clock that stamps files, and whether it had begun before and was cut
// short.
func began(f *folder) (at time.Time, again bool, err error) {
	info, err := f.stat(listingFile)
	if again = err == nil; again {
		return info.ModTime(), true, nil
	}
	handle, _, err := f.openFile(listingFile, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return at, false, err
	}
	_, err = handle.WriteString("\n")
	if err = errors.Join(err, handle.Sync(), handle.Close(), f.sync()); err != nil {
		return at, false, err
	}
	info, err = f.stat(listingFile)
	if err != nil {
		return at, false, err
	}
	return info.ModTime(), false, nil
}

// recent lists the names that lie in a channel and are not so old that their time alone tells. In a listing that is made again,
// what is not older than the first is not counted: it may have come since.
func recent(t *tree, channel string, at time.Time, again bool) ([]string, error) {
	var names []string
	err := t.in("channels/"+channel, func(f *folder) error {
		return f.list(func(some []string) error {
			for _, name := range some {
				info, err := f.root.Lstat(name)
				if err != nil || !candidate(name) || info.ModTime().Before(at.Add(-lateListing)) {
					continue
				}
				if !again || info.ModTime().Before(at.Truncate(time.Second)) {
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

// history says whether a document lay in its channel at the beginning, and is none of those that the bridge was asked to play again.
func (b *beginning) history(channel string, f file, written time.Time) bool {
	if b.replay != nil && !written.Before(*b.replay) {
		return false
	}
	s, ok := b.Channels[channel]
	if !ok {
		s = b.Channels[everyChannel]
	}
	if f.mtime.Before(s.At.Add(-lateListing)) {
		return true
	}
	_, lay := slices.BinarySearch(s.Recent[channel], f.name)
	return lay
}
