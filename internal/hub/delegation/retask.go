package delegation

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RetryTask queues a task again that has failed or was cancelled: its assignee is asked again.
func (s *Service) RetryTask(ctx context.Context, caller unit.Caller, id string) (parley.TaskView, error) {
	return directOrHold(ctx, s.Core, caller, unit.OpRetryTask, policy.TaskArgs{Task: id, Act: policy.RetriesTask})
}

// ReassignTask gives a task to somebody else. What its assignee is doing for it ends; what is under it goes on.
func (s *Service) ReassignTask(ctx context.Context, caller unit.Caller, id, assignee string) (parley.TaskView, error) {
	return directOrHold(ctx, s.Core, caller, unit.OpReassignTask, policy.TaskArgs{Task: id, Act: policy.ReassignsTask, Assignee: assignee})
}
