package hub

import (
	"context"

	"github.com/parley-hub/parley"
)

// Who lists what everybody is doing. Removed participants are left out.
func (h *Hub) Who(ctx context.Context, caller Caller) (list []parley.Presence, err error) {
	err = h.view(ctx, caller, func(s *scene) error {
		all, err := s.Agents().List()
		if err != nil {
			return err
		}
		inboxes, err := s.Queue().Inboxes()
		for _, a := range all {
			if a.RemovedAt == nil {
				list = append(list, s.presence(a, inboxes[a.ID]))
			}
		}
		return err
	})
	return list, err
}

func (s *scene) presence(a parley.Agent, inbox parley.Inbox) parley.Presence {
	status, last := s.status(a)
	p := parley.Presence{
		ID: a.ID, Name: a.Name, Kind: a.Kind, Access: a.Access, Role: a.Role, Runtime: a.Runtime,
		Status: status.Status, Reason: status.Reason, LastSeen: last, Inbox: inbox,
	}
	if a.Asleep(s.now) {
		p.SleepingUntil = a.SleepingUntil
	}
	return p
}

// AgentView shows one participant, and what it is doing.
func (h *Hub) AgentView(ctx context.Context, caller Caller, name string) (view parley.AgentView, err error) {
	err = h.view(ctx, caller, func(s *scene) error {
		a, err := s.agent(name)
		if err != nil {
			return err
		}
		status, last := s.status(a)
		view = parley.AgentView{Agent: s.show(a), Status: status.Status, Reason: status.Reason, LastSeen: last}
		view.Inbox, err = s.Queue().Inbox(a.ID)
		return err
	})
	return view, err
}
