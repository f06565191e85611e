// Package chat shows one conversation on a terminal: earlier messages, new messages, and an input box. Without a
// terminal, it reads lines and prints lines.
//
// The chat pulls messages. An event, or a new connection, leads to one request: the messages after the last one that
// the chat has. The chat shows them in their order. So it shows no message twice and misses none, whatever happens to
// the connection. Sent messages go through an outbox, which sends one message at a time, under an idempotency key that
// stays the same until the hub accepts or refuses the message.
//
// The model and its view are values without I/O. Commands that call a Conversation do the I/O.
package chat
