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

// engine is the part of a bridge that all layouts share.
type engine struct {
	Options
	layoutBase
	layout     layout
	dialect    dialect.Dialect
	view       bridgeView // the state of the hub at the last poll; only the poller uses it
	queues     map[string]*importQueue
	nextQueues []string // the paths of the queues, in the order in which they take turns
	status     status
	wake       changeSet

	announced bool // the hub knows that the first scan is over

	mu              sync.Mutex
	channels        []string        // the channels that exist; nil before the first scan
	channelsContext context.Context // is done when channels changes
	channelsChanged context.CancelFunc
	written         map[string]writtenFile // by path: departures whose files exist
}

func newEngine(o Options, b parley.Bridge, t *tree, ahead time.Duration) *engine {
	e := &engine{
		Options: o, dialect: dialect.Of(b.Layout), view: bridgeView{bridge: b}, queues: map[string]*importQueue{},
		wake: changeSet{signal: make(chan struct{}, 1), changed: map[string]bool{}}, written: map[string]writtenFile{},
	}
	e.status.added = b.CreatedAt
	e.channelsContext, e.channelsChanged = context.WithCancel(context.Background())
	e.layoutBase = layoutBase{tree: t, hub: o.Hub, id: b.ID, now: time.Now, ahead: ahead, logf: e.logLine, onEvict: e.reportEviction}
	e.layout = newLayout(b.Layout, e.layoutBase)
	return e
}

// newLayout returns a layout for a bridge, or nil if there is no such layout.
func newLayout(l parley.Layout, base layoutBase) layout {
	switch l {
	case parley.LayoutAgentOS:
		return newAgentOSLayout(base)
	case parley.LayoutBlackboard:
		return newBlackboardLayout(base)
	case parley.LayoutInbox:
		return newInboxLayout(base)
	default:
		return nil
	}
}

// poll scans the tree again and again until ctx is done or the bridge has ended. It returns errTreeMoved if the tree was moved,
// and errLockLost if the lock was removed.
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
			e.wake.addAll()
		case <-e.wake.signal:
		}
		switch err := e.takeChanges(ctx, watching); {
		case errors.Is(err, errEnded):
			return nil
		case errors.Is(err, errTreeMoved), errors.Is(err, errLockLost):
			return err
		case e.status.setProblem("hub", err):
			if wait == 0 && ctx.Err() == nil {
				e.Log.Warn("cannot pass files to the hub; they stay in the tree; retrying", "bridge", e.id, "error", err)
			}
			wait.grow(maxHubPause)
		default:
			if wait > 0 {
				e.Log.Info("the bridge passes files to the hub again", "bridge", e.id)
			}
			wait = 0
		}
		timer.Reset(max(e.Poll, time.Duration(wait)))
	}
	return nil
}

var errEnded = errors.New("the bridge has ended")

// takeChanges imports new documents from the changed folders, or from all. During a long import it does the other work of a
// poll between the parts.
func (e *engine) takeChanges(ctx context.Context, watching *watcher) error {
	changed, everywhere := e.wake.take()
	for folder := range changed {
		everywhere = everywhere || e.queues[folder] == nil // a new folder, or one without documents
	}
	for more := true; more; everywhere = true {
		if everywhere {
			if err := e.scanTree(ctx, watching); err != nil {
				return err
			}
			if err := e.announce(ctx); err != nil {
				return err
			}
		}
		e.markForListing(changed, everywhere)
		var err error
		if more, err = e.importDocuments(ctx); err != nil {
			return err
		}
		if err := e.reportStatus(ctx); err != nil {
			return err
		}
	}
	return nil
}

// importDocuments imports documents until none is pending or the next poll is due.
func (e *engine) importDocuments(ctx context.Context) (more bool, err error) {
	for last := time.Now(); time.Since(last) < e.Poll; {
		more, err = e.importRound(ctx)
		e.progress()
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// announce tells the hub, once, that the first scan is over. It does not wait for the import of what the scan found.
func (e *engine) announce(ctx context.Context) error {
	if e.announced || !e.status.firstScanDone.Load() {
		return nil
	}
	if err := e.reportStatus(ctx); err != nil {
		return err
	}
	if e.announced = true; e.Options.OnFirstScan != nil {
		e.Options.OnFirstScan()
	}
	return nil
}

// scanTree does the work of a poll besides importing documents.
func (e *engine) scanTree(ctx context.Context, watching *watcher) error {
	if err := e.refresh(ctx); err != nil {
		return err
	}
	if err := e.tree.checkInPlace(); err != nil {
		return err
	}
	if err := e.tree.checkLock(); err != nil {
		return err
	}
	e.status.setProblem("written", e.reportTaken(ctx)) // before the first export, which may evict files that an earlier process wrote
	inlets, err := e.layout.inlets(e.view)
	if e.status.setProblem("tree", err) && len(inlets) == 0 {
		return nil
	}
	e.openInlets(inlets)
	e.status.firstScanDone.Store(true)
	watching.follow(e.view.bridge.Root, slices.AppendSeq(e.layout.watched(), maps.Keys(e.queues)))
	e.status.setProblem("mirror", e.layout.tick(ctx, e.view))
	return nil
}

// refresh loads the bridge and the agents from the hub. It returns errEnded if the bridge was removed or paused.
func (e *engine) refresh(ctx context.Context) error {
	view, err := e.hub.Bridge(ctx, e.id)
	replaced := !view.CreatedAt.Equal(e.view.bridge.CreatedAt) // the bridge was removed, and another one has its id
	if parley.CodeOf(err) == parley.BadInput || err == nil && (view.Paused || replaced) {
		return errEnded
	}
	if err != nil {
		return err
	}
	presences, err := e.hub.Who(ctx)
	if err != nil {
		return err
	}
	e.view = newBridgeView(view, presences)
	return nil
}

func newBridgeView(b parley.BridgeView, presences []parley.Presence) bridgeView {
	view := bridgeView{bridge: b.Bridge, presences: presences, inTree: map[string]bool{}, ofHub: map[string]bool{}}
	for _, p := range presences {
		switch {
		case p.Runtime != parley.RuntimeBridge || slices.Contains(b.Elsewhere, p.ID):
			view.ofHub[p.ID] = true
		case slices.Contains(b.Agents, p.ID):
			view.inTree[p.ID] = true
		}
	}
	return view
}

// openInlets replaces the inlets and keeps the queues of inlets that stay.
func (e *engine) openInlets(inlets []inlet) {
	kept := map[string]*importQueue{}
	channels := []string{}
	e.nextQueues = e.nextQueues[:0]
	for _, in := range inlets {
		q := e.queues[in.path]
		if q == nil {
			q = newImportQueue()
		}
		q.inlet = in
		kept[in.path] = q
		e.nextQueues = append(e.nextQueues, in.path)
		if in.channel != "" {
			channels = append(channels, in.channel)
		}
	}
	for at := range e.queues {
		if kept[at] == nil {
			e.status.setProblem(at, nil)
		}
	}
	e.queues = kept
	e.setChannels(channels)
}

// setChannels stores which channels exist, and wakes the exporting goroutine if they have changed.
func (e *engine) setChannels(channels []string) {
	slices.Sort(channels)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.channels == nil || !slices.Equal(channels, e.channels) {
		e.channelsChanged()
		e.channels = channels
		e.channelsContext, e.channelsChanged = context.WithCancel(context.Background())
	}
}

// reportStatus reports the status of the bridge to the hub.
func (e *engine) reportStatus(ctx context.Context) error {
	return e.hub.NoteBridge(ctx, e.id, e.status.noteScan(e.pendingFiles()))
}

// levelOf splits a line of a log into its level and its text.
func levelOf(line string) (slog.Level, string) {
	for word, level := range map[string]slog.Level{"ERROR: ": slog.LevelError, "WARN: ": slog.LevelWarn} {
		if text, found := strings.CutPrefix(line, word); found {
			return level, text
		}
	}
	return slog.LevelInfo, line
}

// logLine writes a line to the log of the tree and to the log of the hub.
func (e *engine) logLine(format string, args ...any) {
	line := oneLine(fmt.Sprintf(format, args...))
	level, text := levelOf(line)
	e.Log.Log(context.Background(), level, text, slog.String("bridge", e.id))
	e.status.setProblem("log", e.appendLog(e.layout.logFile(), time.Now().UTC().Format(timeFormat)+" "+line))
}

// appendLog adds a line to a log of the tree. It creates a missing log.
func (e *engine) appendLog(at, line string) error {
	return e.tree.inMadeFolder(path.Dir(at), func(f *folder) error { return f.appendLine(path.Base(at), line) })
}

// backoff is a pause that grows with each failure.
type backoff time.Duration

func (b *backoff) grow(most time.Duration) {
	*b = min(2*cmp.Or(*b, backoff(time.Second)), backoff(most))
}

// maxHubPause is the longest pause before the bridge calls an unreachable hub again. maxFilePause is the longest pause before it
// retries a file that cannot be written.
const (
	maxHubPause  = 4 * time.Second
	maxFilePause = 30 * time.Second
)
