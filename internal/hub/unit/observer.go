package unit

import (
	"time"
)

// Observer is told, after the fact, how long it took to write and to read messages. It is called by whoever posts or
// reads, so it must not wait.
type Observer interface {
	// Wrote says how long it took until a message was on disk.
	Wrote(took time.Duration)
	// Read says how long it took to read messages: a part of a conversation, a context, an inbox. What somebody has
	// waited for does not count.
	Read(took time.Duration)
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Wrote(time.Duration) {}

func (nobody) Read(time.Duration) {}

// Wrote tells the observer of a message that was posted since a moment.
func (c *Core) Wrote(since time.Time) { c.Config.Observer.Wrote(time.Since(since)) }

// Read tells the observer of messages that were read since a moment, unless that has failed.
func (c *Core) Read(since time.Time, err *error) {
	if *err == nil {
		c.Config.Observer.Read(time.Since(since))
	}
}
