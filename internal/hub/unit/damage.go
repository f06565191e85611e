package unit

import (
	"github.com/parley-hub/parley"
)

// Damaged says why a delivery must not be handed out: its row or its message is damaged. Nil if both are intact.
func Damaged(d parley.Delivery, m parley.Message) *parley.Error {
	if d.Damage != nil {
		return d.Damage.Err()
	}
	return m.Damage
}
