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

func (a *app) agentRuns() *cobra.Command {
	var options client.RunsOptions
	limit := defaultRuns
	cmd := &cobra.Command{
		Use:   "runs [AGENT]",
		Short: "List runs, newest first",
		Example: `  parley agent runs
  parley agent runs arya --live
  parley agent runs --conv project-x --limit 100 -o jsonl`,
		Args:              argCount(0, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
	}
	cmd.Flags().BoolVar(&options.Live, "live", false, "list only runs that have not ended")
	cmd.Flags().StringVar(&options.Conversation, "conv", "", "list only runs in this `conversation`")
	cmd.Flags().Var(countFlag{&limit}, "limit", "list at most this `number` of runs")
	completeFlag(cmd, "conv", a.completeConvs)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		options.Agent = strings.Join(args, "")
		runs, err := collectItems(client.All(ctx, func(ctx context.Context, from client.PageRequest) (client.Page[parley.Run], error) {
			from.Limit = min(limit, maxRunsPerCall)
			return c.Runs(ctx, options, from)
		}), limit)
		if err != nil {
			return err
		}
		titles := newConversationTitles(c)
		return printListWith(a, runs, column[parley.Run]{"failure", runFailure},
			column[parley.Run]{"run", parley.Run.ShortName},
			column[parley.Run]{"agent", func(r parley.Run) string { return r.Agent }},
			column[parley.Run]{"state", func(r parley.Run) string { return string(r.State) }},
			column[parley.Run]{"began", func(r parley.Run) string { return a.formatPastTime(r.CreatedAt) }},
			column[parley.Run]{"took", runDuration},
			column[parley.Run]{"tokens", runTokens},
			column[parley.Run]{"cost", runCost},
			column[parley.Run]{"where", func(r parley.Run) string { return titles.title(ctx, r.Conversation) }},
		)
	})
	return cmd
}

const (
	defaultRuns    = 50
	maxRunsPerCall = 1000 // in one call
)

// runDuration returns how long a run lasted, or has lasted so far. For a run that never started, it counts from its
// creation.
func runDuration(r parley.Run) string {
	start, end := r.CreatedAt, time.Now()
	if r.StartedAt != nil {
		start = *r.StartedAt
	}
	if r.EndedAt != nil {
		end = *r.EndedAt
	}
	if d := end.Sub(start); d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return formatDuration(end.Sub(start))
}

func runTokens(r parley.Run) string {
	if r.InputTokens+r.OutputTokens == 0 {
		return ""
	}
	return fmt.Sprintf("%d in, %d out", r.InputTokens, r.OutputTokens)
}

func runCost(r parley.Run) string {
	if r.Cost == 0 {
		return ""
	}
	return formatDollars(r.Cost)
}

func runFailure(r parley.Run) string {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Error()
}

func (a *app) agentRun() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "run RUN",
		Short: "Show a run, with its outcome and its output",
		Example: `  parley agent run run-12
  parley agent run run-12 --follow`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeRuns, completeNothing),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "print the progress until the run ends, and then show the run")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		view, err := c.Run(ctx, args[0])
		if err != nil {
			return err
		}
		if follow && view.State.Live() {
			if view, err = a.followRun(ctx, c, view.ID); err != nil {
				return err
			}
		}
		return a.showRun(ctx, c, view)
	})
	return cmd
}

// showRun prints a run. A table has its output as text, JSON as a field.
func (a *app) showRun(ctx context.Context, c *client.Client, v parley.RunView) error {
	var output strings.Builder
	if err := c.RunOutput(ctx, v.ID, &output); err != nil {
		return err
	}
	runOutput := struct {
		parley.RunView
		Output string `json:"output,omitempty"`
	}{v, output.String()}
	return a.printValue(runOutput, func() {
		titles, names := newConversationTitles(c), newMessageNames(c)
		a.printFields("run", v.ShortName(), "id", v.ID, "agent", v.Agent, "state", string(v.State), "runtime", v.Runtime,
			"where", titles.title(ctx, v.Conversation), "conversation", v.Conversation,
			"woken by", triggersText(ctx, c, v.Triggers), "trace", v.TraceID,
			"attempt", strconv.Itoa(v.Attempt), "began", a.formatTime(v.CreatedAt), "started", a.formatOptionalTime(v.StartedAt),
			"ended", a.formatOptionalTime(v.EndedAt), "took", runDuration(v.Run), "deadline", a.formatTime(v.Deadline), "session", v.Session,
			"tokens", runTokens(v.Run), "cost", runCost(v.Run), "failure", runFailure(v.Run), "cancelled", v.Cancel,
			"answer", names.of(ctx, v.Answer), "posted", names.of(ctx, v.Posts...))
		if output.Len() > 0 {
			a.printWords("")
			a.printText(output.String())
		}
	})
}

// triggersText returns the messages that triggered a run, as far as the caller may read them.
func triggersText(ctx context.Context, c *client.Client, triggers []string) string {
	var texts []string
	for _, id := range triggers {
		words := id
		if m, err := c.Message(ctx, id); err == nil {
			words = m.ShortName() + " " + m.From + ": " + truncate(oneLine(messageBody(m.Message)), 60)
		}
		texts = append(texts, words)
	}
	return strings.Join(texts, ", ")
}

// messageNames returns the short names of messages. It asks the hub once for each message.
type messageNames struct {
	client *client.Client
	known  map[string]string // by id
}

func newMessageNames(c *client.Client) messageNames { return messageNames{c, map[string]string{}} }

// of returns the short names of messages. It returns the id of a message that the caller may not read, or that was
// removed.
func (n messageNames) of(ctx context.Context, ids ...string) string {
	var names []string
	for _, id := range ids {
		if n.known[id] == "" {
			n.known[id] = n.lookup(ctx, id)
		}
		names = append(names, n.known[id])
	}
	return strings.Join(names, " ")
}

func (n messageNames) lookup(ctx context.Context, id string) string {
	if !parley.IsUUID(id) {
		return id
	}
	m, err := n.client.Message(ctx, id)
	if err != nil {
		return id
	}
	return m.ShortName()
}

// followRun prints the progress of a run until the run has ended, and returns the run.
func (a *app) followRun(ctx context.Context, c *client.Client, id string) (parley.RunView, error) {
	var view parley.RunView
	for e, err := range c.Events(ctx, client.EventsOptions{Kinds: []string{"run"}}) {
		switch data := parseRunEvent(e); {
		case err != nil: // the stream reconnects, or the loop ends
		case e.Kind == client.EventReady || e.Kind == client.EventReset:
		case data.Run != id:
			continue
		case e.Kind == parley.EventRunProgress:
			a.printText(data.Text)
			continue
		}
		if err == nil {
			view, err = c.Run(ctx, id)
		}
		if err == nil && !view.State.Live() || err != nil && !isUnavailable(err) {
			return view, err
		}
	}
	return view, context.Cause(ctx)
}

func (a *app) agentCancel() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:               "cancel RUN",
		Short:             "Cancel a run; the hub does not retry it",
		Example:           "  parley agent cancel run-12 --reason \"it goes the wrong way\"",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeRuns, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			run, err := c.CancelRun(ctx, args[0], reason)
			if err != nil {
				return err
			}
			word := string(parley.RunCancelled)
			if run.State.Live() {
				word = "cancelling"
			}
			return a.printDone(run, word, run.Agent, run.ShortName())
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` that says why")
	return cmd
}
