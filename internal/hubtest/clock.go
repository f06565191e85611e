package hubtest

import (
	"sync"
	"sync/atomic"
	"time"
)

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// LeaseClock is a lease clock that stands still until it is moved.
type LeaseClock struct{ now atomic.Int64 }

// Now returns what the clock shows, in milliseconds.
func (c *LeaseClock) Now() int64 { return c.now.Load() }

// Advance moves the clock.
func (c *LeaseClock) Advance(d time.Duration) { c.now.Add(d.Milliseconds()) }
