// Package agents holds the rows of agents and their names: finding an agent by any of its names, and adding one.
package agents
