package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/server"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup [DIR]",
		Short: "Back up the hub into a new directory, and verify the backup",
		Long: `Back up the hub into a new directory, and verify the backup. The hub can keep running. Without DIR, the command
creates a directory under backups in the home; a backup on another disk is safer.`,
		Example: `  parley backup /mnt/backups/parley-monday
  parley backup -o json`,
		Args: argCount(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			if err := dir.Check(); err != nil {
				return err
			}
			target, err := backupTarget(dir, args)
			if err != nil {
				return err
			}
			stop := a.showWaiting(cmd.Context(), "making the backup")
			made, err := a.runBackup(cmd.Context(), dir, c, target)
			stop()
			if err != nil {
				return err
			}
			return a.printValue(made, func() {
				a.printFields("directory", made.Directory, "messages", formatCount(made.Messages), "files", formatCount(int64(made.Files)), "size", formatSize(made.Bytes))
			})
		},
	}
}

func backupTarget(dir home.Dir, args []string) (string, error) {
	if len(args) > 0 {
		return filepath.Abs(args[0])
	}
	backups := filepath.Join(string(dir), "backups")
	if err := os.MkdirAll(backups, 0o700); err != nil {
		return "", err
	}
	return unusedName(filepath.Join(backups, time.Now().UTC().Format("20060102T150405Z"))), nil
}

// unusedName returns the name, or the name with a number behind it if a file with the name exists.
func unusedName(name string) string {
	free := name
	for n := 2; fileExists(free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

// runBackup lets the running hub make the backup. Without a running hub, this process makes it.
func (a *app) runBackup(ctx context.Context, dir home.Dir, c *config.Config, target string) (parley.Backup, error) {
	_, running, err := dir.Running()
	if err != nil {
		return parley.Backup{}, err
	}
	if !running {
		return server.Backup(ctx, a.offlineOptions(dir, c), target)
	}
	hub, err := a.newClientIn(dir)
	if err != nil {
		return parley.Backup{}, err
	}
	defer hub.Close()
	return hub.Backup(ctx, target)
}

// offlineOptions returns the options to work on a home without a hub.
func (a *app) offlineOptions(dir home.Dir, c *config.Config) server.Options {
	return server.Options{Home: dir, Config: c, Log: server.NewLog(c, a.err, isTerminal(a.err))}
}
