package cli

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// names finds what could be meant by what was typed so far.
type names = cobra.CompletionFunc

const (
	completionTime = time.Second // nobody waits longer for a shell
	maxCompletions = 200
)

// complete lets a flag's value be completed. A flag that does not exist is a mistake in this program.
func complete(cmd *cobra.Command, flag string, by names) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err)
	}
}

// fixed completes from words.
func fixed(words ...string) names {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// inTurn completes each argument by its own function, and those after the last by the last.
func inTurn(by ...names) names {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by[min(len(args), len(by)-1)](cmd, args, typed)
	}
}

// nothing completes nothing.
func nothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// ruleTargets completes whom a rule is about: an agent, or everybody.
func (a *app) ruleTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.agentNames(cmd, args, typed)
	return append(names, parley.Anyone+"\teverybody"), directive
}

// agentNames completes the ids of agents. A hub that is away completes nothing.
func (a *app) agentNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.fromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		agents, _ := c.Agents(ctx)
		for _, agent := range agents {
			if agent.Kind != parley.KindSystem { // whom nobody writes to
				add(agent.ID, agent.Role)
			}
		}
	})
}

// tokenIDs completes the ids of tokens that can be revoked.
func (a *app) tokenIDs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.fromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		tokens, _ := c.Tokens(ctx, "")
		for _, token := range tokens {
			if token.RevokedAt == nil {
				add(token.ID, token.Agent+" "+token.Label)
			}
		}
	})
}

// convNames completes the names of conversations.
func (a *app) convNames(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.fromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Conversations(ctx, client.Conversations{All: true}, client.From{Limit: maxCompletions})
		for _, conversation := range page.Items {
			if conversation.Name != "" {
				add(conversation.Name, cmp.Or(conversation.DisplayName, conversation.Topic))
			}
		}
	})
}

// runIDs completes the ids of runs, the newest first.
func (a *app) runIDs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.fromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Runs(ctx, client.RunsOptions{}, client.From{Limit: usualRuns})
		for _, run := range page.Items {
			add(run.ShortName(), run.Agent+" "+string(run.State))
		}
	})
}

// taskIDs completes the ids of tasks, the newest first.
func (a *app) taskIDs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.fromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Tasks(ctx, client.TasksOptions{}, client.From{Limit: maxCompletions})
		for _, task := range page.Items {
			add(task.ID, task.Title)
		}
	})
}

// approvalIDs completes the ids of approvals that are not decided.
func (a *app) approvalIDs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.fromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Approvals(ctx, client.ApprovalsOptions{State: parley.ApprovalPending}, client.From{Limit: maxCompletions})
		for _, approval := range page.Items {
			add(approval.ShortName(), approval.Agent+" "+callText(approval))
		}
	})
}

// agentListNames completes the last of several ids with commas between them.
func (a *app) agentListNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	found, _ := a.agentNames(cmd, args, typed[len(before):])
	for i := range found {
		found[i] = before + found[i]
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (a *app) fromHub(
	cmd *cobra.Command, typed string, find func(context.Context, *client.Client, func(name, about string)),
) (found []string, _ cobra.ShellCompDirective) {
	c, err := a.newClient()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer c.Close()
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	find(ctx, c, func(name, about string) {
		if strings.HasPrefix(name, strings.ToLower(typed)) && len(found) < maxCompletions {
			found = append(found, cobra.CompletionWithDesc(name, oneLine(about)))
		}
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}
