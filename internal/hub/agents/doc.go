// Package agents holds the rows of agents and their names: finding, adding, naming whoever is meant.
package agents
