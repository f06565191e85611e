package roster

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Protocols lists which formats the hub speaks, and which each agent does by its profile. Who lives in a bridged tree speaks what
// is spoken there.
func (s *Service) Protocols(ctx context.Context, caller unit.Caller) (parley.Spoken, error) {
	spoken := parley.Spoken{Protocols: parley.Protocols(), Agents: []parley.Speaker{}}
	err := s.View(ctx, caller, unit.OpListProtocols, func(u *unit.Unit) error {
		if err := policy.MustRead(u, unit.Origin{Caller: caller}, ""); err != nil {
			return err
		}
		agentsList, err := u.Agents().List()
		for _, a := range agentsList {
			if list := agents.SpokenBy(a); a.RemovedAt == nil && len(list) > 0 {
				spoken.Agents = append(spoken.Agents, parley.Speaker{
					Agent: a.ID, Protocols: list, Common: parley.Common(list, spoken.Protocols),
				})
			}
		}
		return err
	})
	return spoken, holding.HoldOr(ctx, s.Core, caller, err, policy.ToolQuery, policy.QueryArgs{Action: policy.ListAgents})
}
