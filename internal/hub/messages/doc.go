// Package messages holds putting messages into the order with their deliveries: the hub's own messages, room in inboxes, and the
// loop breaker.
package messages
