// Package connect connects agent clients with a hub. It registers the MCP server and the hooks of Parley in the configuration files of
// a client, and takes them out again.
//
// A Plan says which files change and how. It is made without changing anything. Apply first writes a journal into the home, with each
// file as it was before and as it will be, and then the files. Disconnect restores each file from the journal, if nobody has edited it
// since then. Otherwise it takes out only what Parley has added.
//
// No secret gets into a file of a client: the journal and the token of the agent are in the home, which only its owner can enter.
package connect
