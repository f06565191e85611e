package server

import (
	"net/http"

	"github.com/parley-hub/parley/internal/httpapi"
)

// handler is everything that is answered over HTTP. Streams end when closing is closed.
func (s *Server) handler(closing <-chan struct{}) http.Handler {
	return httpapi.New(s.hub, httpapi.Options{
		Hosts:   s.Config.Hosts,
		Origin:  s.Origin(),
		Peer:    s.peer,
		Attach:  s.attach,
		Closing: closing,
		Limits:  s.Config.Limits,
		Log:     s.Log,
	})
}
