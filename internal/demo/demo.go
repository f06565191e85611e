// Package demo is the small company that parley demo shows: who works there, by which rules, and in which
// channels. They are the agents of the inter-agent communication protocol's examples.
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

// Agents are who works there, managers before those they manage.
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
		panic(err) // it is part of the program
	}
	p.Runtime = parley.RuntimeScript
	p.RuntimeConfig, _ = json.Marshal(map[string]string{"rules": string(text)}) // a string always is JSON
	return parley.NewAgent{ID: id, Name: name, Profile: p}
}

// Hub is where the company is made.
type Hub interface {
	AddAgent(ctx context.Context, n parley.NewAgent) (parley.Agent, error)
	CreateConversation(ctx context.Context, n parley.NewConversation) (parley.ConversationView, error)
}

// SetUp puts everybody in their place.
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
