package unit

import (
	"github.com/parley-hub/parley"
)

// Result is what an approved call has returned.
type Result struct {
	Text    string
	Failure *parley.Error
	Waits   bool // it is an ask: what it returns comes later
	Refused bool // it was not made, and failure says why
}

// Execution makes an approved call, as its agent.
type Execution func(*Unit, parley.Approval) (Result, error)
