// Package presence holds what agents do now: present or away, working or waiting, paused, asleep or stopped, within their
// budgets; and the state summaries.
package presence
