package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/tracetree"
)

func (a *app) traceCommand() *cobra.Command {
	var mermaid bool
	cmd := &cobra.Command{
		Use:   "trace ID",
		Short: "Show what a message led to",
		Long: `Show all messages of a trace that you may read, each below the run that has posted it or the message it answers, with
how far it has come, how long each step took, and the runs it has woken. Beside a question that somebody waits for stands
where that ask is: waiting, late, answered, failed or abandoned. The trace is named by its id, by one of its
messages, runs, approvals or tasks (m1234, run-12, approval-7, task-101), or by the id of a message's file in the tree of a
bridge; of several files the newest counts. As JSON, messages and runs; as lines, first the messages, then the runs. Of a trace of more than 1000 messages, or 32 MiB
of them, it shows the newest and says so.`,
		Example: `  parley trace m1234
  parley trace run-12
  parley trace msg-20260225-184900-claude-9b1c
  parley trace nightly-build -o jsonl
  parley trace nightly-build --mermaid > nightly.mmd`,
		Args:              takes(1, 1),
		ValidArgsFunction: nothing,
	}
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "as a Mermaid sequence diagram")
	cmd.RunE = a.ask(func(ctx context.Context, c *client.Client, args []string) error {
		found, err := c.Trace(ctx, args[0])
		if err != nil {
			return err
		}
		if found.Cut && (mermaid || a.output != formatTable) { // the tree says it itself
			a.say("note: %s", tracetree.Cut(found))
		}
		if mermaid {
			_, err = fmt.Fprint(a.out, tracetree.Mermaid(found))
			return err
		}
		return a.showTrace(found)
	})
	return cmd
}

func (a *app) showTrace(found parley.Traced) error {
	switch a.output {
	case formatJSON:
		return a.json(found)
	case formatLines:
		if err := list(a, found.Items); err != nil {
			return err
		}
		return list(a, found.Runs)
	}
	for _, line := range tracetree.Lines(found, traced) {
		_, _ = fmt.Fprintln(a.out, a.fit(line))
	}
	return nil
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
	if m.Ask != nil { // before the text, so that no text can say it
		who += " (" + tracetree.Ask(*m.Ask) + ")"
	}
	return m.ShortName() + "  " + oneLine(who) + "  " + cut(oneLine(body(m.Message)), 80)
}
