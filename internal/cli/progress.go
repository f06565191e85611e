package cli

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// counter counts the bytes that pass through it.
type counter struct {
	r io.Reader
	w io.Writer
	n atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// showWaiting shows on a terminal what the command does, if that takes longer than a second. Call stop to end it.
func (a *app) showWaiting(ctx context.Context, doing string) (stop func()) {
	return a.showWhileRunning(ctx, func() string { return doing })
}

// showProgress is showWaiting with the number of bytes that have passed through a counter.
func (a *app) showProgress(ctx context.Context, doing string, count *counter) (stop func()) {
	return a.showWhileRunning(ctx, func() string { return doing + ": " + formatSize(count.n.Load()) })
}

// showSteps is showWaiting with the last text passed to tell.
func (a *app) showSteps(ctx context.Context, doing string) (tell func(string), stop func()) {
	var far atomic.Value
	far.Store(doing)
	return func(text string) { far.Store(doing + ": " + text) }, a.showWhileRunning(ctx, func() string { return far.Load().(string) })
}

func (a *app) showWhileRunning(ctx context.Context, what func() string) (stop func()) {
	if !isTerminal(a.err) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var shown sync.WaitGroup
	shown.Go(func() { showUntilDone(ctx, a.err, what) })
	return func() {
		cancel()
		shown.Wait()
	}
}

func showUntilDone(ctx context.Context, w io.Writer, what func() string) {
	const clearLine = "\r\x1b[K"
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for began := time.Now(); ; {
		select {
		case <-ctx.Done():
			if time.Since(began) > time.Second {
				_, _ = fmt.Fprint(w, clearLine)
			}
			return
		case <-ticker.C:
			_, _ = fmt.Fprintf(w, "%s%s, %s", clearLine, what(), time.Since(began).Round(time.Second))
		}
	}
}

// formatSize formats a number of bytes for a person.
func formatSize(n int64) string {
	const step = 1024
	value, units := float64(n), []string{"bytes", "KiB", "MiB", "GiB"}
	for value >= step && len(units) > 1 {
		value, units = value/step, units[1:]
	}
	if units[0] == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}
