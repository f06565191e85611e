package agents

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// The rows of this package are written here and nowhere else.

// InsertRow stores a new agent.
func InsertRow(tx storage.Tx, a parley.Agent) error {
	return tx.Agents().Insert(a)
}

// SaveRow stores a changed agent.
func SaveRow(tx storage.Tx, a parley.Agent) error {
	return tx.Agents().Update(a)
}

// RetireRow gives a removed agent another id and name, so that a new agent can have them.
func RetireRow(tx storage.Tx, id, newID, newName string) error {
	return tx.Agents().Retire(id, newID, newName)
}

// KeepHealth stores the health that an agent reports.
func KeepHealth(tx storage.Tx, id string, h parley.Health) error {
	return tx.Agents().KeepHealth(id, h)
}
