package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/parley-hub/parley"
)

type listedTokens struct {
	Agent  string `query:"agent" doc:"Whose tokens; absent: the caller's, or for an owner all."`
	Limit  int    `query:"limit" minimum:"0" maximum:"1000" doc:"How many to return at most; 0 or absent: the usual number."`
	Cursor string `query:"cursor" doc:"Where to go on: next of the page before."`
}

func listTokens(ctx context.Context, c call, in *listedTokens) (page List[parley.Token], err error) {
	filter := parley.TokenFilter{Agent: in.Agent, Limit: in.Limit}
	if place, err := at[string](in.Cursor); err != nil {
		return page, err
	} else if place != nil {
		filter.Before = *place
	}
	list, next, err := c.hub.Tokens(ctx, c.caller, filter)
	page.Items = list
	if next != "" {
		page.Next = cursor(next)
	}
	return page, err
}

// TokenRequest describes a token to make.
type TokenRequest struct {
	Agent     string        `json:"agent" doc:"Whose it is to be." example:"arya"`
	Label     string        `json:"label,omitempty" doc:"What it is for."`
	Scopes    parley.Scopes `json:"scopes,omitempty" doc:"What it may be used for, within the maker's own; default: read and send."`
	ExpiresIn *float64      `json:"expires_in,omitempty" minimum:"0" doc:"Seconds until it ends; absent: when it is revoked."`
}

func makeToken(ctx context.Context, c call, in *with[TokenRequest]) (parley.MadeToken, error) {
	b := in.Body
	n := parley.NewToken{Agent: b.Agent, Label: b.Label, Scopes: b.Scopes}
	if b.ExpiresIn != nil {
		if n.For = seconds(*b.ExpiresIn); n.For <= 0 {
			return parley.MadeToken{}, parley.Errorf(parley.BadInput, "expires_in is %v seconds", *b.ExpiresIn).
				Suggest("give more, or leave it out for a token that does not end")
		}
	}
	return c.hub.NewToken(ctx, c.caller, n)
}

type oneToken struct {
	Token string `path:"token" doc:"The token's id."`
}

func revokeToken(ctx context.Context, c call, in *oneToken) error {
	return c.hub.RevokeToken(ctx, c.caller, in.Token)
}

// Link opens a session in a browser, once.
type Link struct {
	URL       string    `json:"url" doc:"To be opened in a browser."`
	ExpiresAt time.Time `json:"expires_at" doc:"When it does not work any more."`
}

// LinkRequest says who is to be signed in.
type LinkRequest struct {
	Agent string `json:"agent,omitempty" doc:"Who is to be signed in; absent: the caller."`
}

func makeLink(w http.ResponseWriter, r *http.Request, c call, in *with[LinkRequest]) error {
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
