// Package mcpapi is the hub as an MCP server: over streamable HTTP at /mcp, and over the standard streams of "parley mcp". It offers
// the table of tools in internal/tools, resources, prompts, and long calls as MCP tasks.
//
// It decides nothing. Every call goes to the parley.Workspace of its caller, which the hub or the Go client provides. No text of a
// definition comes from a participant.
//
// Two generations of the protocol share one address. Requests of revision 2026-07-28 have no handshake and no session; those of
// earlier revisions have both. The official SDK serves each with a handler of its own, so Handler parts the requests by their headers.
// The most common requests are answered without the SDK, because its way of a message costs more than most calls.
package mcpapi
