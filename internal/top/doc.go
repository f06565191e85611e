// Package top is a live view of a hub on a terminal: who is there, what runs, how much of it, and what went wrong
// lately. Off a terminal it is printed once.
//
// The picture is pulled, all of it, every two seconds and soon after something has happened. Events only add what no
// question can answer: what a run says, and what has just failed. The model and its view are values without I/O.
package top
