package demo

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/script"
)

func asAgent(n parley.NewAgent) parley.Agent {
	return parley.Agent{ID: n.ID, Name: n.Name, Profile: n.Profile}
}

func TestEverybodyKnowsTheRules(t *testing.T) {
	for _, n := range Agents() {
		if err := script.New().Check(t.Context(), asAgent(n)); err != nil {
			t.Errorf("%s: %v", n.ID, err)
		}
	}
}

// company is a hub that notes who was added.
type company struct {
	agents   []string
	channels map[string][]string
}

func (c *company) AddAgent(_ context.Context, n parley.NewAgent) (parley.Agent, error) {
	if n.Manager != "" && n.Manager != parley.Owner && !slices.Contains(c.agents, n.Manager) {
		return parley.Agent{}, parley.Errorf(parley.BadInput, "%s has a manager who is not there yet", n.ID)
	}
	c.agents = append(c.agents, n.ID)
	return parley.Agent{}, nil
}

func (c *company) CreateConversation(_ context.Context, n parley.NewConversation) (parley.ConversationView, error) {
	c.channels[n.Name] = n.With
	return parley.ConversationView{}, nil
}

func TestEverybodyIsInBothChannels(t *testing.T) {
	c := &company{channels: map[string][]string{}}
	if err := SetUp(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if len(c.agents) != 6 || len(c.channels) != 2 {
		t.Fatalf("there are %v in %v", c.agents, c.channels)
	}
	for name, members := range c.channels {
		if !slices.Equal(members, c.agents) {
			t.Errorf("#%s has %v", name, members)
		}
	}
}

// room is a workspace in which every conversation has the same name.
type room struct {
	parley.Workspace
	name string
}

func (r room) Conversations(context.Context, parley.ListFilter) ([]parley.ConversationView, error) {
	return []parley.ConversationView{{Conversation: parley.Conversation{ID: "c", Name: r.name}}}, nil
}

func TestWhatEverybodySays(t *testing.T) {
	for _, tt := range []struct{ agent, channel, text, says string }{
		{"coordinatorbot", Standup, Acts()[0].Begin.Content.Text, "Good morning team! @WriterBot @AnalystBot @DataBot — what are you working on today?"},
		{"writerbot", Standup, "what are you working on today?", "Working on the Q4 blog post draft (delegated by CoordinatorBot). Should have it ready by noon."},
		{"analystbot", Standup, "what are you working on today?", "Finishing up the competitor analysis. Running final comparisons on pricing data."},
		{"databot", Standup, "what are you working on today?", "Idle at the moment. Available for data queries if anyone needs me."},
		{"databot", "", "What was our Q4 revenue?", "**Q4 2025 Total Revenue: $2.4M** (up 18% YoY from $2.03M in Q4 2024)"},
		{"databot", Project, "@databot loop", "@AnalystBot ping"},
		{"analystbot", Project, "@AnalystBot ping", "@DataBot pong"},
		{"databot", Project, "@DataBot pong", "@AnalystBot ping"},
		{"writerbot", "", "draft a blog post", "A Quarter of Growth"},
		{"internbot", "", "coffee please", "It took me 2 attempts"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var agent parley.Agent
			for _, n := range Agents() {
				if n.ID == tt.agent {
					agent = asAgent(n)
				}
			}
			result, err := script.New().Run(t.Context(), parley.Job{
				Run: parley.Run{Attempt: 2}, Agent: agent, Workspace: room{name: tt.channel},
				Triggers: []parley.Message{{From: "user", Conversation: "c", Content: parley.Content{Text: tt.text}}},
				Begin:    func(context.Context, parley.Process) error { return nil },
				Say:      func(string) {},
			})
			if err != nil || !strings.Contains(result.Text, tt.says) {
				t.Errorf("%s answers %q to %q, %v; want %q", tt.agent, result.Text, tt.text, err, tt.says)
			}
		})
	}
}

// TestEverybodyIsPolite says hello, and something nobody understands, to everybody.
func TestEverybodyIsPolite(t *testing.T) {
	for _, n := range Agents() {
		for _, text := range []string{"hello", "help", "status", "gibberish"} {
			result, err := script.New().Run(t.Context(), parley.Job{
				Run: parley.Run{Attempt: 1}, Agent: asAgent(n), Workspace: room{},
				Triggers: []parley.Message{{From: "user", Content: parley.Content{Text: text}}},
				Begin:    func(context.Context, parley.Process) error { return nil },
			})
			if err != nil || result.Text == "" {
				t.Errorf("%s answers %q to %q, %v", n.ID, result.Text, text, err)
			}
		}
	}
}
