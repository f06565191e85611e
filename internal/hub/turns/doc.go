// Package turns holds the turns of agents: the next run, its context, its end, the sweeps of leases, and the recovery after a
// crash.
package turns
