package hub_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// The benchmarks below show the cost of verifying checksums when messages are read.

// fullChannel returns a hub with 20 messages of 200 bytes from one agent to another in a channel.
func fullChannel(b *testing.B) (*fixture, string) {
	b.Helper()
	w := openFixture(b, stores.NewPlace(b), func(w *fixture) {
		w.Config.Log, w.Config.Rate = slog.New(slog.DiscardHandler), hub.Rate{PerSecond: -1}
	})
	w.AddAgents("arya", "sansa")
	c := w.CreateChannel("arya", "hall", "sansa")
	for range 20 {
		w.postFiller(c.ID)
	}
	return w, c.ID
}

func (w *fixture) postFiller(conversation string) {
	w.PostAs("arya", parley.Draft{Conversation: conversation, To: "sansa", Content: text(strings.Repeat("words ", 33))})
}

func BenchmarkHistoryOf20(b *testing.B) {
	w, c := fullChannel(b)
	b.ReportAllocs()
	for b.Loop() {
		if list, err := w.History(ctx, as("sansa"), c, parley.Page{Limit: 20}); err != nil || len(list) != 20 {
			b.Fatal(len(list), err)
		}
	}
}

// BenchmarkTakeOf20 gives back the taken messages outside of the measured time.
func BenchmarkTakeOf20(b *testing.B) {
	w, _ := fullChannel(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		taken, err := w.Take(ctx, as("sansa"), parley.Take{})
		if err != nil || len(taken.Messages) != 20 {
			b.Fatal(fmt.Sprint(i, ": ", len(taken.Messages)), err)
		}
		b.StopTimer()
		w.NackTaken("sansa", taken, parley.FailureStopped)
		w.AdvanceLeases(0)
		b.StartTimer()
	}
}
