package alert

import "time"

// verdict compares a measurement with its limit.
type verdict int

// The verdicts.
const (
	fine    verdict = iota // clearly below the limit, or too few measurements
	between                // below the limit, but not clearly
	bad                    // above the limit
)

// Delays is how long a verdict must last until an alert changes.
type Delays struct {
	On  time.Duration // how long a measurement must be bad, without a break, to raise the alert
	Off time.Duration // how long it must be fine, without a break, to end the alert
}

// machine is the state of one alert: on or off. It changes only after the verdict has lasted for Hold.
type machine struct {
	Delays
	on       bool
	changing bool      // the last verdicts ask for the other state
	since    time.Time // when changing began
}

// step takes a verdict at a time, and reports whether the alert changed.
func (m *machine) step(now time.Time, v verdict) (changed bool) {
	other, hold := bad, m.On
	if m.on {
		other, hold = fine, m.Off
	}
	if v != other {
		m.changing = false
		return false
	}
	if !m.changing {
		m.changing, m.since = true, now
	}
	if now.Sub(m.since) < hold {
		return false
	}
	m.on, m.changing = !m.on, false
	return true
}
