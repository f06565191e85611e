package policy

import (
	"github.com/parley-hub/parley"
)

// The tools whose calls may need an approval, by the names that agents use. The HTTP API and the CLI offer the same under
// other names.
const (
	ToolContact = parley.ContactTool
	ToolPost    = "send_channel_message"
	ToolReply   = "reply"
	ToolTask    = "update_task"
	ToolNewTask = "new_task"
	ToolRead    = "read_conversation"
	ToolMessage = "read_message"
	ToolQuery   = "query_workspace"
	ToolMemory  = "memory"

	ToolMakeConversation = "make_conversation"
	ToolConversation     = "update_conversation"

	// ToolUse is a tool of the agent's client, outside of the hub. An approved call does nothing but report the decision.
	ToolUse = "use_tool"
)

// PostTool returns the tool that posts a draft.
func PostTool(d parley.Draft) string {
	if d.InReplyTo != "" {
		return ToolReply
	}
	return ToolPost
}

// HeldPost is a draft that needs an approval, with the document it came from, if any.
type HeldPost struct {
	parley.Draft
	Bridge   string `json:"bridge,omitempty"`
	Document string `json:"document,omitempty"`
}

// ConversationArgs are the arguments of a change to a conversation, by ids.
type ConversationArgs struct {
	Conversation string                     `json:"conversation"`
	Act          string                     `json:"act"`
	Agent        string                     `json:"agent,omitempty"` // the agent to add or remove
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

// ReadArgs are the arguments of reading a conversation.
type ReadArgs struct {
	Conversation string      `json:"conversation"`
	Page         parley.Page `json:"page"`
}

// MessageArgs are the arguments of reading a message, alone or with its thread.
type MessageArgs struct {
	Message string `json:"message"`
	Thread  bool   `json:"thread,omitempty"`
}

// QueryArgs are the arguments of a query of the workspace.
type QueryArgs struct {
	Action  string                `json:"action"`
	Subject string                `json:"subject,omitempty"` // the id or name to show or to trace
	List    parley.ListFilter     `json:"list,omitzero"`
	Search  *parley.SearchRequest `json:"search,omitempty"`
	Tasks   *parley.TaskFilter    `json:"tasks,omitempty"`
	Asks    *parley.AskFilter     `json:"asks,omitempty"`
}

// The queries.
const (
	ListAgents   = "list_agents"
	ListSessions = "list_sessions"
	ShowAgent    = "show_agent"
	ListChannels = "list_channels"
	ShowChannel  = "show_channel"
	ListTasks    = "list_tasks"
	ListAsks     = "list_asks"
	ShowTask     = "show_task"
	Searching    = "search"
	Tracing      = "trace"
)

// TaskArgs are the arguments of cancelling, retrying or reassigning a task.
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

// MemoryArgs are the arguments of a call about notes, by ids. It has the part that its action needs.
type MemoryArgs struct {
	Action string             `json:"action"`
	New    *parley.NewNote    `json:"new,omitempty"`
	Filter *parley.NoteFilter `json:"filter,omitempty"`
	Note   string             `json:"note,omitempty"`
}

// The actions.
const (
	Remembers = "remember"
	Recalls   = "recall"
	Forgets   = "forget"
)
