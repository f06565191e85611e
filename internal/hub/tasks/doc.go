// Package tasks holds the rows of tasks, each step of their state, trees of tasks, and what a participant may see of them.
package tasks
