package hubtest

import (
	"github.com/parley-hub/parley"
)

// AddAgents adds agents that have no runtime of their own.
func (f *Fixture) AddAgents(ids ...string) {
	f.T.Helper()
	for _, id := range ids {
		_, err := f.AddAgent(ctx, Owner, parley.NewAgent{ID: id})
		f.NoError(err)
	}
}

// AddPerson adds a person.
func (f *Fixture) AddPerson(id string, access parley.Access) {
	f.T.Helper()
	_, err := f.AddAgent(ctx, Owner, parley.NewAgent{ID: id, Kind: parley.KindHuman, Access: access})
	f.NoError(err)
}

// AddScriptAgents adds agents whose runs the hub starts.
func (f *Fixture) AddScriptAgents(ids ...string) {
	f.T.Helper()
	f.AddAgentsWithRuntime(parley.RuntimeScript, ids...)
}

// AddPollingAgents adds agents that poll their own inbox.
func (f *Fixture) AddPollingAgents(ids ...string) {
	f.T.Helper()
	f.AddAgentsWithRuntime(parley.RuntimeAttached, ids...)
}

// AddAgentsWithRuntime adds agents with one runtime.
func (f *Fixture) AddAgentsWithRuntime(runtime string, ids ...string) {
	f.T.Helper()
	for _, id := range ids {
		_, err := f.AddAgent(ctx, Owner, parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: runtime}})
		f.NoError(err)
	}
}

// EditAgent changes an agent as the owner.
func (f *Fixture) EditAgent(id string, edit func(*parley.Agent)) {
	f.T.Helper()
	_, err := f.ChangeAgent(ctx, Owner, id, func(a *parley.Agent) error {
		edit(a)
		return nil
	})
	f.NoError(err)
}

// SetInboxDepth changes how many messages an inbox holds, and what happens to more.
func (f *Fixture) SetInboxDepth(id string, depth int, overflow parley.Overflow) {
	f.T.Helper()
	f.EditAgent(id, func(a *parley.Agent) { a.InboxDepth, a.InboxOverflow = depth, overflow })
}

// MakeToken makes a token for a participant as the owner.
func (f *Fixture) MakeToken(holder string, scopes ...parley.Scope) parley.MadeToken {
	f.T.Helper()
	owner := Owner
	owner.Scopes = parley.AllScopes() // those of a token are a part of them
	return Result[parley.MadeToken](f)(f.NewToken(ctx, owner, parley.NewToken{Agent: holder, Scopes: scopes}))
}

// AddPermission adds a rule as the owner.
func (f *Fixture) AddPermission(agent, target string, effect parley.Effect, change ...func(*parley.Permission)) {
	f.T.Helper()
	p := parley.Permission{Agent: agent, Target: target, Effect: effect}
	for _, edit := range change {
		edit(&p)
	}
	_, err := f.Permit(ctx, Owner, p)
	f.NoError(err)
}
