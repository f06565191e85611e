// Package service starts and stops work that runs in the background.
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

// New makes a service that runs a function. The function must call started once it is ready, and must return when its context is
// done.
func New(run func(ctx context.Context, started func())) *Service {
	return &Service{run: run, started: make(chan struct{}), done: make(chan struct{})}
}

// Start starts the service. The service ends when ctx is done or Stop is called. Further calls of Start do nothing.
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

// Started returns a channel that is closed once the service is ready.
func (s *Service) Started() <-chan struct{} { return s.started }

// Stop ends the service and waits until its function has returned. It does nothing if the service was never started.
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
