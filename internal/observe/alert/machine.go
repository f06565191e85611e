package alert

import "time"

// verdict is what a look at a figure says.
type verdict int

// The verdicts.
const (
	fine    verdict = iota // clearly below the limit, or too little to say anything
	between                // not above it, and not clearly below
	bad
)

// Hold is how long something must last to be believed.
type Hold struct {
	On  time.Duration // bad for so long without a break: the alert goes on
	Off time.Duration // fine for so long without a break: it goes off
}

// machine is one alert: on or off. It never changes twice within the time it holds.
type machine struct {
	Hold
	on      bool
	leaning bool      // towards the other state
	since   time.Time // which it does so long
}

// step takes in a verdict at a time and says whether the alert has changed.
func (m *machine) step(now time.Time, v verdict) (changed bool) {
	other, hold := bad, m.On
	if m.on {
		other, hold = fine, m.Off
	}
	if v != other {
		m.leaning = false
		return false
	}
	if !m.leaning {
		m.leaning, m.since = true, now
	}
	if now.Sub(m.since) < hold {
		return false
	}
	m.on, m.leaning = !m.on, false
	return true
}
