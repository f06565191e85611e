package httpapi

import (
	"net/http"
	"slices"
)

// The groups of operations, in the order of the documentation.
const (
	tagMessages      = "Messages"
	tagContact       = "Contact"
	tagTasks         = "Tasks"
	tagApprovals     = "Approvals"
	tagPermissions   = "Permissions"
	tagInbox         = "Inbox"
	tagConversations = "Conversations"
	tagAgents        = "Agents"
	tagRuns          = "Runs"
	tagEvents        = "Events"
	tagArtifacts     = "Artifacts"
	tagBridges       = "Bridges"
	tagDead          = "Dead letters"
	tagCredentials   = "Credentials"
	tagHub           = "Hub"
)

// routes lists every operation there is.
func routes() []route {
	return ruled(slices.Concat(
		messageRoutes(), contactRoutes(), taskRoutes(), approvalRoutes(), inboxRoutes(), conversationRoutes(), agentRoutes(),
		permissionRoutes(), controlRoutes(), runRoutes(), artifactRoutes(), bridgeRoutes(), credentialRoutes(), eventRoutes(), hubRoutes(), observeRoutes(),
		pageRoutes(),
	))
}

func messageRoutes() []route {
	return []route{
		answersAs(Operation{
			ID: "post-message", Method: http.MethodPost, Path: "/v1/messages", Tag: tagMessages,
			Summary:     "Post a message",
			Description: "Answers once the message is on disk. Name a conversation, or the participants it is for, or the message it answers. 200 says that its key was used before: it is the first message that comes back.",
			Status:      http.StatusCreated, Body: bodyOfMessage,
			Example: `{"direct":["arya"],"content":{"text":"Is the build green?"},"priority":"high","requires_ack":true}`,
		}, postedStatus, post),
		answers(Operation{
			ID: "show-message", Method: http.MethodGet, Path: "/v1/messages/{message}", Tag: tagMessages,
			Summary:     "Show a message and what became of it",
			Description: "With wait, answers once every delivery that wakes has come as far as for says or has ended, or when the time is up.",
			Time:        waitTime,
		}, showMessage),
		answers(Operation{
			ID: "read-thread", Method: http.MethodGet, Path: "/v1/messages/{message}/thread", Tag: tagMessages,
			Summary:     "A message and everything that answers it",
			Description: "At most 1,000 messages, and about 4 MiB of texts. If there may be more, `cut` is set and `notice` says how to read the rest.",
		}, thread),
		answers(Operation{
			ID: "redact-message", Method: http.MethodPost, Path: "/v1/messages/{message}/redact", Tag: tagMessages,
			Summary:     "Erase what a message says",
			Description: "Its envelope and the digest of its body stay.",
			Example:     `{"reason":"contained a password"}`,
		}, redact),
		answers(Operation{
			ID: "read-trace", Method: http.MethodGet, Path: "/v1/traces/{trace}", Tag: tagMessages,
			Summary:     "Everything that belongs to a trace",
			Description: "The messages the caller may read, in their order, with what became of them, and the runs it may see.",
		}, trace),
		answers(Operation{
			ID: "search", Method: http.MethodGet, Path: "/v1/search", Tag: tagMessages,
			Summary: "Search messages",
		}, search),
	}
}

func inboxRoutes() []route {
	return []route{
		answers(Operation{
			ID: "peek-inbox", Method: http.MethodGet, Path: "/v1/inbox", Tag: tagInbox,
			Summary:     "Look into the inbox",
			Description: "Looking consumes nothing. The oldest message comes first, or with newest the newest.",
		}, peekInbox),
		answers(Operation{
			ID: "take", Method: http.MethodPost, Path: "/v1/inbox/take", Tag: tagInbox,
			Summary:     "Take what waits",
			Description: "Hands deliveries to the caller and leases them to it. With wait, answers as soon as there is something.",
			Time:        waitTime,
			Example:     `{"limit":10,"wait":30}`,
		}, take),
		answers(Operation{
			ID: "ack", Method: http.MethodPost, Path: "/v1/inbox/ack", Tag: tagInbox,
			Summary:     "Acknowledge deliveries",
			Description: "It is done, or known. Doing it again changes nothing.",
			Example:     `{"messages":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"]}`,
		}, ack),
		answers(Operation{
			ID: "mark-shown", Method: http.MethodPost, Path: "/v1/inbox/shown", Tag: tagInbox,
			Summary: "Say what a person was shown",
			Description: "The person has seen the messages, and the deliveries that want nothing of the person are settled. Asks, tasks, " +
				"approvals and messages that require an ack stay open. For agents nothing changes.",
			Example: `{"messages":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"]}`,
		}, markShown),
		answers(Operation{
			ID: "nack", Method: http.MethodPost, Path: "/v1/inbox/nack", Tag: tagInbox,
			Summary:     "Give deliveries back",
			Description: "What may succeed at another time is tried again; what cannot has failed, and its sender is told.",
			Example:     `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51","messages":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"],"failure":"busy"}`,
		}, nack),
		answers(Operation{
			ID: "extend", Method: http.MethodPost, Path: "/v1/inbox/extend", Tag: tagInbox,
			Summary: "Keep a lease for longer",
			Example: `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51","seconds":120}`,
		}, extend),
		answers(Operation{
			ID: "see", Method: http.MethodPost, Path: "/v1/inbox/see", Tag: tagInbox,
			Summary: "Say that a turn has started",
			Example: `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51","run":"run-7"}`,
		}, see),
		answers(Operation{
			ID: "settle", Method: http.MethodPost, Path: "/v1/inbox/settle", Tag: tagInbox,
			Summary:     "End a lease",
			Description: "Everything it still holds is answered, acknowledged, or given back.",
			Example:     `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51"}`,
		}, settle),
		answers(Operation{
			ID: "list-dead", Method: http.MethodGet, Path: "/v1/dead", Tag: tagDead,
			Summary:     "List dead letters",
			Description: "Deliveries that are out of attempts, the oldest first.",
		}, deadLetters),
		answers(Operation{
			ID: "retry-dead", Method: http.MethodPost, Path: "/v1/dead/{message}/{recipient}/retry", Tag: tagDead,
			Summary: "Try a dead letter again",
		}, retryDead),
		answers(Operation{
			ID: "drop-dead", Method: http.MethodPost, Path: "/v1/dead/{message}/{recipient}/drop", Tag: tagDead,
			Summary:     "Give a dead letter up",
			Description: "Its sender is told.",
		}, dropDead),
	}
}

func conversationRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-conversations", Method: http.MethodGet, Path: "/v1/conversations", Tag: tagConversations,
			Summary:     "List conversations",
			Description: "Those the caller takes part in, the one with the newest message first.",
		}, listConversations),
		answers(Operation{
			ID: "make-conversation", Method: http.MethodPost, Path: "/v1/conversations", Tag: tagConversations,
			Summary:     "Make a channel or a group",
			Description: "A DM needs no making: post to its members directly.",
			Status:      http.StatusCreated,
			Example:     `{"name":"project-x","with":["arya","gendry"],"topic":"The forge"}`,
		}, makeConversation),
		answers(Operation{
			ID: "show-conversation", Method: http.MethodGet, Path: "/v1/conversations/{conversation}", Tag: tagConversations,
			Summary: "Show a conversation",
		}, showConversation),
		answers(Operation{
			ID: "change-conversation", Method: http.MethodPatch, Path: "/v1/conversations/{conversation}", Tag: tagConversations,
			Summary: "Rename, describe or archive a conversation",
			Example: `{"topic":"The forge, and what comes out of it"}`,
		}, changeConversation),
		does(Operation{
			ID: "delete-conversation", Method: http.MethodDelete, Path: "/v1/conversations/{conversation}", Tag: tagConversations,
			Summary: "Delete a conversation with everything in it",
		}, deleteConversation),
		does(Operation{
			ID: "join", Method: http.MethodPost, Path: "/v1/conversations/{conversation}/join", Tag: tagConversations,
			Summary:     "Join a conversation",
			Description: "Public channels are open to all; owners may join any channel or named group.",
		}, join),
		does(Operation{
			ID: "leave", Method: http.MethodPost, Path: "/v1/conversations/{conversation}/leave", Tag: tagConversations,
			Summary: "Leave a conversation",
		}, leave),
		does(Operation{
			ID: "add-member", Method: http.MethodPut, Path: "/v1/conversations/{conversation}/members/{agent}", Tag: tagConversations,
			Summary:     "Add somebody to a conversation",
			Description: "To a public channel everybody may.",
		}, addMember),
		does(Operation{
			ID: "remove-member", Method: http.MethodDelete, Path: "/v1/conversations/{conversation}/members/{agent}", Tag: tagConversations,
			Summary:     "Take somebody out of a conversation",
			Description: "Its creator and owners may.",
		}, removeMember),
		answers(Operation{
			ID: "list-messages", Method: http.MethodGet, Path: "/v1/conversations/{conversation}/messages", Tag: tagConversations,
			Summary:     "Read a conversation",
			Description: "Messages, oldest first: the newest ones, those before a seq, or those after one. Reading consumes nothing.",
		}, listMessages),
		answers(Operation{
			ID: "read-context", Method: http.MethodGet, Path: "/v1/conversations/{conversation}/context", Tag: tagConversations,
			Summary:     "What the caller sees when it is woken",
			Description: "The last messages, as many as its own context_messages says.",
		}, contextOf),
		does(Operation{
			ID: "mark-read", Method: http.MethodPost, Path: "/v1/conversations/{conversation}/read", Tag: tagConversations,
			Summary: "Move the read cursor forward",
			Example: `{"seq":42}`,
		}, markRead),
		streams(Operation{
			ID: "export-conversation", Method: http.MethodGet, Path: "/v1/conversations/{conversation}/export", Tag: tagConversations,
			Summary:     "Export a conversation",
			Description: "As JSON lines, the conversation first, or as Markdown. In the place of a damaged message there is one with `damage`, or in Markdown a line that begins with `Damaged: message`.",
			Time:        longTime, Gives: jsonLines,
		}, exportConversation),
	}
}

func agentRoutes() []route {
	return []route{
		answers(Operation{
			ID: "whoami", Method: http.MethodGet, Path: "/v1/whoami", Tag: tagAgents,
			Summary:     "Who the caller is",
			Description: "The participant, what its credential may be used for, and the owner who acts as it, if one does.",
		}, whoami),
		answers(Operation{
			ID: "who", Method: http.MethodGet, Path: "/v1/who", Tag: tagAgents,
			Summary:     "What everybody is doing",
			Description: "Each participant with its status and what is open in its inbox.",
		}, who),
		answers(Operation{
			ID: "list-protocols", Method: http.MethodGet, Path: "/v1/protocols", Tag: tagAgents,
			Summary:     "Which formats are spoken",
			Description: "By the hub at its edges, and by each agent that names any in its profile. The highest version that both understand is used.",
		}, protocols),
		answers(Operation{
			ID: "list-agents", Method: http.MethodGet, Path: "/v1/agents", Tag: tagAgents,
			Summary:     "List the participants",
			Description: "Agents, people and the hub itself. How an agent is run is shown to owners alone.",
		}, listAgents),
		answers(Operation{
			ID: "add-agent", Method: http.MethodPost, Path: "/v1/agents", Tag: tagAgents,
			Summary: "Add an agent or a person",
			Status:  http.StatusCreated,
			Example: `{"id":"arya","name":"Arya","role":"reviewer","description":"Reads what others write"}`,
		}, addAgent),
		answers(Operation{
			ID: "show-agent", Method: http.MethodGet, Path: "/v1/agents/{agent}", Tag: tagAgents,
			Summary: "Show a participant",
		}, showAgent),
		answers(Operation{
			ID: "change-agent", Method: http.MethodPatch, Path: "/v1/agents/{agent}", Tag: tagAgents,
			Summary:     "Change a participant",
			Description: "What is absent stays as it is; null sets the default.",
			Example:     `{"role":"verifier","tier":"worker","manager":null}`,
		}, changeAgent),
		does(Operation{
			ID: "remove-agent", Method: http.MethodDelete, Path: "/v1/agents/{agent}", Tag: tagAgents,
			Summary:     "Remove a participant",
			Description: "It leaves its conversations, its tokens are revoked, and what was on its way to it has failed. Its names stay reserved.",
		}, removeAgent),
		answers(Operation{
			ID: "sleep", Method: http.MethodPost, Path: "/v1/agents/{agent}/sleep", Tag: tagAgents,
			Summary:     "Put an agent to sleep",
			Description: "What comes for it waits until then, but for asks.",
			Example:     `{"for":3600}`,
		}, sleep),
		answers(Operation{
			ID: "wake", Method: http.MethodPost, Path: "/v1/agents/{agent}/wake", Tag: tagAgents,
			Summary: "Wake an agent",
		}, wake),
	}
}
