package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) tokenCommand() *cobra.Command {
	return a.parentCommand("token", "Create, list and revoke credentials", a.tokenNew(), a.tokenList(), a.tokenRevoke())
}

func (a *app) tokenNew() *cobra.Command {
	var n parley.NewToken
	var scopes []string
	cmd := &cobra.Command{
		Use:   "new AGENT",
		Short: "Create a token for an agent or a person, and print its secret once",
		Example: `  parley token new arya
  parley token new arya --scope read --expires 30d --label dashboard
  PARLEY_TOKEN=$(parley token new arya) parley inbox`,
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			n.Agent = args[0]
			for _, scope := range scopes {
				n.Scopes = append(n.Scopes, parley.Scope(scope))
			}
			made, err := c.NewToken(ctx, n)
			if err != nil {
				return err
			}
			return a.printValue(made, func() { a.printToken(made) })
		}),
	}
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "`scopes`: read, send, decide, admin (default read,send)")
	cmd.Flags().Var(durationFlag{&n.For}, "expires", "how long the token is valid, such as 30d (default: until you revoke it)")
	cmd.Flags().StringVar(&n.Label, "label", "", "`text` that says what the token is for")
	completeFlag(cmd, "scope", completeWords("read", "send", "decide", "admin"))
	return cmd
}

// printToken prints the secret alone on standard output, so that a script can capture it.
func (a *app) printToken(made parley.MadeToken) {
	a.printWords(made.Secret)
	until := "until you revoke it: " + a.commandLine("token", "revoke", made.ID)
	if made.ExpiresAt != nil {
		until = "until " + a.formatTime(*made.ExpiresAt)
	}
	a.printStderr("token %s gives %s the scopes %s %s; parley does not show the secret again", made.ID, made.Agent, scopeText(made.Scopes), until)
}

func scopeText(scopes parley.Scopes) string {
	words := make([]string, len(scopes))
	for i, scope := range scopes {
		words[i] = string(scope)
	}
	return strings.Join(words, ",")
}

func (a *app) tokenList() *cobra.Command {
	return &cobra.Command{
		Use:               "list [AGENT]",
		Short:             "List tokens, without their secrets",
		Example:           "  parley token list\n  parley token list arya -o json",
		Args:              argCount(0, 1),
		ValidArgsFunction: completeArgs(a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			tokens, err := c.Tokens(ctx, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return printList(a, tokens,
				column[parley.Token]{"id", func(t parley.Token) string { return t.ID }},
				column[parley.Token]{"agent", func(t parley.Token) string { return t.Agent }},
				column[parley.Token]{"kind", func(t parley.Token) string { return string(t.Kind) }},
				column[parley.Token]{"scopes", func(t parley.Token) string { return scopeText(t.Scopes) }},
				column[parley.Token]{"state", func(t parley.Token) string { return tokenState(t, time.Now()) }},
				column[parley.Token]{"expires", func(t parley.Token) string { return a.formatOptionalTime(t.ExpiresAt) }},
				column[parley.Token]{"label", func(t parley.Token) string { return t.Label }},
			)
		}),
	}
}

func tokenState(t parley.Token, now time.Time) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case !t.Valid(now):
		return "expired"
	default:
		return "valid"
	}
}

func (a *app) tokenRevoke() *cobra.Command {
	return &cobra.Command{
		Use:               "revoke ID",
		Short:             "Revoke a token at once, and close its streams",
		Example:           "  parley token revoke 0195a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeTokens, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			if err := c.RevokeToken(ctx, args[0]); err != nil {
				return err
			}
			return a.printAction("revoked", args[0])
		}),
	}
}
