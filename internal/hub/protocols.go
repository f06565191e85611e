package hub

import (
	"context"

	"github.com/parley-hub/parley"
)

// Protocols lists which formats the hub speaks, and which each agent does by its profile. Who lives in a bridged tree speaks what
// is spoken there.
func (h *Hub) Protocols(ctx context.Context, caller Caller) (parley.Spoken, error) {
	spoken := parley.Spoken{Protocols: parley.Protocols(), Agents: []parley.Speaker{}}
	err := h.view(ctx, caller, opListProtocols, func(s *scene) error {
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		agents, err := s.Agents().List()
		for _, a := range agents {
			if list := spokenBy(a); a.RemovedAt == nil && len(list) > 0 {
				spoken.Agents = append(spoken.Agents, parley.Speaker{
					Agent: a.ID, Protocols: list, Common: parley.Common(list, spoken.Protocols),
				})
			}
		}
		return err
	})
	return spoken, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: listAgents})
}

func spokenBy(a parley.Agent) (list []parley.Protocol) {
	for _, text := range a.Protocols {
		if p, err := parley.ParseProtocol(text); err == nil { // else it is a note of its owner's
			list = append(list, p)
		}
	}
	return list
}
