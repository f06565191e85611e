package cli

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/bridge"
	"github.com/parley-hub/parley/internal/server"
)

func (a *app) bridgeRun() (cmd *cobra.Command) {
	cmd = a.bridgeArgCommand("run BRIDGE", "Run a bridge that was added with --outside, until you interrupt it",
		"  parley bridge run inbox-bus\n  PARLEY_URL=https://hub.example.org PARLEY_TOKEN=parley_… parley bridge run inbox-bus",
		func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.Bridge(ctx, args[0])
			if err != nil {
				return err
			}
			if !v.Outside {
				return parley.Errorf(parley.BadInput, "the hub runs %s itself", v.ID).
					Suggest("check its state: %s; or remove it, and add it again with --outside", a.commandLine("bridge", "show", v.ID))
			}
			if err := mustBeDirectory(v.Root); err != nil {
				return err
			}
			_, settings, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			return a.runBridge(ctx, c, v, server.NewLog(settings, a.err, isTerminal(a.err)))
		})
	cmd.Long = `Run a bridge that was added with --outside, until you interrupt or remove it. Run it as an owner, on the machine that
has the tree. The hub keeps the state of the bridge, so you can stop it and start it again at any time.`
	return cmd
}

const (
	minPause   = time.Second // before a stopped bridge starts again
	maxPause   = 4 * time.Second
	pausedPoll = 2 * time.Second // how often a paused bridge checks whether it was resumed
)

// runBridge runs a bridge until the user interrupts it. It starts the bridge again while the hub is unavailable or the
// bridge is paused.
func (a *app) runBridge(ctx context.Context, c *client.Client, v parley.BridgeView, log *slog.Logger) error {
	a.printStderr("connecting %s to the hub at %s; Ctrl-C stops the bridge", v.Root, c.Address())
	shown := importProgress{app: a}
	pause, printed := minPause, ""
	for ctx.Err() == nil {
		err := bridge.Run(ctx, bridge.Options{Hub: c, ID: v.ID, Log: log, Progress: shown.report, OnFirstScan: func() {
			a.printStderr("%s has scanned the tree; it delivers every file that appears from now on", v.ID)
		}})
		shown.endLine()
		if err == nil && ctx.Err() == nil {
			err = a.awaitResumed(ctx, c, v.ID)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && parley.AsError(err).Reason == parley.NotFound:
			a.printStderr("%s was removed", v.ID)
			return nil
		case err == nil:
			pause, printed = minPause, ""
			continue
		case !mayRecover(err):
			return err
		}
		if why := parley.AsError(err).Message; why != printed { // print each reason once
			a.printStderr("%s; retrying until it works", why)
			printed = why
		}
		sleepFor(ctx, pause)
		pause = min(2*pause, maxPause)
	}
	return nil
}

// mayRecover reports whether the error that ended a bridge may go away by itself.
func mayRecover(err error) bool {
	e := parley.AsError(err)
	return e.Recoverable && e.Code != parley.BadInput
}

// awaitResumed waits until a bridge is not paused any more. It returns an error if the bridge was removed.
func (a *app) awaitResumed(ctx context.Context, c *client.Client, id string) error {
	for printed := false; ; printed = true {
		v, err := c.Bridge(ctx, id)
		if err != nil || !v.Paused {
			return err
		}
		if !printed {
			a.printStderr("%s is paused; resume it: %s", id, a.commandLine("bridge", "resume", id))
		}
		if sleepFor(ctx, pausedPoll); ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// sleepFor waits for a duration, or until the context ends.
func sleepFor(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}

// importProgress shows the progress of a long import: on a terminal on one line, elsewhere as a line now and then.
type importProgress struct {
	*app
	last time.Time
	open bool // the line on the terminal has no line end yet
}

const progressInterval = 10 * time.Second

func (p *importProgress) report(imported, waiting int64) {
	text := fmt.Sprintf("imported %d files, %d to go", imported, waiting)
	switch {
	case isTerminal(p.err):
		_, _ = fmt.Fprint(p.err, "\r\x1b[K"+text)
		if p.open = true; waiting == 0 {
			p.endLine()
		}
	case waiting == 0 || time.Since(p.last) >= progressInterval:
		p.printStderr("%s", text)
		p.last = time.Now()
	}
}

func (p *importProgress) endLine() {
	if p.open {
		_, _ = fmt.Fprintln(p.err)
	}
	p.open = false
}
