package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// heartbeat is what the bridge knows of the presence file of a script.
type heartbeat struct {
	digest  string // of the contents that the bridge last reported
	mtime   time.Time
	away    bool // the bridge has reported the agent as away
	watcher watcherProcess
}

// watcherProcess is what the bridge knows of the process that a presence file names. A file does not name the machine.
type watcherProcess struct {
	alive    int       // the process id that was last seen on this machine
	deadAt   time.Time // the time of the file when its process was first found dead
	untraced bool      // the file was renewed after that, so its processes are on another machine
}

// isDead reports whether the process that a file names is dead. On a file server only a process that was seen on this machine
// counts, because others may be on another machine. A file that is renewed although its process is dead names a process on
// another machine.
func (w *watcherProcess) isDead(pid int, mtime time.Time, remote bool) bool {
	switch {
	case pid <= 0:
		return false
	case !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH):
		*w = watcherProcess{alive: pid}
		return false
	case w.untraced || remote && w.alive != pid:
		return false
	case w.deadAt.IsZero():
		w.deadAt = mtime
	case !w.deadAt.Equal(mtime):
		w.untraced = true
	}
	return !w.untraced
}

// scriptPresence is a presence file of a script. Fields that cannot be read do not count.
type scriptPresence struct {
	state    parley.State
	substate parley.Substate
	at       time.Time // zero: the file has none
	pid      int
	interval int64 // in seconds; 0: the file has none
}

// parsePresence parses a presence file. It returns false if the file is not a JSON object.
func parsePresence(raw []byte) (s scriptPresence, ok bool) {
	var parsed map[string]any
	if json.Unmarshal(dialect.TrimByteOrderMark(raw), &parsed) != nil || parsed == nil {
		return s, false
	}
	state, _ := parsed["state"].(string)
	substate, _ := parsed["substate"].(string)
	pid, _ := parsed["watcher_pid"].(float64)
	s = scriptPresence{state: parley.State(state), substate: parley.Substate(substate), at: parseTime(parsed["timestamp"]), pid: int(pid)}
	for _, field := range []string{"interval", "heartbeat_interval"} {
		if s.interval == 0 {
			s.interval = parseSeconds(parsed[field])
		}
	}
	return s, true
}

// parseTime parses a time: text, or a number of seconds or milliseconds. It returns zero for anything else.
func parseTime(value any) (at time.Time) {
	const millisFrom = 1e11 // seconds until the year 5138
	switch value := value.(type) {
	case string:
		at, _ = dialect.ParseTime(value)
	case float64:
		if value >= millisFrom {
			value /= 1000
		}
		if value > 0 && value < millisFrom {
			at = time.UnixMilli(int64(value * 1000))
		}
	}
	return at
}

// parseSeconds parses a duration: a number of seconds, or text like 90s. It returns 0 for anything else.
func parseSeconds(value any) int64 {
	switch value := value.(type) {
	case float64:
		return max(0, int64(min(value, 1<<31)))
	case string:
		length, _ := time.ParseDuration(value)
		return max(0, int64(length/time.Second))
	default:
		return 0
	}
}

// newBeat returns the beat to report for an agent. It returns false unless something changed: the file was written or is now too
// old, or its process is dead.
func (p *presence) newBeat(f *folder, id string) (parley.Beat, bool) {
	found, err := f.read(id+".json", presenceSize)
	if err != nil {
		p.warnUnreadable(f, id, err)
		return parley.Beat{}, false
	}
	last := p.heartbeats[id]
	parsed, ok := parsePresence(found.raw)
	if p.warnBroken(id, found, parsed, ok); !ok {
		parsed = scriptPresence{state: parley.Awake} // a script may still be writing the file
	}
	b := parley.Beat{Agent: id, State: parsed.state, Substate: parsed.substate, At: parsed.beatTime(found.mtime.Add(-p.ahead)), Interval: parsed.interval}
	away := parsed.state != parley.Awake || p.now().Sub(b.At) >= b.PresentFor() || last.watcher.isDead(parsed.pid, found.mtime, p.tree.remote)
	news := away != last.away || ok && (found.digest != last.digest || !found.mtime.Equal(last.mtime))
	if ok || away {
		last.digest, last.mtime, last.away = found.digest, found.mtime, away
	}
	p.heartbeats[id] = last
	if !ok && !away || !news {
		return parley.Beat{}, false
	}
	if away {
		b.State, b.Substate = parley.Offline, ""
	}
	return b, true
}

// beatTime returns the time that the file gives, but not later than the file was written.
func (s scriptPresence) beatTime(written time.Time) time.Time {
	if s.at.IsZero() || s.at.After(written) {
		return written
	}
	return s.at
}

// warnUnreadable logs, once for each state of the file, that a presence file cannot be read.
func (p *presence) warnUnreadable(f *folder, id string, err error) {
	if errors.Is(err, errReplaced) {
		return
	}
	if errors.Is(err, fs.ErrNotExist) {
		delete(p.warned, id)
		return
	}
	reason := err.Error()
	if refused := refusalOf(err); refused != nil {
		reason = refused.Message
	} else {
		reason = presenceDir + "/" + id + ".json: " + reason
	}
	d := f.describe(id + ".json")
	p.warnOnce(id, fileVersionOf(d.name, d.size, d.mtime), "WARN: ignoring the presence file of %s: %s", id, reason)
}

// warnBroken logs, once for each state of the file, that a presence file has no valid contents. It waits a few seconds if the
// file is not a JSON object, because a script may still be writing it.
func (p *presence) warnBroken(id string, f file, parsed scriptPresence, ok bool) {
	m := fileVersionOf(f.name, f.size, f.mtime)
	switch {
	case !ok && p.partial[id].version != m:
		p.partial[id] = unfinished{m, p.now()}
	case !ok && p.now().Sub(p.partial[id].since) >= unfinishedFor:
		p.warnOnce(id, m, "WARN: ignoring %s: it is not a JSON object", f.path)
	case ok && parsed.state != parley.Awake && parsed.state != parley.Offline:
		p.warnOnce(id, m, "WARN: %s has the state %q, which is neither AWAKE nor OFFLINE; it counts as OFFLINE", f.path, string(parsed.state))
	case ok:
		delete(p.warned, id)
		delete(p.partial, id)
	}
}

// unfinished is the state of a file that could not be parsed, and since when.
type unfinished struct {
	version fileVersion
	since   time.Time
}

// warnOnce logs a problem of a presence file, unless it was the last one logged and the file is unchanged.
func (p *presence) warnOnce(id string, version fileVersion, format string, args ...any) {
	if p.warned[id] == version {
		return
	}
	p.warned[id] = version
	p.logf(format, args...)
}
