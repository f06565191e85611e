package hub

import (
	"context"
	"encoding/json"

	"github.com/parley-hub/parley"
)

// readTools are the approvable calls that only read.
func (h *Hub) readTools() map[string]heldTool {
	return map[string]heldTool{
		toolRead:    tool(readWords, h.prepareRead),
		toolMessage: tool(messageWords, h.prepareMessage),
		toolQuery:   tool(queryWords, h.prepareQuery),
	}
}

// readArgs are what is read of a conversation.
type readArgs struct {
	Conversation string      `json:"conversation"`
	Page         parley.Page `json:"page"`
}

func readWords(s *scene, _ string, args readArgs) (words, error) {
	_, where, err := s.draftGoes("", parley.Draft{Conversation: args.Conversation})
	return words{wants: "read " + where, doing: "reading " + where, action: toolRead}, err
}

func (h *Hub) prepareRead(ctx context.Context, as Caller, args readArgs) (execution, error) {
	list, err := h.History(ctx, as, args.Conversation, args.Page)
	return reads(list, err)
}

// messageArgs name a message that is read, alone or with what answers it.
type messageArgs struct {
	Message string `json:"message"`
	Thread  bool   `json:"thread,omitempty"`
}

func messageWords(_ *scene, _ string, args messageArgs) (words, error) {
	what := "message " + args.Message
	if args.Thread {
		what = "the thread of " + what
	}
	return words{wants: "read " + what, doing: "reading " + what, action: toolMessage}, nil
}

func (h *Hub) prepareMessage(ctx context.Context, as Caller, args messageArgs) (execution, error) {
	if args.Thread {
		return reads(h.Thread(ctx, as, args.Message))
	}
	return reads(h.Message(ctx, as, args.Message))
}

// queryArgs are what is asked of the workspace.
type queryArgs struct {
	Action  string                `json:"action"`
	Subject string                `json:"subject,omitempty"` // what is shown or traced
	List    parley.ListFilter     `json:"list,omitzero"`
	Search  *parley.SearchRequest `json:"search,omitempty"`
	Tasks   *parley.TaskFilter    `json:"tasks,omitempty"`
	Asks    *parley.AskFilter     `json:"asks,omitempty"`
}

// The queries.
const (
	listAgents   = "list_agents"
	showAgent    = "show_agent"
	listChannels = "list_channels"
	showChannel  = "show_channel"
	listTasks    = "list_tasks"
	listAsks     = "list_asks"
	showTask     = "show_task"
	searching    = "search"
	tracing      = "trace"
)

func queryWords(s *scene, _ string, args queryArgs) (w words, err error) {
	subject := args.Subject
	switch args.Action {
	case showAgent:
		subject, err = s.nameOf(subject)
	case showChannel:
		_, subject, err = s.draftGoes("", parley.Draft{Conversation: subject})
	}
	about := map[string][2]string{
		listAgents:   {"list agents", "listing agents"},
		showAgent:    {"look at " + subject, "looking at " + subject},
		listChannels: {"list conversations", "listing conversations"},
		showChannel:  {"look at " + subject, "looking at " + subject},
		listTasks:    {"list tasks", "listing tasks"},
		listAsks:     {"list asks", "listing asks"},
		showTask:     {"look at " + subject, "looking at " + subject},
		searching:    {"search", "searching"},
		tracing:      {"trace " + subject, "tracing " + subject},
	}[args.Action]
	w = words{wants: about[0], doing: about[1], action: args.Action}
	if args.Search != nil {
		w.parts = []parley.ApprovalPart{{Label: "Query", Text: args.Search.Query}}
	}
	return w, err
}

func (h *Hub) prepareQuery(ctx context.Context, as Caller, args queryArgs) (execution, error) {
	switch args.Action {
	case listAgents:
		return reads(h.Who(ctx, as))
	case showAgent:
		return reads(h.AgentView(ctx, as, args.Subject))
	case listChannels:
		list, _, err := h.Conversations(ctx, as, args.List)
		return reads(list, err)
	case showChannel:
		return reads(h.Conversation(ctx, as, args.Subject))
	case listTasks:
		return reads(h.Tasks(ctx, as, *args.Tasks))
	case listAsks:
		return reads(h.Asks(ctx, as, *args.Asks))
	case showTask:
		return reads(h.TaskTree(ctx, as, args.Subject))
	case searching:
		return reads(h.Search(ctx, as, *args.Search))
	case tracing:
		return reads(h.Trace(ctx, as, args.Subject))
	default:
		return nil, parley.Errorf(parley.BadInput, "there is no query %q", args.Action).Suggest("ask again")
	}
}

// reads is the execution of a call that changes nothing: it was made before, and what it returned is told as JSON.
func reads[T any](result T, err error) (execution, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(result)
	return func(*scene, parley.Approval) (returned, error) { return returned{text: string(raw)}, nil }, err
}
