package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

const maxRows = 100 // of a list

var queryWorkspace = Tool{
	Name:        "query_workspace",
	Title:       "Query Workspace",
	Description: "Lists agents and people, their live sessions, channels, tasks, or approvals that you may decide; searches messages; or says who you are.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"action":{"type":"string","enum":["list_agents","list_sessions","list_channels","list_tasks","list_approvals","search","whoami"]},` +
		`"query":{"type":"string","description":"For search: words, \"phrases\", from: in: to: type: before: after:"}},` +
		`"required":["action"],"additionalProperties":false}`),
	Reads: true,
	Result: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object"}},` +
		`"more":{"type":"integer"},"approval":{"type":"string"}}}`),
	call: withArguments(query),
}

// itemsData is the structured result of a query.
type itemsData[T any] struct {
	Items []T `json:"items"`
	More  int `json:"more,omitempty"` // items that were left out
}

func itemsOf[T any](text string, items []T, more int) Result {
	if items == nil {
		items = []T{}
	}
	return Result{text, itemsData[T]{items, more}}
}

type queryArgs struct {
	Action string `json:"action"`
	Query  string `json:"query"`
}

func query(ctx context.Context, p Participant, args queryArgs) (Result, error) {
	if args.Query != "" && args.Action != "search" {
		return Result{}, parley.Errorf(parley.BadInput, "query is for search only").Suggest("leave it out")
	}
	switch args.Action {
	case "list_agents":
		return listAgents(ctx, p)
	case "list_sessions":
		return listSessions(ctx, p)
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
		return Result{}, parley.Errorf(parley.BadInput, "there is no action %s", quote.Inline(args.Action)).
			Suggest("use list_agents, list_sessions, list_channels, list_tasks, list_approvals, search or whoami")
	}
}

// agentData is a participant in a list.
type agentData struct {
	ID     string      `json:"id"`
	Name   string      `json:"name"`
	Kind   parley.Kind `json:"kind"`
	Role   string      `json:"role,omitempty"`
	Status string      `json:"status,omitempty"`
	Reason string      `json:"reason,omitempty"`
}

func listAgents(ctx context.Context, p Participant) (Result, error) {
	present, err := p.Workspace.Who(ctx)
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	shown := present[:min(len(present), maxRows)]
	items := make([]agentData, 0, len(shown))
	for _, a := range shown {
		out.WriteString(presence(p, a))
		items = append(items, agentData{a.ID, a.Name, a.Kind, a.Role, a.Status, a.Reason})
	}
	more := len(present) - len(shown)
	if more > 0 {
		fmt.Fprintf(&out, "(%d more)\n", more)
	}
	return itemsOf(out.String(), items, more), nil
}

// ShowAgent shows what one participant is doing, by any of its names. It returns E003 (NotFound) if no participant has the name.
func ShowAgent(ctx context.Context, p Participant, name string) (Result, error) {
	present, err := p.Workspace.Who(ctx)
	if err != nil {
		return Result{}, err
	}
	folded := parley.Fold(name)
	for _, a := range present {
		if a.ID == folded || parley.Fold(a.Name) == folded {
			return Result{presence(p, a), agentData{a.ID, a.Name, a.Kind, a.Role, a.Status, a.Reason}}, nil
		}
	}
	return Result{}, parley.Errorf(parley.BadInput, "there is no participant %s", quote.Inline(name)).Because(parley.NotFound).
		Suggest("see query_workspace list_agents")
}

func presence(p Participant, a parley.Presence) string {
	v := quote.Participants{Self: p.ID, Known: map[string]quote.Person{a.ID: {Name: a.Name, Kind: a.Kind, Role: a.Role}}}
	status := quote.Word(a.Status)
	if a.Reason != "" {
		status += ", " + quote.Inline(a.Reason)
	}
	return "- " + v.Describe(a.ID) + ": " + status + "\n"
}

// selfData is the caller in a structured result.
type selfData struct {
	agentData
	Mode    parley.Mode `json:"mode,omitempty"`
	Manager string      `json:"manager,omitempty"`
	Tier    parley.Tier `json:"tier,omitempty"`
}

func whoami(ctx context.Context, p Participant) (Result, error) {
	a, err := p.Workspace.Self(ctx)
	if err != nil {
		return Result{}, err
	}
	text := fmt.Sprintf("You are %s, id %s, %s.\n", quote.Inline(a.Name), quote.Word(a.ID), quote.Word(string(a.Kind)))
	if a.Role != "" {
		text += "Your role: " + quote.Inline(a.Role) + "\n"
	}
	text += ownFact("mode", string(a.Mode)) + ownFact("manager", a.Manager) + ownFact("tier", string(a.Tier))
	self := selfData{agentData{ID: a.ID, Name: a.Name, Kind: a.Kind, Role: a.Role}, a.Mode, a.Manager, a.Tier}
	return itemsOf(text, []selfData{self}, 0), nil
}

// ownFact returns a line about the caller, or nothing if the value is not set.
func ownFact(about, value string) string {
	if value == "" {
		return ""
	}
	return "Your " + about + ": " + quote.Word(value) + "\n"
}

// channelData is a conversation in a list.
type channelData struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Kind    string `json:"kind"`
	Members int    `json:"members"`

	With   []string `json:"with,omitempty"` // the other members of a conversation without a name
	Joined bool     `json:"joined"`
	Unread int      `json:"unread"`
	Topic  string   `json:"topic,omitempty"`
}

func listChannels(ctx context.Context, p Participant) (Result, error) {
	list, err := p.Workspace.Conversations(ctx, parley.ListFilter{All: true, Limit: maxRows})
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	items := make([]channelData, 0, len(list))
	for _, c := range list {
		out.WriteString(channelLine(p, c))
		items = append(items, channelData{c.ID, c.Name, string(c.Kind), len(c.Members), othersIn(p, c), c.Joined, c.Unread, c.Topic})
	}
	if len(list) == 0 {
		out.WriteString("No channels.\n")
	}
	return itemsOf(out.String(), items, 0), nil
}

// othersIn returns the other members of a conversation that has no name but its members.
func othersIn(p Participant, c parley.ConversationView) []string {
	if c.Name != "" || c.Kind == parley.Channel {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Members), func(id string) bool { return id == p.ID })
}

// MembersName names a conversation without a name by its other members: "DM with ben". It is empty for any other conversation.
func MembersName(p Participant, c parley.ConversationView) string {
	others := othersIn(p, c)
	switch {
	case len(others) == 0:
		return ""
	case c.Kind == parley.DM:
		return "DM with " + idList(others)
	default:
		return string(c.Kind) + " with " + idList(others)
	}
}

func channelLine(p Participant, c parley.ConversationView) string {
	name := quote.Word(c.ID)
	if c.Name != "" {
		name += " #" + quote.Word(c.Name)
	}
	if members := MembersName(p, c); members != "" {
		name += " " + members
	}
	if c.DisplayName != "" {
		name += " " + quote.Inline(c.DisplayName)
	}
	joined := "not joined"
	if c.Joined {
		joined = fmt.Sprintf("%d unread", c.Unread)
	}
	line := fmt.Sprintf("- %s (%s %s, %d members, %s)", name, c.Visibility, c.Kind, len(c.Members), joined)
	if c.Topic != "" {
		line += ": " + quote.Inline(c.Topic)
	}
	return line + "\n"
}

// hitData is a message that a search found.
type hitData struct {
	Message      string    `json:"message"`
	Conversation string    `json:"conversation"`
	Channel      string    `json:"channel,omitempty"`
	From         string    `json:"from"`
	At           time.Time `json:"at"`
	Text         string    `json:"text"`
}

// placeOf names the conversation of a message that a search found.
func placeOf(hit parley.Hit) string {
	if hit.Channel != "" {
		return "#" + quote.Word(hit.Channel)
	}
	return "conversation " + quote.Word(hit.Conversation)
}

func search(ctx context.Context, p Participant, words string) (Result, error) {
	if err := require("query", words); err != nil {
		return Result{}, err
	}
	found, err := p.Workspace.Search(ctx, parley.SearchRequest{Query: words, Limit: defaultMessages})
	if err != nil {
		return Result{}, err
	}
	if len(found.Hits) == 0 {
		return itemsOf[hitData]("Nothing found.\n", nil, 0), nil
	}
	messages := make([]parley.Message, len(found.Hits))
	for i, hit := range found.Hits {
		messages[i] = parley.Message{ID: hit.Message, Seq: hit.Seq, From: hit.From, To: hit.To, Type: hit.Type, CreatedAt: hit.CreatedAt}
	}
	v, err := participantsIn(ctx, p, messages, quote.NamesOf(messages))
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	var items []hitData
	for i, hit := range found.Hits {
		m := messages[i]
		fmt.Fprintf(&out, "in %s:\n%s", placeOf(hit), v.Envelope(m, quote.Snippet(m, hit.Snippet.Text)))
		items = append(items, hitData{m.ShortName(), hit.Conversation, hit.Channel, hit.From, hit.CreatedAt, hit.Snippet.Text})
	}
	if found.Next != nil {
		out.WriteString("(more was found; narrow the search)\n")
	}
	return itemsOf(out.String(), items, 0), nil
}
