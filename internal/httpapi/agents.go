package httpapi

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parley-hub/parley"
)

// agentInput is the input of an operation on one agent.
type agentInput struct {
	Agent string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"arya"`
}

// Whoami describes the caller and its credential.
type Whoami struct {
	Agent     parley.Agent  `json:"agent" doc:"The caller."`
	Scopes    parley.Scopes `json:"scopes" doc:"What the credential may be used for."`
	Token     string        `json:"token,omitempty" doc:"The id of the token; none for the local owner."`
	By        string        `json:"by,omitempty" doc:"The owner who acts as the agent."`
	ExpiresAt *time.Time    `json:"expires_at,omitempty" doc:"When the credential ends."`

	Client *parley.ClientProcess `json:"client,omitempty" doc:"The client from which the calling process descends, if the caller is this client's agent because of that."`
}

func showCaller(ctx context.Context, c *call, _ *noInput) (Whoami, error) {
	me, err := c.hub.Agent(ctx, c.caller, c.caller.Agent)
	answer := Whoami{Agent: me, Scopes: c.caller.Scopes, Token: c.caller.Token, By: c.caller.By, ExpiresAt: c.caller.Until}
	if c.client.PID != 0 && c.caller.Token == "" {
		answer.Client = &c.client
	}
	return answer, err
}

func who(ctx context.Context, c *call, _ *noInput) (List[parley.Presence], error) {
	return listOf(c.hub.Who(ctx, c.caller))
}

type namesInput struct {
	IDs string `query:"ids" required:"true" doc:"The ids of participants, separated by commas." example:"arya,gendry"`
}

// maxNames is how many names one call reads.
const maxNames = 500

// Name is the name of a participant, and what it is.
type Name struct {
	ID   string      `json:"id" doc:"The participant's id."`
	Name string      `json:"name" doc:"The display name."`
	Kind parley.Kind `json:"kind" enum:"agent,human,system" doc:"What the participant is."`
	Role string      `json:"role,omitempty" doc:"The agent's role, in a word."`
}

func readNames(ctx context.Context, c *call, in *namesInput) (List[Name], error) {
	ids := strings.Split(in.IDs, ",")
	if len(ids) > maxNames {
		return List[Name]{}, parley.Errorf(parley.BadInput, "the call has %d ids", len(ids)).Suggest("name at most %d", maxNames)
	}
	found, err := c.hub.Named(ctx, c.caller, ids...)
	return listOf(namesOf(found), err)
}

func namesOf(found []parley.Presence) []Name {
	names := make([]Name, 0, len(found))
	for _, p := range found {
		names = append(names, Name{p.ID, p.Name, p.Kind, p.Role})
	}
	return names
}

func protocols(ctx context.Context, c *call, _ *noInput) (parley.Spoken, error) {
	return c.hub.Protocols(ctx, c.caller)
}

func listAgents(ctx context.Context, c *call, _ *noInput) (List[parley.Agent], error) {
	return listOf(c.hub.Agents(ctx, c.caller))
}

func addAgent(ctx context.Context, c *call, in *bodyInput[parley.NewAgent]) (parley.Agent, error) {
	return c.hub.AddAgent(ctx, c.caller, in.Body)
}

func showAgent(ctx context.Context, c *call, in *agentInput) (parley.AgentView, error) {
	return c.hub.AgentView(ctx, c.caller, in.Agent)
}

func removeAgent(ctx context.Context, c *call, in *agentInput) error {
	return c.hub.RemoveAgent(ctx, c.caller, in.Agent)
}

// AgentChange is a change of an agent. Missing fields stay unchanged. null sets the default.
type AgentChange struct{ fields map[string]jsontext.Value }

// changeable has the fields that an AgentChange can have.
type changeable struct {
	Name   string        `json:"name" doc:"The display name."`
	Access parley.Access `json:"access" doc:"What a person may do: an owner may do everything, a member may do what an agent may do."`
	parley.Profile
}

// UnmarshalJSON keeps the fields undecoded: apply decodes them into the current state of the agent.
func (c *AgentChange) UnmarshalJSON(raw []byte) error {
	return jsonv2.Unmarshal(raw, &c.fields)
}

// apply changes an agent. The hub can call it again with a newer state of the agent.
func (c AgentChange) apply(a *parley.Agent) error {
	defaults := map[string]jsontext.Value{}
	raw, err := json.Marshal(parley.DefaultProfile())
	if err == nil {
		err = jsonv2.Unmarshal(raw, &defaults)
	}
	fields := map[string]jsontext.Value{}
	for key, value := range c.fields {
		if otherwise, ok := defaults[key]; ok && value.Kind() == jsontext.KindNull {
			value = otherwise
		}
		fields[key] = value
	}
	if err == nil {
		raw, err = jsonv2.Marshal(fields)
	}
	if err != nil {
		return err
	}
	to := changeable{a.Name, a.Access, a.Profile}
	if err := decodeWith(raw, &to, jsonv2.RejectUnknownMembers(true)); err != nil {
		return err
	}
	a.Name, a.Access, a.Profile = to.Name, to.Access, to.Profile
	return nil
}

type changeAgentInput struct {
	Agent string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"arya"`
	Body  AgentChange
}

func changeAgent(ctx context.Context, c *call, in *changeAgentInput) (parley.Agent, error) {
	return c.hub.ChangeAgent(ctx, c.caller, in.Agent, in.Body.apply)
}

type sleepInput struct {
	Agent string `path:"agent" doc:"The agent's id, UUID or name, in any case; an @ before it does not matter." example:"arya"`
	Body  SleepRequest
}

// SleepRequest says how long an agent sleeps.
type SleepRequest struct {
	Until *time.Time `json:"until,omitempty" doc:"When to wake the agent."`
	For   float64    `json:"for,omitempty" doc:"The number of seconds to sleep, instead of until." minimum:"0"`
}

func sleep(ctx context.Context, c *call, in *sleepInput) (parley.Agent, error) {
	if (in.Body.Until == nil) == (in.Body.For == 0) {
		return parley.Agent{}, parley.Errorf(parley.BadInput, "the request does not say how long to sleep").Suggest("give until, or for in seconds")
	}
	until := time.Now().Add(seconds(in.Body.For))
	if in.Body.Until != nil {
		until = *in.Body.Until
	}
	return c.hub.Sleep(ctx, c.caller, in.Agent, until)
}

func wake(ctx context.Context, c *call, in *agentInput) (parley.Agent, error) {
	return c.hub.Wake(ctx, c.caller, in.Agent)
}
