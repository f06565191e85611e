// Package trees holds which agents live in directory trees, which bridge a tree belongs to, and whether a message can reach an
// agent there.
package trees
