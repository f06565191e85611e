package policy

import (
	"github.com/parley-hub/parley"
)

// The tools whose calls may be held, by the names agents know them by. Other doors do the same by other names.
const (
	ToolContact = parley.ContactTool
	ToolPost    = "send_channel_message"
	ToolReply   = "reply"
	ToolTask    = "update_task"
	ToolNewTask = "new_task"
	ToolRead    = "read_conversation"
	ToolMessage = "read_message"
	ToolQuery   = "query_workspace"

	ToolMakeConversation = "make_conversation"
	ToolConversation     = "update_conversation"
)

// PostTool is the tool that a draft is posted with.
func PostTool(d parley.Draft) string {
	if d.InReplyTo != "" {
		return ToolReply
	}
	return ToolPost
}

// HeldPost is a draft that is held, and the document that it has come by, if it has.
type HeldPost struct {
	parley.Draft
	Bridge   string `json:"bridge,omitempty"`
	Document string `json:"document,omitempty"`
}

// ConversationArgs are the arguments of a change to an existing conversation, by ids.
type ConversationArgs struct {
	Conversation string                     `json:"conversation"`
	Act          string                     `json:"act"`
	Agent        string                     `json:"agent,omitempty"` // who is added or removed
	Change       *parley.ConversationChange `json:"change,omitempty"`
}

// The acts.
const (
	JoinsConversation   = "join"
	LeavesConversation  = "leave"
	AddsMember          = "add"
	RemovesMember       = "remove"
	ChangesConversation = "change"
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

// TaskArgs are what somebody does to a task that is not its own to speak of.
type TaskArgs struct {
	Task     string `json:"task"`
	Act      string `json:"act"`
	Reason   string `json:"reason,omitempty"`
	Assignee string `json:"assignee,omitempty"`
}

// The acts.
const (
	CancelsTask   = "cancel"
	RetriesTask   = "retry"
	ReassignsTask = "reassign"
)
