// Package assignment holds giving tasks to agents: new ones, again, or to another agent.
package assignment
