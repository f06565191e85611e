// Package departures holds messages that leave for a directory tree: which, under which name, and what became of each file.
package departures
