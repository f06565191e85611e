// Package chat is a conversation on a terminal: what was said, what comes, and a line to type on. Off a
// terminal it reads lines and prints lines.
//
// Messages are pulled. Whatever says that something may have happened (an event, a connection that is back)
// leads to one question, "what is there after the last message I have?", and the answers are shown in
// their order. So nothing is shown twice and nothing is missed, whatever becomes of the connection. What is
// typed goes through an outbox that sends one message at a time, each under a key of its own until the hub has said
// yes or no.
//
// The model and its view are values without I/O; commands made from a Room do the rest.
package chat
