package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// NewToken makes a token. Only its result has the secret: the hub keeps a hash.
func (c *Client) NewToken(ctx context.Context, n parley.NewToken) (parley.MadeToken, error) {
	in := struct {
		parley.NewToken
		ExpiresIn float64 `json:"expires_in,omitempty"`
	}{n, n.For.Seconds()}
	return call[parley.MadeToken](ctx, c, http.MethodPost, in, "tokens")
}

// Tokens returns the tokens of an agent, without their secrets; with "", the tokens that the caller may see.
func (c *Client) Tokens(ctx context.Context, agent string) ([]parley.Token, error) {
	page, err := fetch[Page[parley.Token]](ctx, c, query("agent", agent), "tokens")
	return page.Items, err
}

// RevokeToken revokes a token. The hub refuses it from the next call on.
func (c *Client) RevokeToken(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodDelete, nil, "tokens", id)
}

// SignInLink is a link that opens a browser session, once.
type SignInLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// NewLink makes a sign-in link for a person; with "", for the caller.
func (c *Client) NewLink(ctx context.Context, person string) (SignInLink, error) {
	in := struct {
		Agent string `json:"agent,omitempty"`
	}{person}
	return call[SignInLink](ctx, c, http.MethodPost, in, "sign-in-links")
}
