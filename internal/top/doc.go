// Package top shows a hub live on a terminal: its agents, its runs, their rates, and recent failures. Without a
// terminal, it prints one snapshot.
//
// The model loads a whole snapshot every two seconds, and soon after an event. Events add only what no request returns:
// the progress of runs, and what has just failed. The model and its view are values without I/O.
package top
