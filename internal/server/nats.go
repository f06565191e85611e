package server

import (
	"context"
	"path/filepath"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/natslink"
)

// startNATS connects the hub to NATS, if a URL is configured. It does not wait for the NATS server: the link connects, and retries,
// in the background.
func (s *Server) startNATS(ctx context.Context) error {
	c := s.Config.NATS
	if c.URL == "" {
		return nil
	}
	self, err := s.hub.Agent(ctx, hub.Caller{Agent: parley.System}, parley.System)
	if err != nil {
		return err
	}
	link, err := natslink.New(s.hub, natslink.Options{
		URL: c.URL, Name: c.Hub, ID: self.UUID,
		Keys: natslink.Keys{
			NKey: s.fromHome(c.NKey), Creds: s.fromHome(c.Creds), CA: s.fromHome(c.CA), Cert: s.fromHome(c.Cert), Key: s.fromHome(c.Key),
		},
		Limit: natslink.Limit{Age: c.Age, Bytes: c.Bytes}, Body: s.Config.Limits.Body, Log: s.Log,
	})
	if err != nil {
		return s.prefixConfigPath(err)
	}
	link.Start(context.WithoutCancel(ctx))
	s.onStop(func() error { link.Stop(); return nil })
	return nil
}

// fromHome resolves a path against the home. It leaves an empty path empty.
func (s *Server) fromHome(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(string(s.Home), path)
}
