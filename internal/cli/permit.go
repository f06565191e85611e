package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) permitCommand() *cobra.Command {
	return a.parentCommand("permit", "Allow or deny contacts between agents",
		a.permitAllow(), a.permitDeny(), a.permitList(), a.permitRemove(), a.permitCheck())
}

func (a *app) permitAllow() *cobra.Command {
	rule := parley.Permission{Effect: parley.EffectAllow}
	cmd := a.permitRuleCommand(&rule, "allow", "Allow an agent to contact another one",
		`  parley permit allow intern analyst
  parley permit allow intern analyst --requires-approval
  parley permit allow intern "*" --human`)
	cmd.Flags().BoolVar(&rule.RequiresApproval, "requires-approval", false, "require approval for each call")
	cmd.Flags().BoolVar(&rule.RequiresHuman, "human", false, "require approval by a person for each call")
	return cmd
}

func (a *app) permitDeny() *cobra.Command {
	return a.permitRuleCommand(&parley.Permission{Effect: parley.EffectDeny}, "deny", "Deny an agent contact with another one",
		"  parley permit deny intern ceo\n  parley permit deny intern \"*\"")
}

// permitRuleCommand returns a command that adds a rule.
func (a *app) permitRuleCommand(rule *parley.Permission, verb, short, example string) *cobra.Command {
	return &cobra.Command{
		Use:               verb + " AGENT TARGET",
		Short:             short,
		Long:              short + ". TARGET may be *, which means every participant without a rule of its own.",
		Example:           example,
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeAgents, a.completeRuleTargets, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			rule.Agent, rule.Target = args[0], args[1]
			added, err := c.Permit(ctx, *rule)
			if err != nil {
				return err
			}
			allowed := added.Effect == parley.EffectAllow
			return a.printDone(added, rulingText(allowed, added.RequiresApproval, added.RequiresHuman), added.Agent+" → "+added.Target)
		}),
	}
}

// rulingText returns whether a contact is allowed, and with which approval.
func rulingText(allowed, approval, human bool) string {
	if !allowed {
		return "denied"
	}
	return strings.TrimSpace("allowed " + approvalText(approval, human))
}

// approvalText returns which approval a rule requires.
func approvalText(approval, human bool) string {
	switch {
	case approval && human:
		return "with approval by a person"
	case approval:
		return "with approval"
	default:
		return ""
	}
}

func (a *app) permitList() *cobra.Command {
	return &cobra.Command{
		Use:               "list [AGENT]",
		Short:             "List the rules of all agents, or of one agent",
		Example:           "  parley permit list\n  parley permit list intern -o json",
		Args:              argCount(0, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			rules, err := c.Permissions(ctx, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return printList(a, rules,
				column[parley.Permission]{"agent", func(p parley.Permission) string { return p.Agent }},
				column[parley.Permission]{"target", func(p parley.Permission) string { return p.Target }},
				column[parley.Permission]{"rule", func(p parley.Permission) string {
					return strings.TrimSpace(string(p.Effect) + " " + approvalText(p.RequiresApproval, p.RequiresHuman))
				}},
				column[parley.Permission]{"by", func(p parley.Permission) string { return p.CreatedBy }},
				column[parley.Permission]{"since", func(p parley.Permission) string { return a.formatPastTime(p.CreatedAt) }},
			)
		}),
	}
}

func (a *app) permitRemove() *cobra.Command {
	var effect string
	cmd := &cobra.Command{
		Use:               "remove AGENT TARGET",
		Short:             "Remove the rules of an agent for a target",
		Example:           "  parley permit remove intern analyst\n  parley permit remove intern \"*\" --only deny",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeAgents, a.completeRuleTargets, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.Unpermit(ctx, args[0], args[1], parley.Effect(effect)); err != nil {
				return err
			}
			return a.printAction("removed", args[0]+" → "+args[1])
		}),
	}
	cmd.Flags().StringVar(&effect, "only", "", "remove only the rule with this `effect`: allow or deny")
	completeFlag(cmd, "only", completeWords(string(parley.EffectAllow), string(parley.EffectDeny)))
	return cmd
}

func (a *app) permitCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check AGENT TARGET",
		Short: "Show whether an agent may contact another one, and which rule decides",
		Long: `Show whether an agent may contact another one, which rule decides, and every rule that the hub checked before it. The
exit code is 3 if the agent may not contact the target, and 1 if both are the same agent.`,
		Example:           "  parley permit check intern analyst\n  parley permit check intern analyst -o json",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeAgents, a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			verdict, err := c.CheckPermission(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			if err := a.printValue(verdict, func() { a.showVerdict(args[0], args[1], verdict) }); err != nil {
				return err
			}
			if verdict.Error != nil {
				return silentError{exitCode(verdict.Error)}
			}
			return nil
		}),
	}
}

func (a *app) showVerdict(from, to string, v parley.Verdict) {
	a.printWords(rulingText(v.Allowed, v.RequiresApproval, v.RequiresHuman), from+" → "+to, v.Rule)
	var passed []string
	for _, check := range v.Checks {
		passed = append(passed, check.Rule, check.Result)
	}
	a.printFields(passed...)
	if v.Error != nil {
		a.printStderr("%s", v.Error)
	}
}
