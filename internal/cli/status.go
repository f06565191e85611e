package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show how the hub is doing",
		Example: `  parley status
  parley status -o json`,
		Args:              noArgs,
		ValidArgsFunction: nothing,
		RunE: a.ask(func(ctx context.Context, c *client.Client, _ []string) error {
			status, err := c.Status(ctx)
			if err != nil {
				return err
			}
			bridges, _ := c.Bridges(ctx) // which only owners see
			return a.one(shownStatus{status, bridges}, func() {
				a.showStatus(status)
				a.showBridges(bridges)
			})
		}),
	}
}

// shownStatus is how the hub is doing, and its bridges.
type shownStatus struct {
	parley.HubStatus
	Bridges []parley.BridgeView `json:"bridges,omitempty"`
}

func (a *app) showBridges(bridges []parley.BridgeView) {
	a.fields("bridges", inStates(bridges))
	for _, v := range bridges {
		what, remedy := a.troubled(v)
		a.fields("bridge", what, "", remedy)
	}
}

func (a *app) showStatus(s parley.HubStatus) {
	disk := ""
	if s.DiskTotal > 0 {
		disk = fmt.Sprintf("%s free of %s", size(s.DiskFree), size(s.DiskTotal))
	}
	a.fields(
		"running", fmt.Sprintf("parley %s, process %d, since %s (%s)", s.Version, s.PID, a.moment(s.StartedAt), lasting(time.Since(s.StartedAt))),
		"address", s.Address,
		"socket", s.Socket,
		"home", s.Home,
		"store", s.Store,
		"agents", count(s.Agents),
		"conversations", count(s.Conversations),
		"messages", count(s.Messages),
		"open deliveries", count(s.OpenDeliveries),
		"dead letters", count(s.DeadLetters),
		"disk", disk,
	)
	for _, reason := range s.NotReady {
		a.fields("not ready", "the hub cannot store anything at present: "+reason.Message, "", reason.Suggestion)
	}
	for _, alert := range s.Alerts {
		a.fields("alert", alert.Message, "", alert.Suggestion)
	}
}

// several is a number of things: 1 message, 2 messages.
func several(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + more
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

// lasting is a time for a person: in the two units that say most.
func lasting(d time.Duration) string {
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
