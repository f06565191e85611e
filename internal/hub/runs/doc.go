// Package runs holds the rows of runs, each step of their state, and what live runs say.
package runs
