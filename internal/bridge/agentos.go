package bridge

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// documentSize is the size limit of a document in a format that sets none: a body, which JSON may write with six bytes for
// one, and its envelope.
const documentSize = 6*256<<10 + 64<<10

// agentOS lays out a tree of channels in the Multi-Agent OS format. Its files are never moved, changed or deleted.
type agentOS struct {
	layoutBase
	beginning *beginning
	presence  presence
	runs      runLog
	skipped   map[string]bool // directories that a line was said about
}

func newAgentOS(k layoutBase) *agentOS {
	return &agentOS{layoutBase: k, runs: runLog{layoutBase: k}, skipped: map[string]bool{}, presence: presence{
		layoutBase: k, written: map[string]writtenSignal{}, heartbeats: map[string]heartbeat{}, warned: map[string]mark{}, partial: map[string]unfinished{}, places: agentChannels{last: map[string]string{}},
	}}
}

func (a *agentOS) logFile() string { return "logs/parley.log" }

// inlets are the channels that are mapped and there, with why some are not. What lies in them when they are first seen is history.
func (a *agentOS) inlets(w bridgeView) ([]inlet, error) {
	channels, failed := a.channels(w)
	if len(channels) == 0 && failed != nil {
		return nil, failed
	}
	channels, closed, err := a.listable(channels)
	failed = errors.Join(failed, err)
	if a.beginning, err = loadBeginning(a.tree, a.beginning, w.bridge, channels, closed); err != nil {
		return nil, err
	}
	a.presence.places.directories = channels
	var found []inlet
	for _, c := range channels {
		found = append(found, inlet{path: "channels/" + c, channel: c, byName: true, fixed: true, limit: documentSize})
	}
	return found, failed
}

// channels are the directories that are mapped, or all that may be channels. Mapped ones are made where they are missing; one that
// cannot be used keeps the others from nothing.
func (a *agentOS) channels(w bridgeView) (names []string, err error) {
	for _, c := range w.bridge.Channels {
		if made := a.tree.inMadeFolder("channels/"+c, func(*folder) error { return nil }); made != nil {
			err = errors.Join(err, made)
			a.skipLink(c)
		} else {
			names = append(names, c)
		}
	}
	if len(w.bridge.Channels) > 0 {
		return names, err
	}
	return a.allChannels()
}

// listable separates channels that can be listed from those that cannot, and returns the errors. A channel that has a start
// is not checked here.
func (a *agentOS) listable(channels []string) (open, closed []string, err error) {
	for _, c := range channels {
		if a.beginning != nil && len(a.beginning.withoutStart([]string{c})) == 0 {
			open = append(open, c)
			continue
		}
		failed := a.tree.inFolder("channels/"+c, func(f *folder) error {
			return f.list(func(names []string) error {
				if len(names) > 0 {
					return errEnough
				}
				return nil
			})
		})
		if failed == nil || errors.Is(failed, errEnough) {
			open = append(open, c)
		} else {
			closed, err = append(closed, c), errors.Join(err, failed)
		}
	}
	return open, closed, err
}

// errEnough ends a listing.
var errEnough = errors.New("enough was listed")

func (a *agentOS) allChannels() ([]string, error) {
	var names []string
	var links []string
	err := a.tree.inFolder("channels", func(f *folder) (err error) {
		names, links, err = f.foldersAndLinks()
		return err
	})
	for _, name := range links {
		a.skipLink(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	names = slices.DeleteFunc(names, a.skipFolder)
	slices.Sort(names)
	return names, nil
}

// skipFolder reports whether a directory cannot be a channel, and logs that once. It does not log hidden directories.
func (a *agentOS) skipFolder(name string) bool {
	if parley.CheckKnownChannelName(name) == nil {
		return false
	}
	if !strings.HasPrefix(name, ".") && !a.skipped[name] {
		a.skipped[name] = true
		a.say("WARN: channels/%s is left alone: the name of a channel is 1 to 64 of a-z, 0-9, _ and -, and begins with a letter or digit", name)
	}
	return true
}

// skipLink logs, once for each link, that a channel is a symbolic link. The bridge reads nothing through one.
func (a *agentOS) skipLink(name string) {
	info, err := a.tree.root.Lstat("channels/" + name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || strings.HasPrefix(name, ".") {
		return
	}
	if key := name + info.ModTime().String(); !a.skipped[key] {
		a.skipped[key] = true
		a.say("WARN: channels/%s is a symbolic link and is left alone: make it a directory", name)
	}
}

// complete sets the channel of a document and whether it is history.
func (a *agentOS) complete(in inlet, f file, arrival *parley.Arrival) error {
	if arrival.Channel != "" && arrival.Channel != in.channel {
		arrival.Warnings = append(arrival.Warnings, "session_id is "+arrival.Channel+": the directory counts, which is "+in.channel)
	}
	arrival.Channel = in.channel
	if arrival.History = a.beginning.isHistory(in.channel, f, arrival.At); !arrival.History {
		a.presence.places.note(arrival.To, in.channel)
	}
	return nil
}

func (a *agentOS) settle(inlet, file, outcome) error { return nil }

func (a *agentOS) encode(d parley.Departure) ([]byte, error) {
	return dialect.Encode(dialect.AgentOS, d)
}

func (a *agentOS) place(d parley.Departure) string { return "channels/" + d.Channel }

func (a *agentOS) before(context.Context, parley.Departure) error { return nil }

func (a *agentOS) after(_ context.Context, d parley.Departure) error {
	a.presence.places.note(d.Message.From, d.Channel)
	return nil
}

// taken never holds: that it is in place settles it.
func (a *agentOS) taken(parley.Departure) (bool, error) { return false, nil }

func (a *agentOS) tick(ctx context.Context, w bridgeView) error {
	return errors.Join(a.presence.reportPresence(ctx, w), a.presence.writePresence(w), a.runs.write(ctx, w.bridge, a.presence.places.directories))
}

func (a *agentOS) watched() []string { return []string{"channels", presenceDir} }

func (a *agentOS) stop(_ context.Context, w bridgeView) error { return a.presence.writeOffline(w) }
