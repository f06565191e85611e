// Package feed holds streams and followers of events, cut to what the caller may see; what needs a person's attention.
//
// One reader follows the log while there are subscribers. For each batch it finds out, in one view, which participants may see
// each event. It puts the event into the queues of their subscribers and wakes only these.
//
// A subscriber is either live or behind. A subscriber that is behind reads the store itself, one page a view, until a view has
// shown it everything; then it is live. Its queue is bounded. When the queue is full, or when its participant may see less than
// before, the hub drops the queue and the subscriber is behind. So a slow reader holds up nobody and misses nothing. The rule on
// who may see an event stands in one place, events.go. One lock guards the queues; code that holds it calls nothing else.
//
// Queues hold pointers to events that all subscribers share, and a subscriber gets at most 32 events at once. So a stalled reader
// costs a few KiB, whatever its backlog.
package feed
