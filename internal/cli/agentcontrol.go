package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) agentStart() *cobra.Command {
	return a.controlCommand(parley.ActionStart, "started", "", "start AGENT", "Start a stopped agent again",
		"  parley agent start arya")
}

func (a *app) agentStop() *cobra.Command {
	return a.controlCommand(parley.ActionStop, "stopped", "how long its runs may continue (default 30s)",
		"stop AGENT", "Stop an agent; its messages wait",
		"  parley agent stop arya\n  parley agent stop arya --timeout 5m --reason \"a new version\"")
}

func (a *app) agentPause() *cobra.Command {
	return a.controlCommand(parley.ActionPause, "paused", "resume the agent after this long",
		"pause AGENT", "Pause an agent; its runs continue, but no new run begins",
		"  parley agent pause arya\n  parley agent pause arya --timeout 1h --reason \"the build is red\"")
}

func (a *app) agentResume() *cobra.Command {
	return a.controlCommand(parley.ActionResume, "resumed", "", "resume AGENT", "Resume a paused agent", "  parley agent resume arya")
}

// controlCommand returns a command that sends an agent a control message. If timeout is not empty, it is the help of a
// flag --timeout.
func (a *app) controlCommand(action parley.Action, done, timeout, use, short, example string) *cobra.Command {
	var reason string
	var length time.Duration
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: argCount(1, 1), ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` that says why")
	if timeout != "" {
		cmd.Flags().Var(durationFlag{&length}, "timeout", timeout)
	}
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		command := parley.Command{Action: action, Parameters: parley.CommandParameters{Reason: reason, TimeoutMS: length.Milliseconds()}}
		receipt, err := c.Command(ctx, args[0], command)
		if err != nil {
			return err
		}
		if action == parley.ActionResume {
			a.noteStopped(ctx, c, args[0])
		}
		return a.printDone(receipt, done, args[0])
	})
	return cmd
}

// noteStopped prints that a resumed agent is still stopped. Resuming ends only a pause.
func (a *app) noteStopped(ctx context.Context, c *client.Client, agent string) {
	if view, err := c.Agent(ctx, agent); err == nil && view.Stopped != nil {
		a.printStderr("note: %s is still stopped; start it with: %s", view.ID, a.commandLine("agent", "start", view.ID))
	}
}

func (a *app) agentHealth() *cobra.Command {
	var all, check bool
	var wait, timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health [AGENT]",
		Short: "Show the health that agents reported, or ask an agent to report its health",
		Example: `  parley agent health
  parley agent health arya --wait=10s
  parley agent health --all -o json`,
		Args: afterWait(argCount(0, 1)), ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	flags := cmd.Flags()
	flags.BoolVar(&all, "all", false, "also list agents that reported nothing")
	flags.Var(durationFlag{&wait}, "wait", "ask the agent now, and wait this long for its answer (without a duration: "+healthWait.String()+")")
	flags.Lookup("wait").NoOptDefVal = healthWait.String()
	// Older scripts say --check, and --timeout for how long.
	flags.BoolVar(&check, "check", false, "ask the agent now, and wait for its answer")
	flags.Var(durationFlag{&timeout}, "timeout", "with --check: how long to wait")
	flags.Lookup("check").Hidden, flags.Lookup("timeout").Hidden = true, true
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		switch {
		case len(args) == 0 && (check || wait > 0 || timeout > 0):
			return usagef(cmd, "--wait needs an AGENT")
		case len(args) == 0:
			return a.printHealths(ctx, c, all)
		case all:
			return usagef(cmd, "--all cannot be combined with an AGENT")
		case check || wait > 0:
			if err := checkHealth(ctx, c, args[0], cmp.Or(wait, timeout, healthWait)); err != nil {
				return err
			}
		}
		view, err := c.Agent(ctx, args[0])
		if err != nil {
			return err
		}
		return a.printValue(view.Health, func() { a.showHealth(view) })
	})
	return cmd
}

const healthWait = 30 * time.Second

// printHealths lists the health that agents reported.
func (a *app) printHealths(ctx context.Context, c *client.Client, all bool) error {
	present, err := c.Who(ctx)
	if err != nil {
		return err
	}
	present = slices.DeleteFunc(present, func(p parley.Presence) bool {
		return p.Kind != parley.KindAgent || p.Health == nil && !all
	})
	fromHealth := func(what func(h parley.Health) string) func(parley.Presence) string {
		return func(p parley.Presence) string {
			if p.Health == nil {
				return ""
			}
			return what(*p.Health)
		}
	}
	return printList(a, present,
		column[parley.Presence]{"id", func(p parley.Presence) string { return p.ID }},
		column[parley.Presence]{"status", func(p parley.Presence) string { return a.statusText(p.Status, p.Reason, p.SleepingUntil) }},
		column[parley.Presence]{"health", fromHealth(func(h parley.Health) string { return h.Health })},
		column[parley.Presence]{"uptime", fromHealth(uptimeText)},
		column[parley.Presence]{"reported", fromHealth(func(h parley.Health) string { return a.formatTime(h.At) })},
		column[parley.Presence]{"metrics", fromHealth(func(h parley.Health) string { return string(h.Metrics) })},
	)
}

func uptimeText(h parley.Health) string {
	if h.UptimeMS == 0 {
		return ""
	}
	return formatDuration(time.Duration(h.UptimeMS) * time.Millisecond)
}

func (a *app) showHealth(v parley.AgentView) {
	if v.Health == nil {
		a.printStderr("%s has not reported its health; ask for it: %s", v.ID, a.commandLine("agent", "health", v.ID, "--wait"))
		return
	}
	a.printFields("id", v.ID, "status", a.statusText(v.Status, v.Reason, v.SleepingUntil), "health", v.Health.Health,
		"uptime", uptimeText(*v.Health), "reported", a.formatTime(v.Health.At), "metrics", string(v.Health.Metrics))
}

// checkHealth asks an agent for its health, and waits until the agent has reported it.
func checkHealth(ctx context.Context, c *client.Client, agent string, timeout time.Duration) error {
	view, err := c.Agent(ctx, agent)
	if err != nil {
		return err
	}
	command := parley.Command{Action: parley.ActionHealthCheck, Parameters: parley.CommandParameters{TimeoutMS: timeout.Milliseconds()}}
	receipt, err := c.Command(ctx, view.ID, command)
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, timeout+answerGrace)
	defer cancel()
	o := client.EventsOptions{After: receipt.Message.Seq - 1, Kinds: []string{string(parley.EventMessagePosted)}, Bodies: true}
	for e, lost := range c.Events(waiting, o) {
		if err = lost; err == nil && e.Body != nil && e.Body.InReplyTo == receipt.Message.ID {
			return healthAnswerError(view.ID, *e.Body, timeout)
		}
	}
	if ctx.Err() != nil || waiting.Err() == nil {
		return err
	}
	return noHealthError(view.ID, timeout)
}

// answerGrace is how much longer than the timeout the command waits for the hub to say that the agent did not answer.
const answerGrace = 2 * time.Second

func healthAnswerError(agent string, answer parley.Message, timeout time.Duration) error {
	if answer.Type == parley.TypeError {
		return noHealthError(agent, timeout)
	}
	return nil
}

func noHealthError(agent string, timeout time.Duration) error {
	return parley.Errorf(parley.TimedOut, "%s did not report its health within %v", agent, timeout).
		Suggest("see what it is doing: parley agent show %s", agent)
}

func (a *app) agentResumePair() *cobra.Command {
	return &cobra.Command{
		Use:               "resume-pair AGENT AGENT",
		Short:             "Let two agents wake each other again after the hub stopped their loop",
		Example:           "  parley agent resume-pair arya gendry",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeAgents, a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			resumed, err := c.ResumePair(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			if !resumed {
				a.printStderr("note: the hub had not stopped these agents")
			}
			return a.printDone(map[string]any{"pair": args, "resumed": resumed}, "resumed", args[0], args[1])
		}),
	}
}
