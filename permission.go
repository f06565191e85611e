package parley

import "time"

// Anyone is the target of a rule for every participant for which the agent has no other rule.
const Anyone = "*"

// Effect says whether a rule allows or denies contacts.
type Effect string

// The effects.
const (
	EffectAllow Effect = "allow"
	EffectDeny  Effect = "deny"
)

// Permission is a rule that allows or denies an agent to contact a target. An agent may have one rule of each
// effect for each target.
type Permission struct {
	Agent  string `json:"agent" doc:"The agent that the rule restricts or permits."`
	Target string `json:"target" doc:"The target: an agent, or * for every participant without a rule of its own."`
	Effect Effect `json:"effect" doc:"allow or deny."`
	// RequiresApproval and RequiresHuman are set only in rules that allow.
	RequiresApproval bool      `json:"requires_approval,omitempty" doc:"Each call needs an approval."`
	RequiresHuman    bool      `json:"requires_human,omitempty" doc:"A person must give the approval."`
	CreatedBy        string    `json:"created_by" doc:"The participant that created it."`
	CreatedAt        time.Time `json:"created_at" doc:"When it was created."`
}

// Tiers lists the pairs of tiers that may contact each other. The order within a pair does not matter.
type Tiers [][2]Tier

// DefaultTiers returns the pairs of a hub without configured tiers.
func DefaultTiers() Tiers {
	return Tiers{{TierCommand, TierCommand}, {TierCommand, TierPM}, {TierPM, TierWorker}}
}

// Check returns what is wrong with a rule, or nil. The hub checks that the named agents exist.
func (p Permission) Check() error {
	switch {
	case p.Effect != EffectAllow && p.Effect != EffectDeny:
		return Errorf(BadInput, "unknown effect %q", clip(string(p.Effect))).Suggest("use allow or deny")
	case p.Effect == EffectDeny && (p.RequiresApproval || p.RequiresHuman):
		return Errorf(BadInput, "a deny rule cannot require approval").Suggest("use an allow rule to require approval")
	case p.Agent == "" || p.Agent == Anyone:
		return Errorf(BadInput, "a rule applies to one agent").Suggest("name the agent; only the target can be *")
	case p.Target == "":
		return Errorf(BadInput, "the rule has no target").Suggest("name an agent, or * for all participants")
	}
	return nil
}

// Verdict says whether one participant may contact another, and why.
type Verdict struct {
	Allowed          bool        `json:"allowed" doc:"Whether the contact is allowed."`
	RequiresApproval bool        `json:"requires_approval,omitempty" doc:"Each call needs an approval."`
	RequiresHuman    bool        `json:"requires_human,omitempty" doc:"A person must give the approval."`
	Rule             string      `json:"rule" doc:"The rule that decided, in words."`
	Checks           []RuleCheck `json:"checks" doc:"Each rule that the hub checked, in order. The last one decided."`
	Error            *Error      `json:"error,omitempty" doc:"The error for a caller that is refused."`
	// ModeExempt means that the contact needs no approval in any mode, because one participant is the manager of the other.
	ModeExempt bool `json:"-"`
	// Via is a tier that both participants may contact. It is set if the tiers refuse the contact and there is such a tier.
	Via Tier `json:"-"`
}

// RuleCheck is one rule that the hub checked.
type RuleCheck struct {
	Rule   string `json:"rule" doc:"The rule, in words."`
	Result string `json:"result" doc:"The result: passed on to the next rule, or the decision."`
}
