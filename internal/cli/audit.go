package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) auditCommand() *cobra.Command {
	return a.parentCommand("audit", "List and verify the audit log", a.auditList(), a.auditVerify())
}

func (a *app) auditList() *cobra.Command {
	last := 50
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the newest entries of the audit log, in order",
		Example: "  parley audit list\n  parley audit list --last 1000 -o jsonl",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			entries, err := lastItems(client.All(ctx, c.AuditLog), last)
			if err != nil {
				return err
			}
			return printList(a, entries,
				column[parley.AuditEntry]{"num", func(e parley.AuditEntry) string { return strconv.FormatInt(e.Num, 10) }},
				column[parley.AuditEntry]{"at", func(e parley.AuditEntry) string { return a.formatTime(e.At) }},
				column[parley.AuditEntry]{"actor", func(e parley.AuditEntry) string { return e.Actor }},
				column[parley.AuditEntry]{"act", func(e parley.AuditEntry) string { return e.Act }},
				column[parley.AuditEntry]{"subject", auditSubject},
				column[parley.AuditEntry]{"detail", func(e parley.AuditEntry) string { return string(e.Detail) }},
			)
		}),
	}
	cmd.Flags().Var(countFlag{&last}, "last", "list this `number` of entries")
	return cmd
}

// auditSubject returns the subject of an entry. An approval has its short name before its id.
func auditSubject(e parley.AuditEntry) string {
	var detail struct {
		Approval string `json:"approval"`
	}
	if !strings.HasPrefix(e.Act, "approval.") || json.Unmarshal(e.Detail, &detail) != nil || detail.Approval == "" {
		return e.Subject
	}
	return detail.Approval + " (" + e.Subject + ")"
}

func (a *app) auditVerify() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Verify that nobody has changed the audit log",
		Long: `Verify that nobody has changed the audit log. Each entry has the hash of the entry before it, and the hub also
keeps the newest hash outside the database.`,
		Example: "  parley audit verify",
		Args:    noArgs,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
			defer a.showProgress(ctx, "checking", &counter{})()
			report, err := c.VerifyAudit(ctx)
			if err != nil {
				return err
			}
			if err := a.printValue(report, func() { a.printAuditReport(report) }); err != nil {
				return err
			}
			if !report.OK {
				return parley.Errorf(parley.Internal, "the audit log differs from what the hub wrote").
					Suggest("keep a copy of the home, and compare it with a backup")
			}
			return nil
		}),
	}
}

func (a *app) printAuditReport(r parley.AuditReport) {
	verdict := "ok"
	if !r.OK {
		verdict = "not ok"
	}
	a.printFields("audit log", verdict, "entries", strconv.FormatInt(r.Entries, 10), "head", r.Head.Hash)
	for _, problem := range r.Problems {
		a.printWords("problem", problem)
	}
	if r.Omitted > 0 {
		a.printWords("problem", "and "+strconv.Itoa(r.Omitted)+" more")
	}
}
