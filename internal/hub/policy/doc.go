// Package policy holds the rules on who may contact whom, the modes of agents, and which calls need an approval first.
package policy
