package top

import "time"

// window is the time over which rates are computed.
const window = 10 * time.Second

// rate computes how fast a count grows.
type rate struct{ samples []sample }

type sample struct {
	at    time.Time
	count int64
}

// add adds a sample. A smaller count than before comes from another hub, so earlier samples are dropped.
func (r *rate) add(at time.Time, count int64) {
	if n := len(r.samples); n > 0 && (count < r.samples[n-1].count || at.Before(r.samples[n-1].at)) {
		r.samples = nil
	}
	r.samples = append(r.samples, sample{at, count})
	for len(r.samples) > 2 && at.Sub(r.samples[1].at) >= window {
		r.samples = r.samples[1:]
	}
}

// perSecond returns the rate over the window, or 0 without enough samples.
func (r *rate) perSecond() float64 {
	if len(r.samples) < 2 {
		return 0
	}
	first, last := r.samples[0], r.samples[len(r.samples)-1]
	elapsed := last.at.Sub(first.at).Seconds()
	if elapsed <= 0 {
		return 0
	}
	return float64(last.count-first.count) / elapsed
}
