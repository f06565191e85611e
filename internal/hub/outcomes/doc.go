// Package outcomes holds waiting for what becomes of a message, an ask, a task or an approval, and long calls whose credential
// ends.
package outcomes
