package cli

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/home"
)

const (
	stopTimeout = 30 * time.Second
	stopPoll    = 20 * time.Millisecond
)

func (a *app) downCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down",
		Short: "Stop the hub",
		Long:  "Stop the hub of a home, and wait until it has stopped. The hub keeps all accepted messages.",
		Example: `  parley down
  parley down --home ./hub`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := home.Locate(a.home)
			if err != nil {
				return err
			}
			h, running, err := dir.Running()
			if err != nil {
				return err
			}
			if !running {
				return parley.Errorf(parley.Unavailable, "no hub is running in %s", dir)
			}
			if err := stopHub(cmd.Context(), dir, h); err != nil {
				return err
			}
			return a.printDone(h, "stopped", strconv.Itoa(h.PID))
		},
	}
}

// stopHub asks a hub to stop, and waits until its home is free.
func stopHub(ctx context.Context, dir home.Dir, h home.Hub) error {
	if h.PID == 0 {
		return parley.Errorf(parley.Unavailable, "the hub in %s is starting, or another command uses its home", dir).
			Suggest("try again in a moment")
	}
	process, err := os.FindProcess(h.PID)
	if err == nil {
		err = process.Signal(syscall.SIGTERM)
	}
	if err != nil {
		return parley.Errorf(parley.Unavailable, "cannot stop process %d: %w", h.PID, err).Suggest("run parley down as the user who started the hub")
	}
	limited, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	poll := time.NewTicker(stopPoll)
	defer poll.Stop()
	for {
		now, running, err := dir.Running()
		if err != nil || !running || now.PID != h.PID && now.PID != 0 {
			return err
		}
		select {
		case <-poll.C:
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return parley.Errorf(parley.TimedOut, "the hub (process %d) did not stop within %s", h.PID, stopTimeout).
				Suggest("wait, or kill it: kill -9 %d; the hub keeps all accepted messages", h.PID)
		}
	}
}
