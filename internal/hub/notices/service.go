package notices

import (
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core

	noticesCome chan struct{} // a person is to be told something
}

// AfterCommit returns the function that tells the notifiers about new notices.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		if c.NoticesDue {
			local.Signal(s.noticesCome)
		}
	}
}

// New makes the use cases from the core of a hub.
func New(core *unit.Core) *Service {
	s := &Service{Core: core}
	s.noticesCome = make(chan struct{}, 1)
	return s
}
