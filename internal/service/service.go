// Package service gives everything that runs in the background the same Start, Started and Stop.
package service

import (
	"context"
	"sync"
)

// Service runs one function in a goroutine of its own. The zero value is not usable; see New.
type Service struct {
	run     func(ctx context.Context, started func())
	started chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	cancel context.CancelFunc
}

// New makes a service of a function that calls started once it is ready and returns when its
// context is done.
func New(run func(ctx context.Context, started func())) *Service {
	return &Service{run: run, started: make(chan struct{}), done: make(chan struct{})}
}

// Start starts the service. It ends with ctx or by Stop. A service starts once.
func (s *Service) Start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		return
	}
	ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		defer close(s.done)
		s.run(ctx, sync.OnceFunc(func() { close(s.started) }))
	}()
}

// Started is closed once the service is ready.
func (s *Service) Started() <-chan struct{} { return s.started }

// Stop ends the service and waits for it. Stopping what never started does nothing.
func (s *Service) Stop() {
	s.mu.Lock()
	cancel := s.cancel
	s.mu.Unlock()
	if cancel == nil {
		return
	}
	cancel()
	<-s.done
}
