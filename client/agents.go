package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Identity is who the hub takes the caller for.
type Identity struct {
	Agent     parley.Agent  `json:"agent"`
	Scopes    parley.Scopes `json:"scopes"`
	Token     string        `json:"token,omitempty"` // its id, where one was used
	By        string        `json:"by,omitempty"`    // the owner who acts as the agent
	ExpiresAt *time.Time    `json:"expires_at,omitempty"`
}

// Whoami returns who the hub takes the caller for.
func (c *Client) Whoami(ctx context.Context) (Identity, error) {
	return fetch[Identity](ctx, c, nil, "whoami")
}

// Agents returns all participants.
func (c *Client) Agents(ctx context.Context) ([]parley.Agent, error) {
	page, err := fetch[Page[parley.Agent]](ctx, c, nil, "agents")
	return page.Items, err
}

// Who returns what every participant is doing.
func (c *Client) Who(ctx context.Context) ([]parley.Presence, error) {
	page, err := fetch[Page[parley.Presence]](ctx, c, nil, "who")
	return page.Items, err
}

// Protocols returns which formats the hub speaks, and of each agent those that it speaks.
func (c *Client) Protocols(ctx context.Context) (parley.Spoken, error) {
	return fetch[parley.Spoken](ctx, c, nil, "protocols")
}

// Agent returns one participant with what it is doing. Here and below name is its id, its uuid or its display
// name.
func (c *Client) Agent(ctx context.Context, name string) (parley.AgentView, error) {
	return fetch[parley.AgentView](ctx, c, nil, "agents", name)
}

// AddAgent adds a participant. Owners only.
func (c *Client) AddAgent(ctx context.Context, n parley.NewAgent) (parley.Agent, error) {
	return call[parley.Agent](ctx, c, http.MethodPost, n, "agents")
}

// AgentChange is what to change about an agent: name, access and the fields of parley.Profile under their
// JSON names. What is nil goes back to its default.
type AgentChange map[string]any

// ChangeAgent changes an agent. Owners only.
func (c *Client) ChangeAgent(ctx context.Context, name string, change AgentChange) (parley.Agent, error) {
	return call[parley.Agent](ctx, c, http.MethodPatch, change, "agents", name)
}

// RemoveAgent removes an agent. Owners only.
func (c *Client) RemoveAgent(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, nil, "agents", name)
}

// Sleep lets an agent sleep until a time. Only what cannot wait wakes it before.
func (c *Client) Sleep(ctx context.Context, name string, until time.Time) (parley.Agent, error) {
	in := struct {
		Until time.Time `json:"until"`
	}{until.UTC()}
	return call[parley.Agent](ctx, c, http.MethodPost, in, "agents", name, "sleep")
}

// Wake ends an agent's sleep.
func (c *Client) Wake(ctx context.Context, name string) (parley.Agent, error) {
	return call[parley.Agent](ctx, c, http.MethodPost, nil, "agents", name, "wake")
}
