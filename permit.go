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
	Agent  string `json:"agent" doc:"Whose rule it is."`
	Target string `json:"target" doc:"Whom it is about: an agent, or * for everybody who has no rule of their own."`
	Effect Effect `json:"effect" doc:"What it says."`
	// RequiresApproval goes with allow only.
	RequiresApproval bool      `json:"requires_approval,omitempty" doc:"Each call needs an approval."`
	RequiresHuman    bool      `json:"requires_human,omitempty" doc:"And a person must give it."`
	CreatedBy        string    `json:"created_by" doc:"Who made it."`
	CreatedAt        time.Time `json:"created_at" doc:"When it was made."`
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
	Allowed          bool        `json:"allowed" doc:"Whether it may."`
	RequiresApproval bool        `json:"requires_approval,omitempty" doc:"Each call needs an approval."`
	RequiresHuman    bool        `json:"requires_human,omitempty" doc:"And a person must give it."`
	Rule             string      `json:"rule" doc:"The rule that decided, in words."`
	Checks           []RuleCheck `json:"checks" doc:"Each rule that was looked at, in order; the last one decided."`
	Error            *Error      `json:"error,omitempty" doc:"What the caller is told where it may not."`
	// Free says that the mode is not looked at either: they are manager and report.
	Free bool `json:"-"`
	// Via is the tier through which to go where the tiers refuse.
	Via Tier `json:"-"`
}

// RuleCheck is one rule that was looked at.
type RuleCheck struct {
	Rule   string `json:"rule" doc:"The rule, in words."`
	Result string `json:"result" doc:"What it says: that the next one is looked at, or what it decided."`
}
