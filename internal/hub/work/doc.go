// Package work holds what a task, an ask, a run or an approval does to others when it moves: callbacks, dependants, waiters,
// withdrawn approvals, freed callers.
package work
