// Package access holds credentials and what they may do: tokens, sessions, identity, rate limits, load, refusals and the audit
// log.
package access
