package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/connect"
	"github.com/parley-hub/parley/internal/home"
)

func (a *app) uninstallCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the hub, and remove its home with all messages",
		Long: `Stop the hub and remove its home: all messages, artifacts, backups and settings in it. The command refuses a directory
that is not a home, or that has other files in it. It first disconnects all connected clients, and removes nothing if the files of one
cannot be restored. It does not remove the program or a PostgreSQL database.`,
		Example: `  parley uninstall
  parley uninstall --home ./hub --yes`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask for confirmation")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := home.Locate(a.home)
		if err != nil {
			return err
		}
		names, err := dir.Contents()
		if errors.Is(err, fs.ErrNotExist) {
			return parley.Errorf(parley.BadInput, "the home %s does not exist", dir).Suggest("name the home with --home")
		}
		if err != nil {
			return err
		}
		a.printStderr("This stops the hub and removes %s with everything in it:", dir)
		for _, name := range names {
			_, _ = a.err.Write([]byte("  " + oneLine(filepath.Join(string(dir), name)) + "\n"))
		}
		clients, err := connect.List(dir)
		if err != nil {
			return err // their files could not be restored any more
		}
		for _, c := range clients {
			a.printStderr("It first disconnects %s, which is connected as %s.", connectionTitle(c), c.Agent)
		}
		if err := a.confirm(cmd, yes, "Remove everything permanently?"); err != nil {
			return err
		}
		if err := a.disconnectAll(dir, clients); err != nil {
			return err
		}
		return a.removeHome(cmd, dir)
	}
	return cmd
}

// disconnectAll restores the files of all connected clients. Without the home, that is not possible any more.
func (a *app) disconnectAll(dir home.Dir, list []connect.Connection) error {
	m, err := thisMachine()
	if err != nil {
		return err
	}
	noted := map[string]bool{}
	for _, c := range list {
		if _, err := connect.Disconnect(c, m, dir); err != nil {
			return err
		}
		if !noted[c.Agent] {
			a.noteTokenElsewhere(dir, c.Agent)
		}
		noted[c.Agent] = true
	}
	return nil
}

// noteTokenElsewhere says how to revoke a token of another hub, whose secret goes with the home. Those of its own hub go with that hub.
func (a *app) noteTokenElsewhere(dir home.Dir, agent string) {
	stored, err := dir.AgentToken(agent)
	if err == nil && stored.Hub != "" {
		a.printStderr("the token of %s stays valid at %s; revoke it there: %s", agent, stored.Hub, revokeLine(dir, stored))
	}
}

func (a *app) removeHome(cmd *cobra.Command, dir home.Dir) error {
	_, c, err := a.loadConfig(cmd)
	database := err == nil && c.Store != config.SQLite
	if err := stopIfRunning(cmd.Context(), dir); err != nil {
		return err
	}
	lock, err := dir.Acquire()
	if err != nil {
		return err
	}
	if err := lock.Remove(); err != nil {
		return err
	}
	if database {
		a.printStderr("The PostgreSQL database stays; drop it with dropdb if nobody needs it.")
	}
	if program, err := os.Executable(); err == nil {
		a.printStderr("The program itself stays: %s", program)
	}
	return a.printAction("removed", string(dir))
}

func stopIfRunning(ctx context.Context, dir home.Dir) error {
	h, running, err := dir.Running()
	if err != nil || !running {
		return err
	}
	return stopHub(ctx, dir, h)
}
