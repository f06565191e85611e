package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Waits are the hooks of this machine that wait for mail, in files of a directory. One hook waits for a session at a time.
type Waits struct {
	Dir string
	// ClientEnded reports whether the client that has started this hook has ended.
	ClientEnded func() bool
}

// file returns the path of a file about a session. Its name does not depend on what a client may put into a key.
func (w Waits) file(session, kind string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(w.Dir, hex.EncodeToString(sum[:12])+"."+kind)
}

// clientPoll is how often a waiting hook looks whether its client has ended.
const clientPoll = 2 * time.Second

// Begin begins to wait for a session, in place of the hook that waits for it already. When another hook calls Begin or End, or when the
// client ends, it calls stop. The caller must call release.
func (w Waits) Begin(ctx context.Context, session string, stop func()) (release func(), err error) {
	return w.begin(ctx, w.file(session, "wait"), stop)
}

func (w Waits) begin(ctx context.Context, file string, stop func()) (release func(), err error) {
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return nil, err
	}
	endWait(file)
	unlock, err := lockWait(ctx, file)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	go w.watchClient(ctx, stop)
	return func() { cancel(); unlock() }, nil
}

// watchClient calls stop once the client has ended.
func (w Waits) watchClient(ctx context.Context, stop func()) {
	poll := time.NewTicker(clientPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
			if w.ClientEnded != nil && w.ClientEnded() {
				stop()
			}
		}
	}
}

// End ends the hooks that wait for a session: for mail, or for a person to decide about a permission.
func (w Waits) End(session string) {
	files, _ := filepath.Glob(w.file(session, "*")) // the pattern is sound
	for _, file := range files {
		endWait(file)
	}
}

// BeginRequest is Begin for a hook that waits for the decision about a permission.
func (w Waits) BeginRequest(ctx context.Context, use parley.ToolUse, stop func()) (release func(), err error) {
	return w.begin(ctx, w.requestFile(use), stop)
}

// EndRequest ends the hook that waits for the decision about a permission. The person has decided in the client.
func (w Waits) EndRequest(use parley.ToolUse) { endWait(w.requestFile(use)) }

func (w Waits) requestFile(use parley.ToolUse) string {
	sum := sha256.Sum256(append([]byte(use.Tool+"\x00"), compactJSON(use.Input)...))
	return w.file(use.Session, hex.EncodeToString(sum[:12])+".ask")
}

// mayProlong reports whether a hook may prolong the turn of a session once more. prolonged says that a hook has prolonged the turn before.
func (w Waits) mayProlong(session string, prolonged bool) bool {
	file := w.file(session, "prolonged")
	if !prolonged {
		_ = os.Remove(file) // most often there is none
		return true
	}
	return countIn(file) < maxBlocks
}

// noteProlonged counts a turn that a hook prolongs.
func (w Waits) noteProlonged(session string) {
	file := w.file(session, "prolonged")
	if os.MkdirAll(w.Dir, 0o700) == nil {
		_ = os.WriteFile(file, []byte(strconv.Itoa(countIn(file)+1)), 0o600) // uncounted, the client's own bound holds
	}
}

func countIn(file string) int {
	text, _ := os.ReadFile(file)
	count, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return count
}
