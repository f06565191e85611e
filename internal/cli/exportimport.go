package cli

import (
	"context"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) exportCommand() *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Export all agents, conversations and messages as JSON lines",
		Long: `Export all agents, conversations and messages as JSON lines, which "parley import" reads. The export does not have the
bodies of files; "parley backup" has them.`,
		Example:           "  parley export hub.jsonl\n  parley export | gzip > hub.jsonl.gz",
		Args:              argCount(0, 1),
		ValidArgsFunction: completeArgs(completeFiles, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			var lines exportWriter
			var end exportEnd
			err := a.writeTo(ctx, args, force, "exporting", func(w io.Writer) (err error) {
				lines.w = w
				if err := c.ExportAll(ctx, &lines); err != nil {
					return err
				}
				end, err = lines.readEnd()
				return err
			})
			if err != nil {
				return err
			}
			a.printStderr("%s, %s, %s", formatQuantity(end.Agents, "agent", "agents"),
				formatQuantity(end.Conversations, "conversation", "conversations"), formatQuantity(end.Messages, "message", "messages"))
			return lines.damageError()
		}),
	}
	declareForce(cmd, &force)
	return cmd
}

// exportEnd has the counts of the last line of an export.
type exportEnd struct {
	Agents        int64 `json:"agents"`
	Conversations int64 `json:"conversations"`
	Messages      int64 `json:"messages"`
}

func (a *app) importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import an export as history, without waking anybody",
		Long: `Import the output of "parley export" as history, without waking anybody. The hub skips entries that it already has, so
you can repeat an interrupted import.`,
		Example:           "  parley import hub.jsonl\n  gunzip < hub.jsonl.gz | parley import -",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(completeFiles, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			var report parley.ImportReport
			err := a.readFrom(ctx, args[0], "importing", func(r io.Reader) (err error) {
				report, err = c.Import(ctx, r)
				return err
			})
			if err != nil {
				return err
			}
			return a.showImported(report)
		}),
	}
	cmd.AddCommand(a.importAnimaCommand())
	return cmd
}

func (a *app) showImported(r parley.ImportReport) error {
	for _, notice := range r.Notices {
		a.printStderr("note: %s", notice)
	}
	return a.printValue(r, func() { a.printImported(r) })
}

func (a *app) printImported(r parley.ImportReport) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	a.printFields("agents", number(r.Agents), "conversations", number(r.Conversations), "messages", number(r.Messages),
		"rules", number(r.Permissions), "tasks", number(r.Tasks), "approvals", number(r.Approvals), "notes", number(r.Notes), "skipped", number(r.Skipped), "missing bodies", number(r.BodiesMissing))
}
