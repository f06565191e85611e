// Package roster holds the use cases of agents: adding, changing and removing them, reusing names, listing who does what.
package roster
