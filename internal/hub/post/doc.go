// Package post holds posting a message, from top to bottom: envelope, rules, recipients, what the message does to tasks and
// commands, and its answer.
package post
