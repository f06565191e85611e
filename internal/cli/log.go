package cli

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/plain"
)

func (a *app) logCommand() *cobra.Command {
	var (
		f      parley.LogFilter
		since  string
		follow bool
	)
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Show the message log: each step of each message",
		Long: `Show the message log, newest line last: each step of each message, with the time since it was sent. The log never has the
text of messages. Owners only.`,
		Example: `  parley log
  parley log --agent arya --status failed --since 1h
  parley log --trace nightly-build -o jsonl
  parley log -f`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	f.Limit = defaultLogLines
	cmd.Flags().StringVar(&f.Trace, "trace", "", "show only this trace; give its `id`, or the id of one of its messages or files")
	cmd.Flags().StringVar(&f.Agent, "agent", "", "show only messages from or to this `agent`")
	cmd.Flags().StringVar(&f.Status, "status", "", "show only lines with this `status`: sent, delivered, processed or failed")
	cmd.Flags().StringVar(&since, "since", "", "show only lines since this `time`, or since a duration such as 1h")
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "keep printing new lines, until you interrupt the command")
	cmd.Flags().VarP(countFlag{&f.Limit}, "lines", "n", "show at most this `number` of existing lines")
	completeFlag(cmd, "agent", a.completeAgents)
	completeFlag(cmd, "status", completeWords(parley.LogStatuses()...))
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		when, err := parsePastTime(cmd, "since", since)
		if err != nil {
			return err
		}
		if when != nil {
			f.Since = *when
		}
		if follow || a.output == formatLines {
			return a.followLog(ctx, newMessageNames(c), c.Log(ctx, f, follow))
		}
		lines, err := collectItems(c.Log(ctx, f, false), f.Limit)
		if err != nil {
			return err
		}
		return a.listLog(ctx, newMessageNames(c), lines)
	})
	return cmd
}

const defaultLogLines = 50

func (a *app) listLog(ctx context.Context, names messageNames, lines []parley.LogLine) error {
	return printList(a, lines,
		column[parley.LogLine]{"time", func(l parley.LogLine) string { return a.formatTime(l.Timestamp) }},
		column[parley.LogLine]{"status", func(l parley.LogLine) string { return l.Status }},
		column[parley.LogLine]{"from", func(l parley.LogLine) string { return l.From }},
		column[parley.LogLine]{"to", func(l parley.LogLine) string { return l.To }},
		column[parley.LogLine]{"type", func(l parley.LogLine) string { return string(l.Type) }},
		column[parley.LogLine]{"after", latencyText},
		column[parley.LogLine]{"message", func(l parley.LogLine) string { return names.of(ctx, l.MsgID) }},
		column[parley.LogLine]{"trace", func(l parley.LogLine) string { return l.TraceID }},
	)
}

func latencyText(l parley.LogLine) string { return strconv.FormatInt(l.LatencyMS, 10) + "ms" }

// followLog prints log lines as they come.
func (a *app) followLog(ctx context.Context, names messageNames, lines func(func(parley.LogLine, error) bool)) error {
	for l, err := range lines {
		if err != nil {
			return err
		}
		if a.output == formatTable {
			a.printWords(a.formatTime(l.Timestamp), l.Status, l.From+" → "+l.To, string(l.Type), latencyText(l), names.of(ctx, l.MsgID), l.TraceID)
			continue
		}
		raw, err := json.Marshal(l)
		if err == nil {
			_, err = a.out.Write(append(plain.JSON(raw), '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
