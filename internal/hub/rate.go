package hub

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-hub/parley"
)

// Rate limits what one agent may send. The zero value means the default; a burst with a PerSecond of
// 0 or less means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// limiter has a bucket for each agent.
type limiter struct {
	rate    Rate
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newLimiter(r Rate) *limiter {
	if r == (Rate{}) {
		r = Rate{PerSecond: 50, Burst: 200}
	}
	return &limiter{rate: r, buckets: map[string]*rate.Limiter{}}
}

// take takes one token of an agent, or says how long until there is one.
func (l *limiter) take(agent string, now time.Time) (wait time.Duration) {
	if l.rate.PerSecond <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, ok := l.buckets[agent]
	if !ok {
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.buckets[agent] = bucket
	}
	r := bucket.ReserveN(now, 1)
	wait = r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *limiter) exceeded(agent string, wait time.Duration) error {
	return parley.Errorf(parley.Unavailable, "%s has sent more than %g messages a second", agent, l.rate.PerSecond).
		Because(parley.RateLimited).Retryable(wait).Suggest("try again in %s", wait.Round(time.Millisecond))
}
