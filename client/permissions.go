package client

import (
	"context"
	"io"
	"net/http"

	"github.com/parley-hub/parley"
)

// Permissions returns the rules of an agent. With "", it returns the rules that the caller may see: an agent sees its own
// rules, an owner sees all.
func (c *Client) Permissions(ctx context.Context, agent string) ([]parley.Permission, error) {
	page, err := fetch[Page[parley.Permission]](ctx, c, query("agent", agent), "permissions")
	return page.Items, err
}

// Permit adds a rule, or changes the rule with the same agent, target and effect. Only owners may call it.
func (c *Client) Permit(ctx context.Context, p parley.Permission) (parley.Permission, error) {
	in := struct {
		Agent            string        `json:"agent"`
		Target           string        `json:"target"`
		Effect           parley.Effect `json:"effect"`
		RequiresApproval bool          `json:"requires_approval,omitempty"`
		RequiresHuman    bool          `json:"requires_human,omitempty"`
	}{p.Agent, p.Target, p.Effect, p.RequiresApproval, p.RequiresHuman}
	return call[parley.Permission](ctx, c, http.MethodPut, in, "permissions")
}

// Unpermit removes the rule with this agent, target and effect; with "", the rules with either effect. Only owners may call it.
func (c *Client) Unpermit(ctx context.Context, agent, target string, effect parley.Effect) error {
	r := request{method: http.MethodDelete, query: query("agent", agent, "target", target, "effect", string(effect))}
	return c.exchange(ctx, r, nil, 0, func(io.Reader) error { return nil }, "permissions")
}

// CheckPermission returns whether one participant may contact another, and the rules that the hub checked.
func (c *Client) CheckPermission(ctx context.Context, from, to string) (parley.Verdict, error) {
	return fetch[parley.Verdict](ctx, c, query("from", from, "to", to), "permissions", "check")
}
