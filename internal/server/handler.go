package server

import (
	"context"
	"net/http"
	"slices"

	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/mcpapi"
)

// hosts returns the names by which clients may call the hub, beside those of its machine.
func (s *Server) hosts() []string {
	if s.Config.PublicURL == "" {
		return s.Config.Hosts
	}
	return append(slices.Clone(s.Config.Hosts), s.Config.PublicURL)
}

// handler returns the handler of all HTTP requests. It ends streams when closing ends.
func (s *Server) handler(closing context.Context) http.Handler {
	served := s.MCP
	served.Log = s.Log
	endpoint := mcpapi.NewHandler(served)
	s.onStop(func() error { endpoint.Close(); return nil })
	return httpapi.New(s.hub, httpapi.Options{
		Hosts:  s.hosts(),
		Origin: s.Origin(),
		Peer:   s.peer,
		Attach: s.attach,

		Connect: s.connectClient,
		MCP: func(w http.ResponseWriter, r *http.Request, c httpapi.MCPCaller) {
			endpoint.Serve(w, r, mcpapi.Caller{ID: c.Agent, Workspace: c.Workspace, InRun: c.Run != "", Principal: c.Principal, WatchCredential: c.WatchCredential})
		},
		OnIdentified: noteCredential,
		Closing:      closing,
		Limits:       s.Config.Limits,
		Log:          s.Log,

		Metrics:  s.observed.metrics,
		Messages: s.observed.messages,
	})
}
