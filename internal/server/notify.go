package server

import (
	"context"
	"os"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/notify"
)

// readNotify parses the settings that say how the hub notifies people.
func (s *Server) readNotify(context.Context) (err error) {
	if s.notified, err = notify.Parse(s.Config.Notify); err != nil {
		return s.prefixConfigPath(err)
	}
	return nil
}

// startNotify starts to send notifications. A missing secret does not stop the hub: pending notifications are sent after a start
// with the secret.
func (s *Server) startNotify(ctx context.Context) error {
	if err := s.notified.CheckSecrets(); err != nil {
		s.Log.Warn("cannot notify a person; the notifications stay pending", "error", err)
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

// publicURL returns the URL by which people open the hub in a browser.
func (s *Server) publicURL() string {
	if s.Config.PublicURL != "" {
		return s.Config.PublicURL
	}
	return s.Origin()
}

// CheckNotify returns the number of people with notification settings. It returns the error of a wrong setting, or of a secret that
// is missing.
func CheckNotify(c *config.Config) (people int, err error) {
	settings, err := notify.Parse(c.Notify)
	if err != nil {
		return 0, err
	}
	return len(settings), settings.CheckSecrets()
}
