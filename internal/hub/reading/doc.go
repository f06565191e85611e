// Package reading holds reading messages: history, context, threads, traces and search.
package reading
