package parley

import "time"

// Anyone is the target of a rule for everybody who has no rule of their own.
const Anyone = "*"

// Effect is what a rule says.
type Effect string

// The effects.
const (
	EffectAllow Effect = "allow"
	EffectDeny  Effect = "deny"
)

// Permission is a rule: whether an agent may contact another, or everybody. An agent may have one rule of each
// effect for each target.
type Permission struct {
	Agent  string `json:"agent" doc:"The agent that the rule restricts or permits."`
	Target string `json:"target" doc:"The target: an agent, or * for every participant without a rule of its own."`
	Effect Effect `json:"effect" doc:"The contents."`
	// RequiresApproval goes with allow only.
	RequiresApproval bool      `json:"requires_approval,omitempty" doc:"Each call needs an approval."`
	RequiresHuman    bool      `json:"requires_human,omitempty" doc:"A person must give the approval."`
	CreatedBy        string    `json:"created_by" doc:"The participant that created it."`
	CreatedAt        time.Time `json:"created_at" doc:"When it was created."`
}

// Tiers says which tiers may contact each other. A pair that is not in it may not; the order does not matter.
type Tiers [][2]Tier

// DefaultTiers is the matrix of a hub that configures none.
func DefaultTiers() Tiers {
	return Tiers{{TierCommand, TierCommand}, {TierCommand, TierPM}, {TierPM, TierWorker}}
}

// Check says what is wrong with a rule, or nil. Whether those it names exist is for the hub.
func (p Permission) Check() error {
	switch {
	case p.Effect != EffectAllow && p.Effect != EffectDeny:
		return Errorf(BadInput, "unknown effect %q", clip(string(p.Effect))).Suggest("use allow or deny")
	case p.Effect == EffectDeny && (p.RequiresApproval || p.RequiresHuman):
		return Errorf(BadInput, "a rule that denies needs no approval").Suggest("allow it with an approval, or deny it")
	case p.Agent == "" || p.Agent == Anyone:
		return Errorf(BadInput, "a rule is for one agent").Suggest("name the agent; * is for targets")
	case p.Target == "":
		return Errorf(BadInput, "a rule has a target").Suggest("name an agent, or * for everybody")
	}
	return nil
}

// Verdict is whether one participant may contact another, and why.
type Verdict struct {
	Allowed          bool        `json:"allowed" doc:"Whether the contact is allowed."`
	RequiresApproval bool        `json:"requires_approval,omitempty" doc:"Each call needs an approval."`
	RequiresHuman    bool        `json:"requires_human,omitempty" doc:"A person must give the approval."`
	Rule             string      `json:"rule" doc:"The rule that decided, in words."`
	Checks           []RuleCheck `json:"checks" doc:"Each rule that the hub checked, in order. The last one decided."`
	Error            *Error      `json:"error,omitempty" doc:"The error for a caller that is refused."`
	// Free says that the mode is not looked at either: they are manager and report.
	Free bool `json:"-"`
	// Via is the tier through which to go where the tiers refuse.
	Via Tier `json:"-"`
}

// RuleCheck is one rule that was looked at.
type RuleCheck struct {
	Rule   string `json:"rule" doc:"The rule, in words."`
	Result string `json:"result" doc:"The result: passed on to the next rule, or the decision."`
}
