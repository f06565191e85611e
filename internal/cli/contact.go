package cli

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) askCommand() *cobra.Command {
	return a.contactCommand(parley.PatternAsk, &cobra.Command{
		Use:   "ask AGENT [TEXT]",
		Short: "Ask an agent or a person, and wait for the answer",
		Long: `Ask an agent or a person, and wait for the answer. The question wakes a sleeping agent, and does not wait until the
agent has finished other work. If the answer is late, the hub delivers it when it comes.

The command first prints the id of the question on standard error. It keeps waiting through a restart of the hub. If you
stop the command, "parley wait ID" waits for the same answer.

Standard output has the answer alone, unchanged. Notes from parley itself go to standard error.

Without TEXT, or with - as TEXT, the command reads the question from standard input.`,
		Example: `  parley ask data "What was Q4 revenue?"
  parley ask data "What was Q4 revenue?" --context "For the investor update, by product line" --wait=5m
  git diff | parley ask reviewer --context "Is anything wrong with this change?"`,
	})
}

func (a *app) delegateCommand() *cobra.Command {
	return a.contactCommand(parley.PatternDelegate, &cobra.Command{
		Use:   "delegate AGENT [TEXT]",
		Short: "Delegate work to an agent or a person; the hub delivers the result",
		Long: `Delegate work to an agent or a person. The work becomes a task. The hub delivers the result: to an agent as a message
that wakes the agent, to a person in the direct conversation with the assignee.

With --wait, the command first prints the id of the task on standard error. Then it waits for the result, even through a
restart of the hub, and prints it. The hub does not deliver a printed result again. If you stop the command,
"parley wait TASK" waits for the same result.

Without TEXT, or with - as TEXT, the command reads the work from standard input.`,
		Example: `  parley delegate writer "Draft the blog post about Q4" --priority high --deadline 4h
  parley delegate analyst "Analyze the figures" --file q4.csv --wait
  parley delegate writer "Publish it" --after task-101`,
	})
}

func (a *app) notifyCommand() *cobra.Command {
	return a.contactCommand(parley.PatternNotify, &cobra.Command{
		Use:   "notify AGENT [TEXT]",
		Short: "Notify an agent or a person, without waking anybody",
		Long: `Notify an agent or a person, whatever its status. The notification wakes nobody and expects no answer: the recipient
reads it with its next messages.

Without TEXT, or with - as TEXT, the command reads the notification from standard input.`,
		Example: `  parley notify coordinator "The analysis is done, see #reports"
  parley notify coordinator "The figures are here" --file q4.csv`,
	})
}

// contactCommand returns the command ask, delegate or notify.
func (a *app) contactCommand(pattern parley.Pattern, cmd *cobra.Command) *cobra.Command {
	r := contactFlags{contact: parley.Contact{Pattern: pattern}}
	cmd.Args = afterWait(argCount(1, 2))
	cmd.ValidArgsFunction = completeArgs(a.completeAgents, completeNothing)
	r.declare(a, cmd)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		if err := r.build(ctx, a, cmd, c, args); err != nil {
			return err
		}
		contacted, err := a.makeContact(ctx, c, r.contact)
		if err != nil {
			a.noteNextStep(ctx, contacted, err)
			return err
		}
		if err := a.printValue(contacted, func() { a.printText(contacted.Text) }); err != nil {
			return err
		}
		return a.lateResultError(r.contact, contacted)
	})
	return cmd
}

// makeContact makes a contact. If the contact waits, it first prints the id of the contact, and prints once that the hub is
// unavailable.
func (a *app) makeContact(ctx context.Context, c *client.Client, contact parley.Contact) (parley.Contacted, error) {
	stop, unreachable, printed := func() {}, false, false
	defer func() { stop() }()
	waits := contact.Wait > 0 || contact.Pattern == parley.PatternAsk
	question, since := "", int64(0)
	if waits {
		since = a.lastEvent(ctx, c)
	}
	wait := func() { stop = a.showAsking(ctx, c, contact.Agent, question, since) }
	options := client.ContactOptions{
		OnStored: func(made parley.Contacted) {
			stop()
			question = made.Message
			a.printStderr("%s %s: %s", pastTense[contact.Pattern], made.Agent, made.ShortName())
			a.printNotices(made.Notices)
			printed = true
			wait()
		},
		OnUnreachable: func(err error) {
			if !unreachable {
				stop()
				a.printStderr("note: %s; retrying", parley.AsError(err).Message)
				wait()
			}
			unreachable = true
		},
	}
	if waits {
		wait()
	}
	contacted, err := c.ContactWith(ctx, contact, options)
	if !printed {
		a.printNotices(contacted.Notices)
	}
	return contacted, err
}

// pastTense is the past tense of each pattern, which precedes the name of the agent.
var pastTense = map[parley.Pattern]string{parley.PatternAsk: "asked", parley.PatternDelegate: "delegated to"}

// noteNextStep says how to continue to wait for a contact without an outcome, or where to see what happened.
func (a *app) noteNextStep(ctx context.Context, contacted parley.Contacted, err error) {
	id := contacted.ShortName()
	switch {
	case client.Unreachable(err): // the error already says how to wait
	case id != "" && (ctx.Err() != nil || contacted.Outcome == parley.ContactLate):
		a.printStderr("note: the request goes on; wait for it with: %s", a.commandLine("wait", id))
	case contacted.Task != "":
		a.printStderr("note: see what happened: %s", a.commandLine("task", "show", contacted.Task))
	case contacted.Message != "":
		a.printStderr("note: see what happened: %s", a.commandLine("trace", id))
	case ctx.Err() != nil:
		a.printStderr("note: an accepted request goes on, and the hub delivers its outcome: %s", a.commandLine("inbox", "--peek"))
	}
}

// lateResultError returns the error for delegated work whose result did not come in time.
func (a *app) lateResultError(c parley.Contact, contacted parley.Contacted) error {
	if c.Wait == 0 || c.Pattern != parley.PatternDelegate || contacted.Outcome == parley.ContactAnswered {
		return nil
	}
	return parley.Errorf(parley.TimedOut, "there is no result within %s; the hub delivers it when it comes", c.Wait).
		Suggest("wait for the result: %s", a.commandLine("wait", contacted.Task))
}

// contactFlags is a contact as the command line describes it.
type contactFlags struct {
	contact  parley.Contact
	deadline string
	files    []string
}

func (f *contactFlags) declare(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.contact.Context, "context", "", "`text` that the recipient needs: it does not see your conversations")
	flags.StringArrayVar(&f.files, "file", nil, "`file` to send with the message; repeat the flag for several")
	flags.StringVar(&f.contact.IdempotencyKey, "key", "", "idempotency `key`: the hub makes one contact of all calls with this key")
	flags.StringVar(&f.deadline, "deadline", "", "`time` by which the answer or result is due, or a duration such as 2h")
	flags.Var(priorityFlag{&f.contact.Priority}, "priority", "0 to 10, or low, normal, high, urgent")
	flags.StringSliceVar(&f.contact.After, "after", nil, "`tasks` that must be completed before this one begins; repeat the flag for several")
	completeFlag(cmd, "priority", completeWords("low", "normal", "high", "urgent"))
	completeFlag(cmd, "after", a.completeTasks)
	wait := "wait this long for the answer (default " + parley.AskWait.String() + ")"
	if f.contact.Pattern == parley.PatternDelegate {
		wait = "wait this long for the result (without a duration: " + client.MaxContactWait.String() + ")"
	}
	flags.Var(durationFlag{&f.contact.Wait}, "wait", wait)
	flags.Lookup("wait").NoOptDefVal = f.defaultWait().String()
	for _, name := range hiddenFlags[f.contact.Pattern] {
		flags.Lookup(name).Hidden = true
	}
}

// hiddenFlags are the flags that a pattern does not take. Help does not show them; the hub says which pattern takes
// them.
var hiddenFlags = map[parley.Pattern][]string{
	parley.PatternAsk:    {"priority", "after"},
	parley.PatternNotify: {"priority", "after", "deadline", "wait"},
}

// defaultWait returns how long the command waits if --wait has no value.
func (f *contactFlags) defaultWait() time.Duration {
	if f.contact.Pattern == parley.PatternAsk {
		return parley.AskWait
	}
	return client.MaxContactWait
}

// build completes the contact with its text, its times and its files. It first stores the files.
func (f *contactFlags) build(ctx context.Context, a *app, cmd *cobra.Command, c *client.Client, args []string) (err error) {
	if err := requireNonEmpty(cmd, "after"); err != nil {
		return err
	}
	if f.contact.Wait > client.MaxContactWait {
		return usagef(cmd, "--wait is at most %s", client.MaxContactWait)
	}
	if f.contact.Deadline, err = parseDeadline(cmd, f.deadline); err != nil {
		return err
	}
	f.contact.Agent = args[0]
	if f.contact.Message, err = a.textOrStdin(ctx, cmd, args[1:]); err != nil {
		return err
	}
	f.contact.Artifacts, err = a.storeFiles(ctx, c, f.files)
	return err
}

// textOrStdin returns the text argument of a command, or else standard input.
func (a *app) textOrStdin(ctx context.Context, cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) > 0:
		return a.readTextArg(ctx, args[0])
	case isTerminal(a.in):
		return "", usagef(cmd, "TEXT is missing; put it in quotes, or give - to type it here")
	default:
		return a.readTextArg(ctx, "-")
	}
}

// parseDeadline parses a deadline. It returns nil for an empty text.
func parseDeadline(cmd *cobra.Command, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	due, err := parseTime(text, time.Now())
	if err != nil {
		return nil, usagef(cmd, "--deadline: %w", err)
	}
	due = due.UTC()
	return &due, nil
}

// printHeld prints that a call waits for an approval, and who decides. That is not a failure.
func (a *app) printHeld(held *parley.Held) error {
	approval := held.Approval
	a.printStderr("%s: %s decides (see the request: %s)", approval.ShortName(), approvalDecider(approval), a.commandLine("approval", "show", approval.ShortName()))
	a.printStderr("to wait for the outcome: %s; an answer comes to the inbox of the caller too", a.commandLine("wait", approval.ShortName()))
	answer := struct {
		Text     string          `json:"text"`
		Approval parley.Approval `json:"approval"`
	}{held.Error(), approval}
	return a.printValue(answer, func() { a.printWords(held.Error()) })
}

// approvalDecider returns who decides about a call.
func approvalDecider(approval parley.Approval) string { return cmp.Or(approval.Decider, "an owner") }

// handleHeld passes on the error of a command, unless the error only says that the call waits for an approval.
func (a *app) handleHeld(err error) error {
	if held, ok := errors.AsType[*parley.Held](err); ok {
		return a.printHeld(held)
	}
	return err
}
