// Package arrivals holds documents that arrive from a directory tree: who may write them, what they answer, and how a refusal is
// told.
package arrivals
