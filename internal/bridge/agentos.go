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

// documentSize is the size limit of a document in a format that sets no limit. It fits a message body, where JSON may write six
// bytes for one, and the envelope.
const documentSize = 6*256<<10 + 64<<10

// agentOSLayout is the layout of a tree of channels in the Multi-Agent OS format. The bridge never moves, changes or deletes its files.
type agentOSLayout struct {
	layoutBase
	start    *treeStart
	presence presence
	runs     runLog
	skipped  map[string]bool // directories that the log already mentions
}

func newAgentOSLayout(base layoutBase) *agentOSLayout {
	return &agentOSLayout{layoutBase: base, runs: runLog{layoutBase: base}, skipped: map[string]bool{}, presence: presence{
		layoutBase: base, written: map[string]writtenPresence{}, heartbeats: map[string]heartbeat{}, warned: map[string]fileVersion{}, partial: map[string]unfinished{}, channels: agentChannels{last: map[string]string{}},
	}}
}

func (a *agentOSLayout) logFile() string { return "logs/parley.log" }

// inlets returns the mapped channels that exist, and an error about the others. Documents that lie in a channel at the first scan
// are history.
func (a *agentOSLayout) inlets(view bridgeView) ([]inlet, error) {
	channels, failed := a.channels(view)
	if len(channels) == 0 && failed != nil {
		return nil, failed
	}
	channels, closed, err := a.listable(channels)
	failed = errors.Join(failed, err)
	if a.start, err = loadStart(a.tree, a.start, view.bridge, channels, closed); err != nil {
		return nil, err
	}
	a.presence.channels.directories = channels
	var found []inlet
	for _, c := range channels {
		found = append(found, inlet{path: "channels/" + c, channel: c, byName: true, fixed: true, limit: documentSize})
	}
	return found, failed
}

// channels returns the mapped directories, or all directories that may be channels if none is mapped. It creates missing mapped
// directories. If one of them cannot be used, it still returns the others, with an error.
func (a *agentOSLayout) channels(view bridgeView) (names []string, err error) {
	for _, c := range view.bridge.Channels {
		if made := a.tree.inMadeFolder("channels/"+c, func(*folder) error { return nil }); made != nil {
			err = errors.Join(err, made)
			a.skipLink(c)
		} else {
			names = append(names, c)
		}
	}
	if len(view.bridge.Channels) > 0 {
		return names, err
	}
	return a.allChannels()
}

// listable separates channels that can be listed from channels that cannot, and returns the errors. It does not check a channel
// that already has a start.
func (a *agentOSLayout) listable(channels []string) (open, closed []string, err error) {
	for _, c := range channels {
		if a.start != nil && len(a.start.withoutStart([]string{c})) == 0 {
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

// errEnough ends a listing early.
var errEnough = errors.New("enough was listed")

func (a *agentOSLayout) allChannels() ([]string, error) {
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

// skipFolder reports whether a directory cannot be a channel, and logs such a directory once. It does not log hidden ones.
func (a *agentOSLayout) skipFolder(name string) bool {
	if parley.CheckKnownChannelName(name) == nil {
		return false
	}
	if !strings.HasPrefix(name, ".") && !a.skipped[name] {
		a.skipped[name] = true
		a.logf("WARN: ignoring channels/%s: the name of a channel is 1 to 64 of a-z, 0-9, _ and -, and begins with a letter or digit", name)
	}
	return true
}

// skipLink logs, once for each link, that a channel is a symbolic link. The bridge reads nothing through a link.
func (a *agentOSLayout) skipLink(name string) {
	info, err := a.tree.root.Lstat("channels/" + name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 || strings.HasPrefix(name, ".") {
		return
	}
	if key := name + info.ModTime().String(); !a.skipped[key] {
		a.skipped[key] = true
		a.logf("WARN: ignoring channels/%s, which is a symbolic link: make it a directory", name)
	}
}

// complete sets the channel of a document, and whether the document is history.
func (a *agentOSLayout) complete(in inlet, f file, arrival *parley.Arrival) error {
	if arrival.Channel != "" && arrival.Channel != in.channel {
		arrival.Warnings = append(arrival.Warnings, "session_id is "+arrival.Channel+", but the hub uses the directory, which is "+in.channel)
	}
	arrival.Channel = in.channel
	if arrival.History = a.start.isHistory(in.channel, f, arrival.At); !arrival.History {
		a.presence.channels.note(arrival.To, in.channel)
	}
	return nil
}

func (a *agentOSLayout) settle(inlet, file, outcome) error { return nil }

func (a *agentOSLayout) encode(d parley.Departure) ([]byte, error) {
	return dialect.Encode(dialect.AgentOS, d)
}

func (a *agentOSLayout) targetFolder(d parley.Departure) string { return "channels/" + d.Channel }

func (a *agentOSLayout) beforeWrite(context.Context, parley.Departure) error { return nil }

func (a *agentOSLayout) afterWrite(_ context.Context, d parley.Departure) error {
	a.presence.channels.note(d.Message.From, d.Channel)
	return nil
}

// wasTaken always returns false, because a document in a channel is done once it is in place.
func (a *agentOSLayout) wasTaken(parley.Departure) (bool, error) { return false, nil }

func (a *agentOSLayout) tick(ctx context.Context, view bridgeView) error {
	return errors.Join(a.presence.reportPresence(ctx, view), a.presence.writePresence(view), a.runs.write(ctx, view.bridge, a.presence.channels.directories))
}

func (a *agentOSLayout) watched() []string { return []string{"channels", presenceDir} }

func (a *agentOSLayout) stop(_ context.Context, view bridgeView) error {
	return a.presence.writeOffline(view)
}
