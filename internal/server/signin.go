package server

import (
	"context"
	"net/url"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// SignInLink returns a URL that signs the owner in. It works once.
func (s *Server) SignInLink(ctx context.Context) (string, error) {
	owner := hub.Caller{Agent: parley.Owner, Source: "cli", Scopes: parley.AllScopes()}
	secret, _, err := s.hub.NewLink(ctx, owner, parley.Owner)
	if err != nil {
		return "", err
	}
	return s.Origin() + "/sign-in?" + url.Values{"code": {secret}}.Encode(), nil
}

// About returns the version, addresses and process of this hub.
func (s *Server) About() parley.HubStatus { return s.about }
