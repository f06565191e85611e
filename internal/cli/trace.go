package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) traceCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "trace ID",
		Short: "Show what a message led to",
		Long: `Show all messages of a trace that you may read, each below the one it answers, with how far it has come. The
trace is named by its id, or by the id of one of its messages.`,
		Example:           "  parley trace 0195a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b\n  parley trace nightly-build -o jsonl",
		Args:              takes(1, 1),
		ValidArgsFunction: nothing,
		RunE: a.ask(func(ctx context.Context, c *client.Client, args []string) error {
			messages, err := c.Trace(ctx, args[0])
			if err != nil {
				return err
			}
			if a.output != formatTable {
				return list(a, messages)
			}
			a.tree(messages)
			return nil
		}),
	}
}

// tree prints messages, each below the one it answers. An answer whose question is not among them stands
// at the top.
func (a *app) tree(messages []parley.Shown) {
	known := map[string]bool{}
	answers := map[string][]parley.Shown{}
	for _, m := range messages {
		known[m.ID] = true
	}
	for _, m := range messages {
		above := m.InReplyTo
		if !known[above] {
			above = ""
		}
		answers[above] = append(answers[above], m)
	}
	for _, top := range answers[""] {
		a.branch(top, answers, "", "")
	}
}

// branch prints a message and all below it. No message can answer itself: what is answered was stored before.
func (a *app) branch(m parley.Shown, answers map[string][]parley.Shown, first, rest string) {
	_, _ = fmt.Fprintln(a.out, a.fit(first+traced(m)))
	below := answers[m.ID]
	for i, next := range below {
		if i == len(below)-1 {
			a.branch(next, answers, rest+"└─ ", rest+"   ")
		} else {
			a.branch(next, answers, rest+"├─ ", rest+"│  ")
		}
	}
}

// traced is a message on one line.
func traced(m parley.Shown) string {
	var reached []string
	for _, d := range m.Deliveries {
		reached = append(reached, d.Recipient+" "+string(rung(d)))
	}
	who := m.From
	if len(reached) > 0 {
		who += " → " + strings.Join(reached, ", ")
	}
	return oneLine(m.ID) + "  " + oneLine(who) + "  " + cut(oneLine(body(m.Message)), 80)
}
