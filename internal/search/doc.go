// Package search splits texts into words, parses queries, ranks the messages that a search has found, and cuts snippets out of
// them. Both databases index and compare only the words that this package makes, so both find the same messages. The package does
// no I/O.
package search
