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

func TestRulesOfTheDemoAgentsAreValid(t *testing.T) {
	for _, n := range Agents() {
		if err := script.New().Check(t.Context(), asAgent(n)); err != nil {
			t.Errorf("%s: %v", n.ID, err)
		}
	}
}

// fakeHub is a hub that notes the agents and channels that were added.
type fakeHub struct {
	agents   []string
	channels map[string][]string
}

func (h *fakeHub) AddAgent(_ context.Context, n parley.NewAgent) (parley.Agent, error) {
	if n.Manager != "" && n.Manager != parley.Owner && !slices.Contains(h.agents, n.Manager) {
		return parley.Agent{}, parley.Errorf(parley.BadInput, "%s has a manager who is not there yet", n.ID)
	}
	h.agents = append(h.agents, n.ID)
	return parley.Agent{}, nil
}

func (h *fakeHub) CreateConversation(_ context.Context, n parley.NewConversation) (parley.ConversationView, error) {
	h.channels[n.Name] = n.With
	return parley.ConversationView{}, nil
}

func TestEverybodyIsInBothChannels(t *testing.T) {
	h := &fakeHub{channels: map[string][]string{}}
	if err := SetUp(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if len(h.agents) != 6 || len(h.channels) != 2 {
		t.Fatalf("there are %v in %v", h.agents, h.channels)
	}
	for name, members := range h.channels {
		if !slices.Equal(members, h.agents) {
			t.Errorf("#%s has %v", name, members)
		}
	}
}

// fakeWorkspace is a workspace in which every conversation has the same name.
type fakeWorkspace struct {
	parley.Workspace
	name string
}

func (w fakeWorkspace) Conversations(context.Context, parley.ListFilter) ([]parley.ConversationView, error) {
	return []parley.ConversationView{{Conversation: parley.Conversation{ID: "c", Name: w.name}}}, nil
}

func TestAnswersOfTheDemoAgents(t *testing.T) {
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
			result, err := script.New().Run(t.Context(), parley.RunRequest{
				Run: parley.Run{Attempt: 2}, Agent: agent, Workspace: fakeWorkspace{name: tt.channel},
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

// TestDemoAgentsAnswerEveryText says hello, and something nobody understands, to everybody.
func TestDemoAgentsAnswerEveryText(t *testing.T) {
	for _, n := range Agents() {
		for _, text := range []string{"hello", "help", "status", "gibberish"} {
			result, err := script.New().Run(t.Context(), parley.RunRequest{
				Run: parley.Run{Attempt: 1}, Agent: asAgent(n), Workspace: fakeWorkspace{},
				Triggers: []parley.Message{{From: "user", Content: parley.Content{Text: text}}},
				Begin:    func(context.Context, parley.Process) error { return nil },
			})
			if err != nil || result.Text == "" {
				t.Errorf("%s answers %q to %q, %v", n.ID, result.Text, text, err)
			}
		}
	}
}
