// Package upkeep holds what the hub does by itself from time to time, and what it says of its own health: sweeps, status,
// figures, readiness, backups.
package upkeep
