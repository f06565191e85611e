package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Identity describes the caller as the hub knows it.
type Identity struct {
	Agent     parley.Agent  `json:"agent"`
	Scopes    parley.Scopes `json:"scopes"`
	Token     string        `json:"token,omitempty"` // the id of the caller's token, if it has one
	By        string        `json:"by,omitempty"`    // the owner who acts as the agent
	ExpiresAt *time.Time    `json:"expires_at,omitempty"`

	// Client is the client from which the calling process descends, if the caller is this client's agent because of that.
	Client *parley.ClientProcess `json:"client,omitempty"`
}

// Whoami returns the identity of the caller.
func (c *Client) Whoami(ctx context.Context) (Identity, error) {
	return fetch[Identity](ctx, c, nil, "whoami")
}

// Agents returns all participants.
func (c *Client) Agents(ctx context.Context) ([]parley.Agent, error) {
	page, err := fetch[Page[parley.Agent]](ctx, c, nil, "agents")
	return page.Items, err
}

// Who returns the presence of every participant.
func (c *Client) Who(ctx context.Context) ([]parley.Presence, error) {
	page, err := fetch[Page[parley.Presence]](ctx, c, nil, "who")
	return page.Items, err
}

// Protocols returns the formats that the hub supports, and the formats that each agent supports.
func (c *Client) Protocols(ctx context.Context) (parley.Spoken, error) {
	return fetch[parley.Spoken](ctx, c, nil, "protocols")
}

// Agent returns one participant with its status. Here and below, name is the participant's id, uuid or display name.
func (c *Client) Agent(ctx context.Context, name string) (parley.AgentView, error) {
	return fetch[parley.AgentView](ctx, c, nil, "agents", name)
}

// AddAgent adds a participant. Only owners may call it.
func (c *Client) AddAgent(ctx context.Context, n parley.NewAgent) (parley.Agent, error) {
	return call[parley.Agent](ctx, c, http.MethodPost, n, "agents")
}

// AgentChange has the fields of an agent to change, under their JSON names: name, access and the fields of parley.Profile. A
// nil value sets the default.
type AgentChange map[string]any

// ChangeAgent changes an agent. Only owners may call it.
func (c *Client) ChangeAgent(ctx context.Context, name string, change AgentChange) (parley.Agent, error) {
	return call[parley.Agent](ctx, c, http.MethodPatch, change, "agents", name)
}

// RemoveAgent removes an agent. Only owners may call it.
func (c *Client) RemoveAgent(ctx context.Context, name string) error {
	return c.do(ctx, http.MethodDelete, nil, "agents", name)
}

// Sleep puts an agent to sleep until a time. Messages stay pending until then. An ask wakes the agent earlier.
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
