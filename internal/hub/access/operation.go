package access

import (
	"github.com/parley-hub/parley/internal/hub/unit"
)

// May returns why the credential of a caller does not allow an operation, or nil. Every use case calls it. The HTTP API also
// calls it before it reads the body of a request.
func (s *Service) May(caller unit.Caller, operation string) error {
	return Admits(s, caller, unit.Op(operation))
}

func Admits(s *Service, caller unit.Caller, do unit.Op) error {
	err := do.Rule().Admits(caller)
	if err != nil {
		s.refusals.note(caller, string(do), err)
	}
	return err
}
