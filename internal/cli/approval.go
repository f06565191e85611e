package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) approvalCommand() *cobra.Command {
	return a.parentCommand("approval", "Approve or deny calls that need approval",
		a.approvalList(), a.approvalShow(),
		a.decideCommand("approve", "approved", "Approve calls, exactly as they were requested", true),
		a.decideCommand("deny", "denied", "Deny calls", false))
}

func (a *app) approvalList() *cobra.Command {
	options := client.ApprovalsOptions{State: parley.ApprovalPending}
	var all bool
	limit := defaultApprovals
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List calls that need approval, newest first",
		Example: `  parley approval list
  parley approval list --mine
  parley approval list --all --agent intern -o json`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&options.Agent, "agent", "", "list only calls by this `agent`")
	flags.BoolVar(&options.Mine, "mine", false, "list only calls that you may decide")
	flags.BoolVar(&all, "all", false, "also list decided calls")
	flags.Var(countFlag{&limit}, "limit", "list at most this `number` of approvals")
	completeFlag(cmd, "agent", a.completeAgents)
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		if all {
			options.State = ""
		}
		found, err := collectItems(client.All(ctx, func(ctx context.Context, from client.PageRequest) (client.Page[parley.Approval], error) {
			return c.Approvals(ctx, options, from)
		}), limit)
		if err != nil {
			return err
		}
		return printList(a, found,
			column[parley.Approval]{"approval", parley.Approval.ShortName},
			column[parley.Approval]{"agent", func(p parley.Approval) string { return p.Agent }},
			column[parley.Approval]{"call", callText},
			column[parley.Approval]{"since", func(p parley.Approval) string { return a.formatPastTime(p.CreatedAt) }},
			column[parley.Approval]{"state", approvalState},
			column[parley.Approval]{"decider", deciderText},
			column[parley.Approval]{"note", func(p parley.Approval) string { return p.Note }},
		)
	})
	return cmd
}

// defaultApprovals is how many approvals the list has without --limit.
const defaultApprovals = 50

// callText describes a held call in a few words.
func callText(p parley.Approval) string {
	var call struct {
		Action  string         `json:"action"`
		Message string         `json:"message"`
		Text    string         `json:"text"`
		Content parley.Content `json:"content"` // of a post
	}
	_ = json.Unmarshal(p.Call.Args, &call) // other calls have none of these fields
	switch p.Call.Tool {
	case "make_conversation", "update_conversation", "memory": // the summary has the text
		first, _, _ := strings.Cut(p.Summary, "\n")
		_, action, _ := strings.Cut(strings.TrimSuffix(first, ":"), " wants to ")
		return action
	}
	description := strings.TrimSpace(cmp.Or(call.Action, p.Call.Tool) + " " + p.Target)
	if text := cmp.Or(call.Message, call.Content.Text, call.Text); text != "" {
		description += ` "` + truncate(oneLine(text), 60) + `"`
	}
	return description
}

// approvalState returns the state of an approval. It also says that an approved call was refused.
func approvalState(p parley.Approval) string {
	if p.Refused() {
		return string(p.State) + " (refused)"
	}
	return string(p.State)
}

// deciderText returns the participant that decided about a call, or that is to decide.
func deciderText(p parley.Approval) string {
	if p.DecidedBy != "" {
		return p.DecidedBy
	}
	return approvalDecider(p)
}

func (a *app) approvalShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show APPROVAL",
		Short:             "Show a request for approval in full",
		Example:           "  parley approval show approval-7",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeApprovals, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			approval, err := c.Approval(ctx, args[0])
			if err != nil {
				return err
			}
			return a.printValue(approval, func() { a.showApproval(approval) })
		}),
	}
}

// showApproval prints the request as the approver got it, and the state of the approval.
func (a *app) showApproval(p parley.Approval) {
	a.printText(p.Summary)
	a.printWords("")
	fields := []string{"approval", p.ShortName(), "id", p.ID, "state", approvalState(p), "reason", p.Rule, "since", a.formatTime(p.CreatedAt)}
	if p.State == parley.ApprovalPending {
		fields = append(fields, "expires", a.formatOptionalTime(p.ExpiresAt), "decider", approvalDecider(p))
	} else {
		fields = append(fields, "decided by", p.DecidedBy, "decided", a.formatOptionalTime(p.DecidedAt), "note", p.Note)
	}
	switch {
	case p.Refused():
		fields = append(fields, "refused", p.Failure.Error())
	case p.Failure != nil:
		fields = append(fields, "error", p.Failure.Error())
	}
	a.printFields(fields...)
	if p.Failure == nil && p.Result != "" {
		a.printWords("")
		a.printWording(parley.Framed(p.Target, p.Result))
	}
}

// decideCommand returns a command that approves or denies calls.
func (a *app) decideCommand(verb, done, short string, approve bool) *cobra.Command {
	decision := parley.Decision{Approve: approve}
	cmd := &cobra.Command{
		Use:   verb + " APPROVAL...",
		Short: short,
		Example: "  parley approval " + verb + " approval-7\n" +
			"  parley approval " + verb + " approval-7 --note \"ask me first next time\"",
		Args:              argCount(1, -1),
		ValidArgsFunction: a.completeApprovals,
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			if len(args) == 1 {
				return a.decide(ctx, c, args[0], decision, done)
			}
			worst := exitDone
			for _, id := range args { // each by itself: the others do not depend on it
				if err := a.decide(ctx, c, id, decision, done); err != nil {
					worst = max(worst, a.fail(ctx, err))
				}
				if ctx.Err() != nil {
					break
				}
			}
			return codeError(worst)
		}),
	}
	cmd.Flags().StringVar(&decision.Note, "note", "", "`text` for the requester")
	return cmd
}

// decide decides one approval, and prints what came of it.
func (a *app) decide(ctx context.Context, c *client.Client, id string, d parley.Decision, done string) error {
	decided, err := c.Decide(ctx, id, d)
	if err != nil {
		return err
	}
	switch {
	case decided.Refused():
		a.printStderr("note: the call was approved, but then refused: %s", decided.Failure)
	case decided.Failure != nil:
		a.printStderr("note: the call was approved, but failed: %s", decided.Failure)
	}
	return a.printDone(decided, done, decided.Agent, decided.ShortName())
}

// codeError returns an error that ends the program with an exit code, after what went wrong has been printed.
func codeError(code int) error {
	if code == exitDone {
		return nil
	}
	return silentError{code}
}
