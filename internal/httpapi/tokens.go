package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-hub/parley"
)

type listTokensInput struct {
	Agent  string `query:"agent" doc:"The holder of the tokens; missing: the caller's tokens, or all tokens for an owner."`
	Limit  int    `query:"limit" minimum:"0" maximum:"1000" doc:"The most items to return; 0 or missing: the default."`
	Cursor string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

func listTokens(ctx context.Context, c *call, in *listTokensInput) (page List[parley.Token], err error) {
	filter := parley.TokenFilter{Agent: in.Agent, Limit: in.Limit}
	if place, err := decodeCursor[string](in.Cursor); err != nil {
		return page, err
	} else if place != nil {
		filter.Before = *place
	}
	list, next, err := c.hub.Tokens(ctx, c.caller, filter)
	page.Items = list
	if next != "" {
		page.Next = encodeCursor(next)
	}
	return page, err
}

// TokenRequest describes a token to make.
type TokenRequest struct {
	Agent     string        `json:"agent" doc:"The agent or person that gets the token." example:"arya"`
	Label     string        `json:"label,omitempty" doc:"The token's label."`
	Scopes    parley.Scopes `json:"scopes,omitempty" doc:"The scopes, among those of the caller; default: read and send."`
	ExpiresIn *float64      `json:"expires_in,omitempty" minimum:"0" doc:"Seconds until the token expires; missing: it is valid until it is revoked."`
}

func makeToken(ctx context.Context, c *call, in *bodyInput[TokenRequest]) (parley.MadeToken, error) {
	b := in.Body
	n := parley.NewToken{Agent: b.Agent, Label: b.Label, Scopes: b.Scopes}
	if b.ExpiresIn != nil {
		if n.For = seconds(*b.ExpiresIn); n.For <= 0 {
			return parley.MadeToken{}, parley.Errorf(parley.BadInput, "expires_in is %v seconds", *b.ExpiresIn).
				Suggest("use more than 0, or leave expires_in out: the token is then valid until somebody revokes it")
		}
	}
	return c.hub.NewToken(ctx, c.caller, n)
}

type tokenInput struct {
	Token string `path:"token" doc:"The token's id."`
}

func revokeToken(ctx context.Context, c *call, in *tokenInput) error {
	return c.hub.RevokeToken(ctx, c.caller, in.Token)
}

// Link is a link that opens a browser session, once.
type Link struct {
	URL       string    `json:"url" doc:"Open it in a browser."`
	ExpiresAt time.Time `json:"expires_at" doc:"When the link expires."`
}

// LinkRequest names the person to sign in.
type LinkRequest struct {
	Agent string `json:"agent,omitempty" doc:"The person to sign in; missing: the caller."`
}

func makeLink(w http.ResponseWriter, r *http.Request, c *call, in *bodyInput[LinkRequest]) error {
	person := in.Body.Agent
	if person == "" {
		person = c.caller.Agent
	}
	secret, expires, err := c.hub.NewLink(r.Context(), c.caller, person)
	if err != nil {
		return err
	}
	origin := c.options.Origin
	if origin == "" {
		origin = c.origins(r)[0]
	}
	writeJSON(w, http.StatusCreated, Link{origin + "/sign-in?code=" + url.QueryEscape(secret), expires})
	return nil
}
