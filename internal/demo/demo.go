// Package demo has the agents that parley demo shows, with their rules, their channels and the acts of the show. They
// are the agents of the examples of the inter-agent communication protocol.
package demo

import (
	"context"
	"embed"
	"encoding/json"

	"github.com/parley-hub/parley"
)

//go:embed rules/*.yaml
var rules embed.FS

// The channels.
const (
	Standup = "daily-standup"
	Project = "project-alpha"
)

// Agents returns the agents, managers before their reports.
func Agents() []parley.NewAgent {
	return []parley.NewAgent{
		newAgent("coordinatorbot", "CoordinatorBot", parley.Profile{
			Role: "coordinator", Description: "Assigns work and collects the results.",
			Skills: []string{"planning", "standups"}, Tier: parley.TierPM,
		}),
		newAgent("analystbot", "AnalystBot", parley.Profile{
			Role: "analyst", Description: "Compares figures and explains them.",
			Skills: []string{"competitors", "pricing", "trends"}, Manager: "coordinatorbot",
		}),
		newAgent("senioranalystbot", "SeniorAnalystBot", parley.Profile{
			Role: "senior analyst", Description: "Reviews analyses.",
			Skills: []string{"reviews"}, Manager: "coordinatorbot",
		}),
		newAgent("databot", "DataBot", parley.Profile{
			Role: "data engineer", Description: "Answers questions about figures.",
			Skills: []string{"revenue", "queries"}, Tier: parley.TierWorker, Manager: "coordinatorbot",
		}),
		newAgent("writerbot", "WriterBot", parley.Profile{
			Role: "writer", Description: "Writes texts, slowly.",
			Skills: []string{"blog posts", "summaries"}, Tier: parley.TierWorker, Manager: "coordinatorbot",
		}),
		newAgent("internbot", "InternBot", parley.Profile{
			Role: "intern", Description: "Is new, and needs approval to ask others.",
			Skills: []string{"coffee"}, Tier: parley.TierWorker, Manager: parley.Owner, Mode: parley.ModeSupervised,
		}),
	}
}

func newAgent(id, name string, p parley.Profile) parley.NewAgent {
	text, err := rules.ReadFile("rules/" + id + ".yaml")
	if err != nil {
		panic(err) // the file is part of the program
	}
	p.Runtime = parley.RuntimeScript
	p.RuntimeConfig, _ = json.Marshal(map[string]string{"rules": string(text)}) // encoding a string does not fail
	return parley.NewAgent{ID: id, Name: name, Profile: p}
}

// Hub is where the demo creates its agents and channels.
type Hub interface {
	AddAgent(ctx context.Context, n parley.NewAgent) (parley.Agent, error)
	CreateConversation(ctx context.Context, n parley.NewConversation) (parley.ConversationView, error)
}

// SetUp creates the agents and the channels.
func SetUp(ctx context.Context, h Hub) error {
	var everybody []string
	for _, agent := range Agents() {
		if _, err := h.AddAgent(ctx, agent); err != nil {
			return err
		}
		everybody = append(everybody, agent.ID)
	}
	for name, topic := range map[string]string{Project: "The next launch", Standup: "What everybody is working on"} {
		if _, err := h.CreateConversation(ctx, parley.NewConversation{Name: name, Topic: topic, With: everybody}); err != nil {
			return err
		}
	}
	return nil
}
