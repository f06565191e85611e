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

// completer finds what could be meant by what was typed so far.
type completer = cobra.CompletionFunc

const (
	completionTime = time.Second // nobody waits longer for a shell
	maxCompletions = 200
)

// completeFlag lets a flag's value be completed. A flag that does not exist is a mistake in this program.
func completeFlag(cmd *cobra.Command, flag string, by completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err)
	}
}

// completeWords completes from words.
func completeWords(words ...string) completer {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// completeArgs completes each argument by its own function, and those after the last by the last.
func completeArgs(by ...completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by[min(len(args), len(by)-1)](cmd, args, typed)
	}
}

// completeNothing completes nothing.
func completeNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeRuleTargets completes whom a rule is about: an agent, or everybody.
func (a *app) completeRuleTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.completeAgents(cmd, args, typed)
	return append(names, parley.Anyone+"\teverybody"), directive
}

// completeAgents completes the ids of agents. A hub that is away completes nothing.
func (a *app) completeAgents(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		agents, _ := c.Agents(ctx)
		for _, agent := range agents {
			if agent.Kind != parley.KindSystem { // whom nobody writes to
				add(agent.ID, agent.Role)
			}
		}
	})
}

// completeTokens completes the ids of tokens that can be revoked.
func (a *app) completeTokens(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		tokens, _ := c.Tokens(ctx, "")
		for _, token := range tokens {
			if token.RevokedAt == nil {
				add(token.ID, token.Agent+" "+token.Label)
			}
		}
	})
}

// completeConvs completes the names of conversations.
func (a *app) completeConvs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Conversations(ctx, client.Conversations{All: true}, client.From{Limit: maxCompletions})
		for _, conversation := range page.Items {
			if conversation.Name != "" {
				add(conversation.Name, cmp.Or(conversation.DisplayName, conversation.Topic))
			}
		}
	})
}

// completeRuns completes the ids of runs, the newest first.
func (a *app) completeRuns(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Runs(ctx, client.RunsOptions{}, client.From{Limit: defaultRuns})
		for _, run := range page.Items {
			add(run.ShortName(), run.Agent+" "+string(run.State))
		}
	})
}

// completeTasks completes the ids of tasks, the newest first.
func (a *app) completeTasks(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Tasks(ctx, client.TasksOptions{}, client.From{Limit: maxCompletions})
		for _, task := range page.Items {
			add(task.ID, task.Title)
		}
	})
}

// completeApprovals completes the ids of approvals that are not decided.
func (a *app) completeApprovals(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Approvals(ctx, client.ApprovalsOptions{State: parley.ApprovalPending}, client.From{Limit: maxCompletions})
		for _, approval := range page.Items {
			add(approval.ShortName(), approval.Agent+" "+callText(approval))
		}
	})
}

// completeAgentList completes the last of several ids with commas between them.
func (a *app) completeAgentList(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	found, _ := a.completeAgents(cmd, args, typed[len(before):])
	for i := range found {
		found[i] = before + found[i]
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func (a *app) completeFromHub(
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
