package policy

import (
	"github.com/parley-hub/parley"
)

// ReadArgs are what is read of a conversation.
type ReadArgs struct {
	Conversation string      `json:"conversation"`
	Page         parley.Page `json:"page"`
}

// MessageArgs name a message that is read, alone or with what answers it.
type MessageArgs struct {
	Message string `json:"message"`
	Thread  bool   `json:"thread,omitempty"`
}

// QueryArgs are what is asked of the workspace.
type QueryArgs struct {
	Action  string                `json:"action"`
	Subject string                `json:"subject,omitempty"` // what is shown or traced
	List    parley.ListFilter     `json:"list,omitzero"`
	Search  *parley.SearchRequest `json:"search,omitempty"`
	Tasks   *parley.TaskFilter    `json:"tasks,omitempty"`
	Asks    *parley.AskFilter     `json:"asks,omitempty"`
}

// The queries.
const (
	ListAgents   = "list_agents"
	ShowAgent    = "show_agent"
	ListChannels = "list_channels"
	ShowChannel  = "show_channel"
	ListTasks    = "list_tasks"
	ListAsks     = "list_asks"
	ShowTask     = "show_task"
	Searching    = "search"
	Tracing      = "trace"
)
