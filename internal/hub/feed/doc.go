// Package feed holds streams and followers of events, cut to what the caller may see; what needs a person's attention.
package feed
