package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// engine is what all layouts have in common.
type engine struct {
	Options
	kit
	layout  layout
	dialect dialect.Dialect
	world   world // of the poller
	queues  map[string]*queue
	turn    []string // whose turn it is among the queues
	status  status
	wake    waker

	announced bool // the hub has heard that the first look is over

	mu       sync.Mutex
	channels []string        // that are there, for what departs; nil: nobody has looked yet
	here     context.Context // ends when they change
	leave    context.CancelFunc
	written  map[string]letter // by path: what is there of what has departed
}

func newEngine(o Options, b parley.Bridge, t *tree, ahead time.Duration) *engine {
	e := &engine{
		Options: o, dialect: dialect.Of(b.Layout), world: world{bridge: b}, queues: map[string]*queue{},
		wake: waker{up: make(chan struct{}, 1), changed: map[string]bool{}}, written: map[string]letter{},
	}
	e.status.added = b.CreatedAt
	e.here, e.leave = context.WithCancel(context.Background())
	e.kit = kit{tree: t, hub: o.Hub, id: b.ID, now: time.Now, ahead: ahead, say: e.tell, evicted: e.evict}
	e.layout = newLayout(b.Layout, e.kit)
	return e
}

// newLayout makes the layout that a bridge has.
func newLayout(l parley.Layout, k kit) layout {
	switch l {
	case parley.LayoutAgentOS:
		return newAgentOS(k)
	case parley.LayoutBlackboard:
		return newBlackboard(k)
	case parley.LayoutInbox:
		return newInbox(k)
	default:
		return nil
	}
}

// poll looks at the tree again and again until ctx is done or the bridge has ended. errAstray if the tree has gone, errLockLost if
// its lock has.
func (e *engine) poll(ctx context.Context) error {
	watching := e.watch(ctx)
	defer watching.stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for wait := backoff(0); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			e.wake.all()
		case <-e.wake.up:
		}
		switch err := e.look(ctx, watching); {
		case errors.Is(err, errEnded):
			return nil
		case errors.Is(err, errAstray), errors.Is(err, errLockLost):
			return err
		case e.status.trouble("hub", err):
			if wait == 0 && ctx.Err() == nil {
				e.Log.Warn("the hub is away, or takes nothing; files wait", "bridge", e.id, "error", err)
			}
			wait.grow(hubPause)
		default:
			if wait > 0 {
				e.Log.Info("the hub is back", "bridge", e.id)
			}
			wait = 0
		}
		timer.Reset(max(e.Poll, time.Duration(wait)))
	}
	return nil
}

var errEnded = errors.New("the bridge has ended")

// look takes what is new where something has changed, or everywhere. Between the parts of a long import the rest goes on.
func (e *engine) look(ctx context.Context, watching *watcher) error {
	changed, everywhere := e.wake.take()
	for folder := range changed {
		everywhere = everywhere || e.queues[folder] == nil // a new one, or one with something else than documents
	}
	for more := true; more; everywhere = true {
		if everywhere {
			if err := e.around(ctx, watching); err != nil {
				return err
			}
			if err := e.announce(ctx); err != nil {
				return err
			}
		}
		e.freshen(changed, everywhere)
		var err error
		if more, err = e.takeIn(ctx); err != nil {
			return err
		}
		if err := e.note(ctx); err != nil {
			return err
		}
	}
	return nil
}

// takeIn reads documents until none waits, or until it is time to look around again.
func (e *engine) takeIn(ctx context.Context) (more bool, err error) {
	for last := time.Now(); time.Since(last) < e.Poll; {
		more, err = e.round(ctx)
		e.progress()
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// announce tells the hub, once, that the first look is over. It does not wait for what that look has found to be imported.
func (e *engine) announce(ctx context.Context) error {
	if e.announced || !e.status.found.Load() {
		return nil
	}
	if err := e.note(ctx); err != nil {
		return err
	}
	if e.announced = true; e.Options.Looked != nil {
		e.Options.Looked()
	}
	return nil
}

// around is what is done at each poll besides reading documents.
func (e *engine) around(ctx context.Context, watching *watcher) error {
	if err := e.refresh(ctx); err != nil {
		return err
	}
	if err := e.tree.astray(); err != nil {
		return err
	}
	if err := e.tree.held(); err != nil {
		return err
	}
	e.status.trouble("written", e.lookAfter(ctx)) // before anything departs, which may evict what an earlier process wrote
	inlets, err := e.layout.inlets(e.world)
	if e.status.trouble("tree", err) && len(inlets) == 0 {
		return nil
	}
	e.open(inlets)
	e.status.found.Store(true)
	watching.follow(e.world.bridge.Root, slices.AppendSeq(e.layout.watched(), maps.Keys(e.queues)))
	e.status.trouble("mirror", e.layout.tick(ctx, e.world))
	return nil
}

// refresh asks the hub how things are. It ends a bridge that is removed or paused.
func (e *engine) refresh(ctx context.Context) error {
	view, err := e.hub.Bridge(ctx, e.id)
	another := !view.CreatedAt.Equal(e.world.bridge.CreatedAt) // it was removed, and its id is in use again
	if parley.CodeOf(err) == parley.BadInput || err == nil && (view.Paused || another) {
		return errEnded
	}
	if err != nil {
		return err
	}
	who, err := e.hub.Who(ctx)
	if err != nil {
		return err
	}
	e.world = newWorld(view, who)
	return nil
}

func newWorld(b parley.BridgeView, who []parley.Presence) world {
	w := world{bridge: b.Bridge, who: who, lives: map[string]bool{}, own: map[string]bool{}}
	for _, p := range who {
		switch {
		case p.Runtime != parley.RuntimeBridge || slices.Contains(b.Elsewhere, p.ID):
			w.own[p.ID] = true
		case slices.Contains(b.Agents, p.ID):
			w.lives[p.ID] = true
		}
	}
	return w
}

// open takes the inlets that there are now. What was read of those that stay is kept.
func (e *engine) open(inlets []inlet) {
	kept := map[string]*queue{}
	channels := []string{}
	e.turn = e.turn[:0]
	for _, in := range inlets {
		q := e.queues[in.path]
		if q == nil {
			q = newQueue()
		}
		q.inlet = in
		kept[in.path] = q
		e.turn = append(e.turn, in.path)
		if in.channel != "" {
			channels = append(channels, in.channel)
		}
	}
	for at := range e.queues {
		if kept[at] == nil {
			e.status.trouble(at, nil)
		}
	}
	e.queues = kept
	e.setChannels(channels)
}

// setChannels tells the other direction which channels are there.
func (e *engine) setChannels(channels []string) {
	slices.Sort(channels)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.channels == nil || !slices.Equal(channels, e.channels) {
		e.leave()
		e.channels = channels
		e.here, e.leave = context.WithCancel(context.Background())
	}
}

// note tells the hub how the bridge gets on.
func (e *engine) note(ctx context.Context) error {
	return e.hub.NoteBridge(ctx, e.id, e.status.looked(e.waiting()))
}

// levelOf takes apart a line as it stands in the log of a tree: how bad it is, and what it says.
func levelOf(line string) (slog.Level, string) {
	for word, level := range map[string]slog.Level{"ERROR: ": slog.LevelError, "WARN: ": slog.LevelWarn} {
		if said, found := strings.CutPrefix(line, word); found {
			return level, said
		}
	}
	return slog.LevelInfo, line
}

// tell writes a line for people.
func (e *engine) tell(format string, args ...any) {
	line := oneLine(fmt.Sprintf(format, args...))
	level, said := levelOf(line)
	e.Log.Log(context.Background(), level, said, slog.String("bridge", e.id))
	e.status.trouble("log", e.appendLog(e.layout.logFile(), time.Now().UTC().Format(stamp)+" "+line))
}

// appendLog adds a line to a log of the tree, which is made where it is missing.
func (e *engine) appendLog(at, line string) error {
	return e.tree.inMade(path.Dir(at), func(f *folder) error { return f.appendLine(path.Base(at), line) })
}

// backoff is a pause that grows with each failure.
type backoff time.Duration

func (b *backoff) grow(most time.Duration) {
	*b = min(2*cmp.Or(*b, backoff(time.Second)), backoff(most))
}

// hubPause is how long it takes at most until it is seen that the hub is back; filePause, that a file can be written again.
const (
	hubPause  = 4 * time.Second
	filePause = 30 * time.Second
)
