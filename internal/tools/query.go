package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

const maxRows = 100 // of a list

var queryWorkspace = Tool{
	Name:        "query_workspace",
	Title:       "Query Workspace",
	Description: "Lists agents and people, channels, tasks, or approvals that you may decide; searches messages; or says who you are.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"action":{"type":"string","enum":["list_agents","list_channels","list_tasks","list_approvals","search","whoami"]},` +
		`"query":{"type":"string","description":"For search: words, \"phrases\", from: in: to: type: before: after:"}},` +
		`"required":["action"],"additionalProperties":false}`),
	call: withArguments(query),
}

type queryArgs struct {
	Action string `json:"action"`
	Query  string `json:"query"`
}

func query(ctx context.Context, p Participant, args queryArgs) (string, error) {
	if args.Query != "" && args.Action != "search" {
		return "", parley.Errorf(parley.BadInput, "query is for search only").Suggest("leave it out")
	}
	switch args.Action {
	case "list_agents":
		return listAgents(ctx, p)
	case "list_channels":
		return listChannels(ctx, p)
	case "list_tasks":
		return listTasks(ctx, p)
	case "list_approvals":
		return listApprovals(ctx, p)
	case "search":
		return search(ctx, p, args.Query)
	case "whoami":
		return whoami(ctx, p)
	default:
		return "", parley.Errorf(parley.BadInput, "there is no action %s", quote.Inline(args.Action)).
			Suggest("use list_agents, list_channels, list_tasks, list_approvals, search or whoami")
	}
}

func listAgents(ctx context.Context, p Participant) (string, error) {
	present, err := p.Workspace.Who(ctx)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, a := range present[:min(len(present), maxRows)] {
		out.WriteString(presence(p, a))
	}
	if len(present) > maxRows {
		fmt.Fprintf(&out, "(%d more)\n", len(present)-maxRows)
	}
	return out.String(), nil
}

// presence returns the line of one participant in the list of agents, with its status.
func presence(p Participant, a parley.Presence) string {
	v := quote.Participants{Self: p.ID, Known: map[string]quote.Person{a.ID: {Name: a.Name, Kind: a.Kind, Role: a.Role}}}
	status := quote.Word(a.Status)
	if a.Reason != "" {
		status += ", " + quote.Inline(a.Reason)
	}
	return "- " + v.Describe(a.ID) + ": " + status + "\n"
}

func whoami(ctx context.Context, p Participant) (string, error) {
	self, err := p.Workspace.Named(ctx, p.ID)
	if err != nil {
		return "", err
	}
	if len(self) == 0 {
		return "", parley.Errorf(parley.NotPermitted, "%s was removed from the hub", quote.Word(p.ID))
	}
	a := self[0]
	text := fmt.Sprintf("You are %s, id %s, %s.\n", quote.Inline(a.Name), quote.Word(a.ID), quote.Word(string(a.Kind)))
	if a.Role != "" {
		text += "Your role: " + quote.Inline(a.Role) + "\n"
	}
	return text, nil
}

func listChannels(ctx context.Context, p Participant) (string, error) {
	list, err := p.Workspace.Conversations(ctx, parley.ListFilter{All: true, Limit: maxRows})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, c := range list {
		name := quote.Word(c.ID)
		if c.Name != "" {
			name += " #" + quote.Word(c.Name)
		}
		if c.DisplayName != "" {
			name += " " + quote.Inline(c.DisplayName)
		}
		joined := "not joined"
		if c.Joined {
			joined = fmt.Sprintf("%d unread", c.Unread)
		}
		fmt.Fprintf(&out, "- %s (%s %s, %d members, %s)", name, c.Visibility, c.Kind, len(c.Members), joined)
		if c.Topic != "" {
			out.WriteString(": " + quote.Inline(c.Topic))
		}
		out.WriteString("\n")
	}
	if len(list) == 0 {
		return "No channels.\n", nil
	}
	return out.String(), nil
}

func search(ctx context.Context, p Participant, words string) (string, error) {
	if err := require("query", words); err != nil {
		return "", err
	}
	found, err := p.Workspace.Search(ctx, parley.SearchRequest{Query: words, Limit: defaultMessages})
	if err != nil {
		return "", err
	}
	if len(found.Hits) == 0 {
		return "Nothing found.\n", nil
	}
	messages := make([]parley.Message, len(found.Hits))
	for i, hit := range found.Hits {
		messages[i] = parley.Message{ID: hit.Message, From: hit.From, To: hit.To, Type: hit.Type, CreatedAt: hit.CreatedAt}
	}
	v, err := participantsIn(ctx, p, messages)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for i, hit := range found.Hits {
		m := messages[i]
		fmt.Fprintf(&out, "in conversation %s:\n%s", quote.Word(hit.Conversation), v.Envelope(m, quote.Snippet(m, hit.Snippet.Text)))
	}
	if found.Next != nil {
		out.WriteString("(more was found; narrow the search)\n")
	}
	return out.String(), nil
}
