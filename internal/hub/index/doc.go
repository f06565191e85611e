// Package index holds the background indexer: it follows the order of messages and feeds the full-text search.
package index
