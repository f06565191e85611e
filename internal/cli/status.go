package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) statusCommand() *cobra.Command {
	var alerts bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what needs you, and the state of the hub",
		Long: `Show what needs you, and the state of the hub.

The first lines are the requests for approval, the dead letters, the asks and tasks for you, and the messages to
acknowledge, each with the command to run next. Alerts of one kind share a line; --alerts lists each alert.`,
		Example: `  parley status
  parley status --alerts
  parley status -o json`,
		Args:              noArgs,
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVar(&alerts, "alerts", false, "list every alert")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		status, err := c.Status(ctx)
		if err != nil {
			return err
		}
		needs, err := c.Attention(ctx, 0)
		if err != nil {
			return err
		}
		bridges, _ := c.Bridges(ctx) // only owners may list bridges
		return a.printValue(shownStatus{status, bridges, needs}, func() {
			a.printNeeds(needs)
			a.showStatus(status)
			a.showAlerts(status, alerts)
			a.showBridges(bridges)
		})
	})
	return cmd
}

// shownStatus is the JSON output of status: the state of the hub, its bridges, and what needs the caller.
type shownStatus struct {
	parley.HubStatus
	Bridges []parley.BridgeView `json:"bridges,omitempty"`
	Needs   parley.Attention    `json:"needs_you"`
}

// printNeeds prints what needs the caller, each item with the next command to run.
func (a *app) printNeeds(needs parley.Attention) {
	if len(needs.Items) == 0 {
		a.printWords("nothing needs you")
	} else {
		a.printWords("needs you:")
	}
	var fields []string
	listed := map[parley.AttentionKind]int{}
	beside := strings.Repeat(" ", nameWidth(needs.Items)+4)
	for _, i := range needs.Items {
		text, next := a.needText(i)
		if i.Kind == parley.AttentionApproval {
			text = strings.TrimPrefix(a.fit(beside+text), beside)
		}
		fields = append(fields, "  "+i.Name, text, "", next)
		listed[i.Kind]++
	}
	for _, i := range needs.Items {
		if more := needs.Totals[i.Kind] - listed[i.Kind]; more > 0 {
			fields = append(fields, "", fmt.Sprintf("%d more: %s", more, a.commandLine(needListCommands[i.Kind]...)))
			listed[i.Kind] += more
		}
	}
	a.printFields(fields...)
	if needs.Unread > 0 {
		a.printWords(formatQuantity(int64(needs.Unread), "message is", "messages are") + " unread: " + a.commandLine("inbox"))
	}
	a.printWords("")
}

func nameWidth(items []parley.AttentionItem) (widest int) {
	for _, i := range items {
		widest = max(widest, displayWidth(i.Name))
	}
	return widest
}

// needListCommands are the commands that list all items of a kind.
var needListCommands = map[parley.AttentionKind][]string{
	parley.AttentionApproval: {"approval", "list", "--mine"}, parley.AttentionDeadLetter: {"dead", "list"},
	parley.AttentionAsk: {"inbox", "--peek"}, parley.AttentionTask: {"task", "list"},
	parley.AttentionAck: {"inbox", "--peek"}, parley.AttentionReply: {"inbox", "--peek"},
}

// needText describes an item that needs the caller, and returns the next command to run.
func (a *app) needText(i parley.AttentionItem) (text, next string) {
	switch i.Kind {
	case parley.AttentionApproval:
		return i.Text, a.decideCommands(i.Name)
	case parley.AttentionDeadLetter:
		return "dead letter from " + i.From + " to " + i.Recipient + ": " + i.Text,
			a.commandLine("dead", "retry", i.Name, i.Recipient) + " (or: " + a.commandLine("dead", "drop", i.Name, i.Recipient) + ")"
	case parley.AttentionAsk:
		return i.From + " asks: " + i.Text, a.commandLine("reply", i.Name, `"…"`)
	case parley.AttentionTask:
		return "task from " + i.From + ": " + i.Text, a.commandLine("task", "complete", i.Name, `"…"`)
	case parley.AttentionAck:
		return i.From + " requires an ack: " + i.Text, a.commandLine("ack", i.Name)
	default:
		return i.From + " needs an answer by " + a.formatOptionalTime(i.Due) + ": " + i.Text, a.commandLine("reply", i.Name, `"…"`)
	}
}

// showAlerts prints one line for each kind of alert, or every alert.
func (a *app) showAlerts(s parley.HubStatus, all bool) {
	if all {
		for _, alert := range s.Alerts {
			a.printFields("alert", alert.Message, "", alert.Suggestion)
		}
		return
	}
	for _, g := range parley.GroupAlerts(s.Alerts) {
		a.printFields("alert", g.Message, "", a.alertRemedy(g))
	}
}

// alertRemedy returns what to do about alerts of one kind.
func (a *app) alertRemedy(g parley.AlertGroup) string {
	if g.Count > 1 {
		return "list every alert: " + a.commandLine("status", "--alerts")
	}
	return g.Worst.Suggestion
}

func (a *app) showBridges(bridges []parley.BridgeView) {
	a.printFields("bridges", countStates(bridges))
	for _, v := range bridges {
		text, remedy := a.bridgeProblem(v)
		a.printFields("bridge", text, "", remedy)
	}
}

func (a *app) showStatus(s parley.HubStatus) {
	disk := ""
	if s.DiskTotal > 0 {
		disk = fmt.Sprintf("%s free of %s", formatSize(s.DiskFree), formatSize(s.DiskTotal))
	}
	a.printFields(
		"running", fmt.Sprintf("parley %s, process %d, since %s (%s)", s.Version, s.PID, a.formatTime(s.StartedAt), formatDuration(time.Since(s.StartedAt))),
		"address", s.Address,
		"socket", s.Socket,
		"home", s.Home,
		"store", s.Store,
		"agents", formatCount(s.Agents),
		"conversations", formatCount(s.Conversations),
		"messages", formatCount(s.Messages),
		"open deliveries", formatCount(s.OpenDeliveries),
		"dead letters", formatCount(s.DeadLetters),
		"disk", disk,
	)
	for _, reason := range s.NotReady {
		a.printFields("not ready", "the hub cannot store anything at present: "+reason.Message, "", reason.Suggestion)
	}
}

// formatQuantity formats a number of things: 1 message, 2 messages.
func formatQuantity(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + more
}

func formatCount(n int64) string { return strconv.FormatInt(n, 10) }

// formatDuration formats a duration for a person, in its two largest units.
func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day:
		return fmt.Sprintf("%dd %dh", d/day, d%day/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%dh %dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return d.Truncate(time.Second).String()
	}
}
