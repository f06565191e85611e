package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// limiter limits a rate with one token bucket for each agent.
type limiter struct {
	rate    unit.Rate
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newLimiter(r unit.Rate) *limiter {
	if r == (unit.Rate{}) {
		r = unit.Rate{PerSecond: 50, Burst: 200}
	}
	if r.Burst <= 0 {
		r.Burst = max(1, int(4*r.PerSecond))
	}
	return &limiter{rate: r, buckets: map[string]*rate.Limiter{}}
}

// take takes one token of an agent. If there is none, it returns how long until there is one.
func (l *limiter) take(agent string, now time.Time) (wait time.Duration) {
	return l.takeSome(agent, now, 1)
}

// takeSome takes n tokens of an agent at once, but at most a burst.
func (l *limiter) takeSome(agent string, now time.Time, n int) (wait time.Duration) {
	if l.rate.PerSecond <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, ok := l.buckets[agent]
	if !ok {
		l.forgetFull(now)
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.buckets[agent] = bucket
	}
	r := bucket.ReserveN(now, min(n, l.rate.Burst))
	wait = r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// maxBuckets is how many buckets the limiter keeps before it forgets full ones.
const maxBuckets = 4096

// forgetFull forgets full buckets, because a new bucket is full too. The caller holds l.mu.
func (l *limiter) forgetFull(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for agent, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.rate.Burst) {
			delete(l.buckets, agent)
		}
	}
}

// Limit counts a change against its caller's rate. Owners, bridges and the hub itself have no limit; the hub looks that up
// only when the rate is exceeded.
func Limit(ctx context.Context, s *Service, caller unit.Caller) error {
	if caller.Agent == parley.System || caller.Source == "file" {
		return nil
	}
	wait := s.rate.take(caller.Key(), s.Clock.Now())
	if wait == 0 {
		return nil
	}
	return s.View(ctx, caller, unit.OpIdentify, func(u *unit.Unit) error {
		if u.SeesAll() {
			return nil
		}
		return s.rate.exceeded(u.Me.ID, wait)
	})
}

// exceeded returns the error for an agent that made too many changes.
func (l *limiter) exceeded(agent string, wait time.Duration) error {
	return parley.Errorf(parley.Unavailable, "%s has made more than %g changes a second", agent, l.rate.PerSecond).
		Because(parley.RateLimited).Retryable(wait).Suggest("try again in %s", wait.Round(time.Millisecond))
}

// Limits of what one participant can create, so that a program in a loop does not fill the hub. Owners have no limits.
const (
	MaxConversations = 2000 // channels and groups of one creator that are not archived
	MaxCredentials   = 100  // usable tokens, sessions and sign-in links of one participant
)

// MayCreate returns E002 if the caller has too many conversations. Direct and ephemeral conversations do not count: each
// pair has only one direct conversation, and ephemeral ones end by themselves.
func MayCreate(u *unit.Unit, kind parley.ConversationKind) error {
	if u.SeesAll() || kind != parley.Channel && kind != parley.Group {
		return nil
	}
	made, err := u.Conversations().CountMade(u.Me.ID)
	if err == nil && made >= MaxConversations {
		err = parley.Errorf(parley.Unavailable, "%s has made %d conversations, which is the most it may have", u.Me.ID, made).
			Suggest("archive those that are not used any more: parley conv archive")
	}
	return err
}

// checkCredentialQuota returns E002 if a participant has too many credentials.
func checkCredentialQuota(u *unit.Unit, holder string) error {
	if u.SeesAll() {
		return nil
	}
	usable, err := u.Tokens().CountUsable(holder, u.Now)
	if err == nil && usable >= MaxCredentials {
		err = parley.Errorf(parley.Unavailable, "%s has %d credentials, which is the most it may have", holder, usable).
			Suggest("revoke those that are not used any more: parley token list, parley token revoke")
	}
	return err
}
