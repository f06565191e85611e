package httpapi

import (
	"context"

	"github.com/parley-hub/parley"
)

type listPermissionsInput struct {
	Agent string `query:"agent" doc:"Only the rules of this agent."`
}

func listPermissions(ctx context.Context, c *call, in *listPermissionsInput) (List[parley.Permission], error) {
	return listOf(c.hub.Permissions(ctx, c.caller, in.Agent))
}

// PermissionRequest is a rule: whether an agent may contact one participant, or all of them.
type PermissionRequest struct {
	Agent            string        `json:"agent" doc:"The agent that the rule restricts or permits." example:"arya"`
	Target           string        `json:"target" doc:"The target: an agent, or * for every participant without a rule of its own." example:"gendry"`
	Effect           parley.Effect `json:"effect" enum:"allow,deny" doc:"allow or deny."`
	RequiresApproval bool          `json:"requires_approval,omitempty" doc:"Each call needs an approval. Only with allow."`
	RequiresHuman    bool          `json:"requires_human,omitempty" doc:"A person must give the approval."`
}

func permit(ctx context.Context, c *call, in *bodyInput[PermissionRequest]) (parley.Permission, error) {
	b := in.Body
	return c.hub.Permit(ctx, c.caller, parley.Permission{
		Agent: b.Agent, Target: b.Target, Effect: b.Effect, RequiresApproval: b.RequiresApproval, RequiresHuman: b.RequiresHuman,
	})
}

type unpermitInput struct {
	Agent  string `query:"agent" required:"true" doc:"The agent that the rule restricts or permits." example:"arya"`
	Target string `query:"target" required:"true" doc:"The target of the rule: an agent, or *." example:"gendry"`
	Effect string `query:"effect" enum:"allow,deny" doc:"Only the rule with this effect; missing: both."`
}

func unpermit(ctx context.Context, c *call, in *unpermitInput) error {
	return c.hub.Unpermit(ctx, c.caller, in.Agent, in.Target, parley.Effect(in.Effect))
}

type checkPermissionInput struct {
	From string `query:"from" doc:"The participant that would make the contact; missing: the caller." example:"arya"`
	To   string `query:"to" required:"true" doc:"The participant that would be contacted." example:"gendry"`
}

func checkPermission(ctx context.Context, c *call, in *checkPermissionInput) (parley.Verdict, error) {
	return c.hub.CheckPermission(ctx, c.caller, in.From, in.To)
}
