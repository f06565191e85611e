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
		Short: "Show a message and everything it led to",
		Long: `Show all messages of a trace that you may read. Each message is below the run that posted it, or below the message that
it answers. For each message, the command shows the delivery states, the time of each step, and the runs that the message woke. A question also shows the
state of its ask: waiting, late, answered, failed or abandoned. A request for approval also shows who decided.

Name the trace by its id, by one of its messages, runs, approvals or tasks (m1234, run-12, approval-7, task-101), or by
the id of a message's file in the tree of a bridge. If several files have the id, the newest file counts.

JSON has messages and runs; JSON lines have first the messages, then the runs. If a trace has more than 1000 messages, or
more than 4 MiB of messages, the command shows the newest messages and says so.`,
		Example: `  parley trace m1234
  parley trace run-12
  parley trace msg-20260225-184900-claude-9b1c
  parley trace nightly-build -o jsonl
  parley trace nightly-build --mermaid > nightly.mmd`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeNothing,
	}
	cmd.Flags().BoolVar(&mermaid, "mermaid", false, "print a Mermaid sequence diagram")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		found, err := c.Trace(ctx, args[0])
		if err != nil {
			return err
		}
		if found.Cut && (mermaid || a.output != formatTable) { // the tree has its own line about it
			a.printStderr("note: %s", tracetree.CutText(found))
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
		return a.printJSON(found)
	case formatLines:
		if err := printList(a, found.Items); err != nil {
			return err
		}
		return printList(a, found.Runs)
	}
	for _, line := range tracetree.Lines(found, tracedMessageText) {
		_, _ = fmt.Fprintln(a.out, a.fit(line))
	}
	return nil
}

// tracedMessageText describes a message on one line.
func tracedMessageText(m parley.Shown) string {
	var reached []string
	for _, d := range m.Deliveries {
		reached = append(reached, d.Recipient+" "+string(reachedState(d)))
	}
	sender := m.From
	if len(reached) > 0 {
		sender += " → " + strings.Join(reached, ", ")
	}
	if m.Ask != nil { // before the text, so that no message can forge it
		sender += " (" + tracetree.AskText(*m.Ask) + ")"
	}
	if m.Approval != nil {
		sender += " (" + tracetree.ApprovalText(*m.Approval) + ")"
	}
	return m.ShortName() + "  " + oneLine(sender) + "  " + truncate(oneLine(messageBody(m.Message)), 80)
}
