package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley/internal/server"
)

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR",
		Short: "Restore a backup into a home that has no database",
		Long: `Verify a backup, and restore it into a home that has no database, or into an empty PostgreSQL database if the
configuration names one. No hub may be running in the home.`,
		Example: `  parley restore /mnt/backups/parley-monday --home ./restored
  PARLEY_STORE=postgres://parley@localhost/new parley restore /mnt/backups/parley-monday --home ./restored`,
		Args: argCount(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, c, err := a.loadConfig(cmd)
			if err != nil {
				return err
			}
			from, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			stop := a.showWaiting(cmd.Context(), "restoring")
			restored, err := server.Restore(cmd.Context(), a.offlineOptions(dir, c), from)
			stop()
			if err != nil {
				return err
			}
			a.printStderr("restored into %s; start the hub with: %s", dir, a.commandLine("up"))
			return a.printValue(restored, func() {
				a.printFields("directory", restored.Directory, "messages", formatCount(restored.Messages), "artifacts", formatCount(restored.Artifacts))
			})
		},
	}
}
