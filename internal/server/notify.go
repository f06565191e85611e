package server

import (
	"context"
	"os"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/notify"
)

// readNotify reads how people are told what waits for them.
func (s *Server) readNotify(context.Context) (err error) {
	if s.notified, err = notify.Parse(s.Config.Notify); err != nil {
		return s.inConfig(err)
	}
	return nil
}

// startNotify begins to tell them. It can go on without the secrets it needs: what waits is sent once they are there.
func (s *Server) startNotify(ctx context.Context) error {
	if err := s.notified.CheckSecrets(); err != nil {
		s.Log.Warn("somebody cannot be notified", "error", err)
	}
	sender, err := notify.New(s.hub, notify.Options{
		Settings: s.notified, PublicURL: s.publicURL(), Allow: s.Config.Webhook.Allow, Environ: os.Environ(), Log: s.Log,
	})
	if err != nil {
		return err
	}
	sender.Start(context.WithoutCancel(ctx))
	s.onStop(func() error { sender.Stop(); return nil })
	return nil
}

// publicURL is where people reach the hub with a browser.
func (s *Server) publicURL() string {
	if s.Config.PublicURL != "" {
		return s.Config.PublicURL
	}
	return s.Origin()
}

// CheckNotify says what is wrong with the ways by which people are notified, and how many people have any.
func CheckNotify(c *config.Config) (people int, err error) {
	settings, err := notify.Parse(c.Notify)
	if err != nil {
		return 0, err
	}
	return len(settings), settings.CheckSecrets()
}
