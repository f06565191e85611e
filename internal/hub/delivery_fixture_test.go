package hub_test

import (
	"bytes"
	"log/slog"

	"github.com/parley-hub/parley"
)

// postForPurpose posts a direct message with a purpose, as the hub does for asks, tasks, callbacks and approvals.
func (w *fixture) postForPurpose(purpose parley.Purpose, from, to, words string) parley.Message {
	w.T.Helper()
	r, err := w.PostFor(ctx, as(from), parley.Draft{Direct: []string{to}, Content: text(words)}, purpose)
	w.NoError(err)
	return r.Message
}

// purposes are all purposes except that of the hub's errors.
var purposes = []parley.Purpose{parley.PurposeAsk, parley.PurposeTask, parley.PurposeCallback, parley.PurposeApproval}

// logTo writes the log to a buffer, without times.
func logTo(log *bytes.Buffer) func(*fixture) {
	return func(w *fixture) {
		w.Config.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			},
		}))
	}
}
