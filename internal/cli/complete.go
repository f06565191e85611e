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

// completer completes what the user has typed so far.
type completer = cobra.CompletionFunc

const (
	completionTime = time.Second // a shell must not wait longer
	maxCompletions = 200
)

// completeFlag registers the completer of a flag. It panics if the flag does not exist.
func completeFlag(cmd *cobra.Command, flag string, by completer) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err)
	}
}

// completeWords completes from a fixed list of words.
func completeWords(words ...string) completer {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// completeArgs completes each argument with its own completer, and further arguments with the last one.
func completeArgs(by ...completer) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return by[min(len(args), len(by)-1)](cmd, args, typed)
	}
}

// completeNothing completes nothing.
func completeNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeRuleTargets completes the target of a rule: an agent, or "*" for everybody.
func (a *app) completeRuleTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.completeAgents(cmd, args, typed)
	return append(names, parley.Anyone+"\teverybody"), directive
}

// completeAgents completes the ids of agents. It completes nothing if the hub does not answer.
func (a *app) completeAgents(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		agents, _ := c.Agents(ctx)
		for _, agent := range agents {
			if agent.Kind != parley.KindSystem { // nobody writes to the system participant
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
		page, _ := c.Conversations(ctx, client.ConversationsOptions{All: true}, client.PageRequest{Limit: maxCompletions})
		for _, conversation := range page.Items {
			if conversation.Name != "" {
				add(conversation.Name, cmp.Or(conversation.DisplayName, conversation.Topic))
			}
		}
	})
}

// completeRuns completes the ids of runs, newest first.
func (a *app) completeRuns(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Runs(ctx, client.RunsOptions{}, client.PageRequest{Limit: defaultRuns})
		for _, run := range page.Items {
			add(run.ShortName(), run.Agent+" "+string(run.State))
		}
	})
}

// completeTasks completes the ids of tasks, newest first.
func (a *app) completeTasks(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Tasks(ctx, client.TasksOptions{}, client.PageRequest{Limit: maxCompletions})
		for _, task := range page.Items {
			add(task.ID, task.Title)
		}
	})
}

// completeApprovals completes the ids of pending approvals.
func (a *app) completeApprovals(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		page, _ := c.Approvals(ctx, client.ApprovalsOptions{State: parley.ApprovalPending}, client.PageRequest{Limit: maxCompletions})
		for _, approval := range page.Items {
			add(approval.ShortName(), approval.Agent+" "+callText(approval))
		}
	})
}

// completeNotes completes the caller's own notes, newest first.
func (a *app) completeNotes(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.completeFromHub(cmd, typed, func(ctx context.Context, c *client.Client, add func(name, about string)) {
		notes, _ := c.Recall(ctx, parley.NoteFilter{Limit: maxCompletions})
		for _, note := range notes {
			add(note.ID, truncate(oneLine(noteText(note)), 60))
		}
	})
}

// completeAgentList completes the last of several ids separated by commas.
func (a *app) completeAgentList(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	found, _ := a.completeAgents(cmd, args, typed[len(before):])
	for i := range found {
		found[i] = before + found[i]
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeFromHub completes with the names that find reads from the hub and passes to add.
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
