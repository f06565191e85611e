package hook

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
)

// maxBlocks is how often in a row a hook prolongs a turn. Claude Code allows as many.
const maxBlocks = 8

// idleWait is how long a hook waits beside an idle client. "parley connect" registers it with a timeout of seven days.
const idleWait = 7*24*time.Hour - time.Minute

// endTurn settles what the turn has taken, and then waits for mail with which the next turn begins.
func (h hook) endTurn(ctx, quick context.Context) int {
	h.Waits.End(h.session)
	_, err := h.Hub.SettleSession(quick, h.key, parley.Outcome{})
	if err != nil && h.blocks && parley.AsError(err).Reason != parley.NotFound {
		h.queueNext() // the client waits, and the hub is away: it can come back while the client is idle
		return 0
	}
	wait := h.wait
	if h.Wait >= 0 {
		wait = h.Wait
	}
	if !h.attended(h.Env) {
		return 0 // nobody could be woken: the client ends with the turn
	}
	if h.blocks && !h.Waits.mayProlong(h.session, h.prolonged()) {
		return 0
	}
	m, ok := h.awaitMail(ctx, quick, wait)
	if !ok {
		h.queueNext()
		return 0
	}
	if h.blocks {
		h.Waits.noteProlonged(h.session)
	}
	return h.hand(ctx, m, func(text string) answer { return h.beginTurn(h.Event, text) })
}

// queueNext starts the hook that makes an idle client with a queue begin a turn.
func (h hook) queueNext() {
	if h.queues != "" && h.Detach != nil && h.attended(h.Env) {
		h.Detach(h.queues, h.session)
	}
}

// prolonged reports whether a hook has prolonged the turn that ends.
func (h hook) prolonged() bool { return h.input.StopActive || h.input.LoopCount > 0 }

// queuedPrompt is the prompt that begins a turn of a client with a queue. It is a fixed text: other users of the machine can read it. The
// hook at the beginning of the turn brings the mail.
const queuedPrompt = "You have new mail in Parley."

// queueTurn waits until there is mail that wakes, and makes the client begin a turn. It takes nothing.
func (h hook) queueTurn(ctx context.Context) int {
	if h.Queue == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, idleWait)
	defer cancel()
	release, err := h.Waits.Begin(ctx, h.session, cancel)
	if err != nil {
		return 0
	}
	defer release()
	for pause := firstPause; ctx.Err() == nil; pause = next(ctx, pause) {
		woken, refused := h.awaitSign(ctx)
		if woken {
			_ = h.Queue(ctx, h.session, queuedPrompt) // otherwise the mail comes with the person's next prompt
		}
		if woken || refused {
			return 0
		}
	}
	return 0
}

// awaitSign keeps the session open until there is mail that wakes. refused says that the hub refuses the session.
func (h hook) awaitSign(ctx context.Context) (woken, refused bool) {
	stream, err := h.open(ctx)
	if err != nil {
		return false, isRefusal(err)
	}
	defer func() { _ = stream.Close() }() // the session lives on for a moment
	err = nextWaking(ctx, stream)
	return err == nil, isRefusal(err)
}

// nextWaking waits until there is mail that wakes.
func nextWaking(ctx context.Context, stream parley.SessionStream) error {
	for {
		sign, err := stream.Next(ctx)
		if err != nil || sign.Inbox.Waking+sign.Inbox.Work > 0 {
			return err
		}
	}
}

// isRefusal reports whether the hub would refuse the same call later too.
func isRefusal(err error) bool {
	code := parley.CodeOf(err)
	return code == parley.NotPermitted || code == parley.BadInput
}

// awaitMail waits for mail that wakes, and takes everything that is ready then. It waits no longer than its client lives, and not once
// a later hook of the session waits or a turn begins.
func (h hook) awaitMail(ctx, quick context.Context, wait time.Duration) (m mail, ok bool) {
	if wait <= 0 {
		m, err := h.takeMail(quick)
		return m, err == nil && len(m.Messages) > 0
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	release, err := h.Waits.Begin(ctx, h.session, cancel)
	if err != nil {
		return m, false
	}
	defer release()
	for pause := firstPause; ctx.Err() == nil; pause = next(ctx, pause) {
		m, refused := h.follow(ctx)
		if len(m.Messages) > 0 {
			return m, true
		}
		if refused || h.blocks {
			return m, false
		}
	}
	return m, false
}

// The pauses before a waiting hook looks for the hub again.
const (
	firstPause = time.Second
	maxPause   = 15 * time.Second
)

// next waits before a hook looks for a hub that is away, and returns the next pause.
func next(ctx context.Context, pause time.Duration) time.Duration {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
	return min(2*pause, maxPause)
}

// follow keeps the session open until there is mail that wakes, and takes it. refused says that the hub refuses the session.
func (h hook) follow(ctx context.Context) (m mail, refused bool) {
	stream, err := h.open(ctx)
	if err != nil {
		return m, isRefusal(err)
	}
	defer func() { _ = stream.Close() }() // the session lives on for a moment
	for {
		if err := nextWaking(ctx, stream); err != nil {
			return m, isRefusal(err)
		}
		if m, err = h.takeMail(ctx); err == nil && len(m.Messages) > 0 {
			m.alone = m.alone || h.isAlone(ctx)
			return m, false
		}
	}
}

// isAlone reports whether only hooks have the session. The MCP server of the client may have opened it after this hook.
func (h hook) isAlone(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, Quick) // the messages wait for it
	defer cancel()
	stream, err := h.open(ctx)
	if err != nil {
		return true
	}
	defer func() { _ = stream.Close() }() // this hook has another connection
	return stream.Session().Kind == parley.SessionHook
}
