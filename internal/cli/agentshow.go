package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/top"
)

func (a *app) agentShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show AGENT",
		Short:             "Show one participant and what it is doing",
		Example:           "  parley agent show arya\n  parley agent show WriterBot -o json",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			view, err := c.Agent(ctx, args[0])
			if err != nil {
				return err
			}
			return a.printValue(view, func() { a.showAgent(ctx, c, view) })
		}),
	}
}

func (a *app) showAgent(ctx context.Context, c *client.Client, v parley.AgentView) {
	config, rules := splitRules(v.RuntimeConfig)
	fields := []string{
		"id", v.ID, "name", v.Name, "uuid", v.UUID, "kind", kindText(v.Kind, v.Access),
		"status", a.statusText(v.Status, v.Reason, v.SleepingUntil), "halted", a.haltText(v.Stopped, v.Paused),
		"sleeping until", a.formatOptionalTime(v.SleepingUntil), "last seen", a.formatOptionalTime(v.LastSeen),
		"works on", newConversationTitles(c).workText(ctx, v.Work), "awaits", top.AwaitedText(v.Awaiting), "health", healthText(v.Health),
		"inbox", strconv.Itoa(v.Inbox.Waking+v.Inbox.Work) + " waking, " + strconv.Itoa(v.Inbox.Quiet) + " quiet",
		"role", v.Role, "description", v.Description, "skills", strings.Join(v.Skills, ", "), "guardrails", v.Guardrails,
		"tier", string(v.Tier), "manager", v.Manager,
	}
	if v.Kind != parley.KindHuman { // people have no runtime
		fields = append(fields,
			"mode", string(v.Mode), "runtime", v.Runtime, "runtime config", config,
			"context messages", strconv.Itoa(v.ContextMessages),
			"inbox depth", inboxDepth(v.Profile),
			"attempts", strconv.Itoa(v.Attempts), "concurrency", strconv.Itoa(v.Concurrency),
			"protocols", strings.Join(v.Protocols, ", "))
		fields = append(fields, budgetFields(v)...)
	}
	a.printFields(append(fields, "last run", lastRun(ctx, c, v), "added", a.formatTime(v.CreatedAt))...)
	if rules != "" {
		a.printWords("")
		a.printText(rules)
	}
}

// inboxDepth returns the depth of an inbox and its overflow policy.
func inboxDepth(p parley.Profile) string {
	if !p.Bounded() {
		return string(parley.OverflowUnbounded)
	}
	return strconv.Itoa(p.InboxDepth) + ", " + string(p.InboxOverflow)
}

// splitRules splits the runtime configuration of an agent into its rules, which have many lines, and the rest on one
// line.
func splitRules(config json.RawMessage) (rest, rules string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(config, &fields) != nil || json.Unmarshal(fields["rules"], &rules) != nil {
		return string(config), ""
	}
	if delete(fields, "rules"); len(fields) == 0 {
		return "", rules
	}
	raw, _ := json.Marshal(fields) // this JSON was just parsed
	return string(raw), rules
}

// lastRun describes the newest run of an agent. It returns nothing if the caller may not read runs.
func lastRun(ctx context.Context, c *client.Client, v parley.AgentView) string {
	page, err := c.Runs(ctx, client.RunsOptions{Agent: v.ID}, client.PageRequest{Limit: 1})
	if v.Runtime == "" || err != nil || len(page.Items) == 0 {
		return ""
	}
	run := page.Items[0]
	return strings.TrimSpace(run.ShortName() + " " + string(run.State) + " " + runFailure(run))
}

// statusText returns a status with its reason, if it has one. An agent that is away may be asleep as well.
func (a *app) statusText(word, reason string, asleep *time.Time) string {
	if reason != "" {
		word += " (" + reason + ")"
	}
	switch {
	case asleep == nil || asleep.Before(time.Now()):
		return word
	case word == parley.StatusSleeping:
		return word + " until " + a.formatFutureTime(*asleep)
	default:
		return word + ", asleep until " + a.formatFutureTime(*asleep)
	}
}

// healthText returns the health that an agent reported.
func healthText(h *parley.Health) string {
	if h == nil {
		return ""
	}
	words := h.Health
	if h.UptimeMS > 0 {
		words += ", up " + formatDuration(time.Duration(h.UptimeMS)*time.Millisecond)
	}
	return words + ", " + formatAgo(h.At)
}

func formatAgo(t time.Time) string { return formatDuration(max(time.Since(t), 0)) + " ago" }

// haltText says by whom, when and why an agent was stopped or paused. It returns nothing if it was not.
func (a *app) haltText(stopped, paused *parley.Halt) string {
	state, halt := "stopped", stopped
	if halt == nil {
		state, halt = "paused", paused
	}
	if halt == nil {
		return ""
	}
	text := state + " by " + halt.By + " at " + a.formatTime(halt.At)
	if halt.Until != nil && state == "paused" {
		text += " until " + a.formatFutureTime(*halt.Until)
	}
	if halt.Reason != "" {
		text += ": " + halt.Reason
	}
	return text
}
