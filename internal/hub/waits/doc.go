// Package waits holds the rows of asks and other waits, and the graph of who waits for whom, without cycles.
package waits
