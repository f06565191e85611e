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
	tagSessions      = "Sessions"
	tagConversations = "Conversations"
	tagNotes         = "Notes"
	tagAgents        = "Agents"
	tagRuns          = "Runs"
	tagEvents        = "Events"
	tagArtifacts     = "Artifacts"
	tagBridges       = "Bridges"
	tagDead          = "Dead letters"
	tagCredentials   = "Credentials"
	tagHub           = "Hub"
)

// allRoutes returns the route of every operation.
func allRoutes() []route {
	return withRules(slices.Concat(
		messageRoutes(), contactRoutes(), mcpRoutes(), taskRoutes(), approvalRoutes(), inboxRoutes(), sessionRoutes(), conversationRoutes(), memoryRoutes(), agentRoutes(),
		permissionRoutes(), controlRoutes(), runRoutes(), artifactRoutes(), bridgeRoutes(), credentialRoutes(), eventRoutes(), hubRoutes(), observeRoutes(),
		pageRoutes(),
	))
}

func messageRoutes() []route {
	return []route{
		jsonRouteWithStatus(Operation{
			ID: "post-message", Method: http.MethodPost, Path: "/v1/messages", Tag: tagMessages,
			Summary:     "Post a message",
			Description: "The hub answers when the message is on disk. Name a conversation, the recipients, or the message that this one answers. Status 200 means that the key was used before: the hub returns the first message.",
			Status:      http.StatusCreated, MaxBody: bodyOfMessage,
			Example: `{"direct":["arya"],"content":{"text":"Is the build green?"},"priority":"high","requires_ack":true}`,
		}, postedStatus, post),
		jsonRoute(Operation{
			ID: "show-message", Method: http.MethodGet, Path: "/v1/messages/{message}", Tag: tagMessages,
			Summary:     "Show a message and its deliveries",
			Description: "With wait, the hub answers when every waking delivery has reached the state in for or has ended, or when the time is up.",
			TimeLimit:   waitTime,
		}, showMessage),
		jsonRoute(Operation{
			ID: "read-thread", Method: http.MethodGet, Path: "/v1/messages/{message}/thread", Tag: tagMessages,
			Summary:     "Read a message and all its answers",
			Description: "Returns at most 1,000 messages and about 4 MiB of text. If the thread may have more messages, `cut` is set and `notice` says how to read the rest.",
		}, thread),
		jsonRoute(Operation{
			ID: "redact-message", Method: http.MethodPost, Path: "/v1/messages/{message}/redact", Tag: tagMessages,
			Summary:     "Erase the body of a message",
			Description: "The hub keeps the envelope and the digest of the body.",
			Example:     `{"reason":"contained a password"}`,
		}, redact),
		jsonRoute(Operation{
			ID: "read-trace", Method: http.MethodGet, Path: "/v1/traces/{trace}", Tag: tagMessages,
			Summary:     "Read a trace",
			Description: "Returns the messages that the caller may read, in order, with their deliveries, and the runs that the caller may see.",
		}, trace),
		jsonRoute(Operation{
			ID: "search", Method: http.MethodGet, Path: "/v1/search", Tag: tagMessages,
			Summary: "Search messages",
		}, search),
	}
}

func inboxRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "peek-inbox", Method: http.MethodGet, Path: "/v1/inbox", Tag: tagInbox,
			Summary:     "Read the inbox",
			Description: "Reading the inbox consumes nothing. The oldest message comes first, or with newest the newest.",
		}, peekInbox),
		jsonRoute(Operation{
			ID: "take", Method: http.MethodPost, Path: "/v1/inbox/take", Tag: tagInbox,
			Summary:     "Take deliveries",
			Description: "The hub hands deliveries to the caller under a lease. With wait, the hub answers as soon as a delivery is available.",
			TimeLimit:   waitTime,
			Example:     `{"limit":10,"wait":30}`,
		}, take),
		jsonRoute(Operation{
			ID: "ack", Method: http.MethodPost, Path: "/v1/inbox/ack", Tag: tagInbox,
			Summary:     "Acknowledge deliveries",
			Description: "The caller has handled the messages, or needs no more from them. Repeating the call changes nothing.",
			Example:     `{"messages":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"]}`,
		}, ack),
		jsonRoute(Operation{
			ID: "mark-shown", Method: http.MethodPost, Path: "/v1/inbox/shown", Tag: tagInbox,
			Summary: "Mark messages as shown to a person",
			Description: "The person has seen the messages. The hub settles the deliveries that need no action. Asks, tasks, " +
				"approvals and messages that require an ack stay open. The call changes nothing for agents.",
			Example: `{"messages":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"]}`,
		}, markShown),
		jsonRoute(Operation{
			ID: "nack", Method: http.MethodPost, Path: "/v1/inbox/nack", Tag: tagInbox,
			Summary:     "Give deliveries back",
			Description: "The hub retries a delivery that may succeed later. Otherwise the delivery fails, and the hub tells the sender.",
			Example:     `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51","messages":["01981c35-8a2f-7c31-9f2e-2f6f4a1d9b10"],"failure":"busy"}`,
		}, nack),
		jsonRoute(Operation{
			ID: "extend", Method: http.MethodPost, Path: "/v1/inbox/extend", Tag: tagInbox,
			Summary: "Extend a lease",
			Example: `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51","seconds":120}`,
		}, extend),
		jsonRoute(Operation{
			ID: "see", Method: http.MethodPost, Path: "/v1/inbox/see", Tag: tagInbox,
			Summary: "Report that a turn has started",
			Example: `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51","run":"run-7"}`,
		}, see),
		jsonRoute(Operation{
			ID: "settle", Method: http.MethodPost, Path: "/v1/inbox/settle", Tag: tagInbox,
			Summary:     "End a lease",
			Description: "The hub marks each delivery that the lease still holds as answered or acknowledged, or takes it back.",
			Example:     `{"lease":"8f0b7f3e-6f0a-4f43-8a3e-0c8f6a2f7a51"}`,
		}, settle),
		jsonRoute(Operation{
			ID: "list-dead", Method: http.MethodGet, Path: "/v1/dead", Tag: tagDead,
			Summary:     "List dead letters",
			Description: "Returns the deliveries that have no attempts left, the oldest first.",
		}, deadLetters),
		jsonRoute(Operation{
			ID: "retry-dead", Method: http.MethodPost, Path: "/v1/dead/{message}/{recipient}/retry", Tag: tagDead,
			Summary: "Retry a dead letter",
		}, retryDead),
		jsonRoute(Operation{
			ID: "drop-dead", Method: http.MethodPost, Path: "/v1/dead/{message}/{recipient}/drop", Tag: tagDead,
			Summary:     "Drop a dead letter",
			Description: "The hub tells the sender.",
		}, dropDead),
	}
}

func sessionRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-sessions", Method: http.MethodGet, Path: "/v1/sessions", Tag: tagSessions,
			Summary:     "List client sessions",
			Description: "Returns the live client sessions of all participants, the oldest first.",
		}, listSessions),
		streamRoute(Operation{
			ID: "open-session", Method: http.MethodPost, Path: "/v1/sessions", Tag: tagSessions,
			Summary: "Open a client session",
			Description: "The answer is a stream of server-sent events. The session lives while a stream with its key is open, and 4 seconds longer, so that " +
				"its client can connect again. What the caller takes with the session's key is leased to it as long. The first event is session. " +
				"Each event sign says how many deliveries the inbox holds: one comes at once, and one whenever there is something new to take.",
			TimeLimit: noTimeLimit, AnswerType: "text/event-stream",
			Example: `{"key":"8d6c1f0a","client":"example 1.0","kind":"stdio"}`,
		}, openSession),
	}
}

func conversationRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-conversations", Method: http.MethodGet, Path: "/v1/conversations", Tag: tagConversations,
			Summary:     "List conversations",
			Description: "Returns the caller's conversations. The conversation with the newest message comes first.",
		}, listConversations),
		jsonRoute(Operation{
			ID: "make-conversation", Method: http.MethodPost, Path: "/v1/conversations", Tag: tagConversations,
			Summary:     "Create a channel or a group",
			Description: "You need not create a direct conversation: post to its members directly.",
			Status:      http.StatusCreated,
			Example:     `{"name":"project-x","with":["arya","gendry"],"topic":"The forge"}`,
		}, makeConversation),
		jsonRoute(Operation{
			ID: "show-conversation", Method: http.MethodGet, Path: "/v1/conversations/{conversation}", Tag: tagConversations,
			Summary: "Show a conversation",
		}, showConversation),
		jsonRoute(Operation{
			ID: "change-conversation", Method: http.MethodPatch, Path: "/v1/conversations/{conversation}", Tag: tagConversations,
			Summary: "Rename, describe or archive a conversation",
			Example: `{"topic":"The forge, and what comes out of it"}`,
		}, changeConversation),
		emptyRoute(Operation{
			ID: "delete-conversation", Method: http.MethodDelete, Path: "/v1/conversations/{conversation}", Tag: tagConversations,
			Summary: "Delete a conversation with everything in it",
		}, deleteConversation),
		emptyRoute(Operation{
			ID: "join", Method: http.MethodPost, Path: "/v1/conversations/{conversation}/join", Tag: tagConversations,
			Summary:     "Join a conversation",
			Description: "Anyone may join a public channel. Owners may join any channel or named group.",
		}, join),
		emptyRoute(Operation{
			ID: "leave", Method: http.MethodPost, Path: "/v1/conversations/{conversation}/leave", Tag: tagConversations,
			Summary: "Leave a conversation",
		}, leave),
		emptyRoute(Operation{
			ID: "add-member", Method: http.MethodPut, Path: "/v1/conversations/{conversation}/members/{agent}", Tag: tagConversations,
			Summary:     "Add a member to a conversation",
			Description: "Anyone may add members to a public channel.",
		}, addMember),
		emptyRoute(Operation{
			ID: "remove-member", Method: http.MethodDelete, Path: "/v1/conversations/{conversation}/members/{agent}", Tag: tagConversations,
			Summary:     "Remove a member from a conversation",
			Description: "The creator and owners may remove members.",
		}, removeMember),
		jsonRoute(Operation{
			ID: "list-messages", Method: http.MethodGet, Path: "/v1/conversations/{conversation}/messages", Tag: tagConversations,
			Summary:     "Read a conversation",
			Description: "Returns messages, oldest first: the newest messages, or the messages before or after a seq. Reading consumes nothing.",
		}, listMessages),
		jsonRoute(Operation{
			ID: "read-context", Method: http.MethodGet, Path: "/v1/conversations/{conversation}/context", Tag: tagConversations,
			Summary:     "Read what the caller sees when it is woken",
			Description: "Returns the last messages, as many as the caller's context_messages.",
		}, contextOf),
		emptyRoute(Operation{
			ID: "mark-read", Method: http.MethodPost, Path: "/v1/conversations/{conversation}/read", Tag: tagConversations,
			Summary: "Move the read cursor forward",
			Example: `{"seq":42}`,
		}, markRead),
		streamRoute(Operation{
			ID: "export-conversation", Method: http.MethodGet, Path: "/v1/conversations/{conversation}/export", Tag: tagConversations,
			Summary:     "Export a conversation",
			Description: "Returns JSON lines, the conversation first, or Markdown. A message with `damage` stands for a damaged message; in Markdown, a line that begins with `Damaged: message`.",
			TimeLimit:   longTime, AnswerType: jsonLines,
		}, exportConversation),
	}
}

func agentRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "whoami", Method: http.MethodGet, Path: "/v1/whoami", Tag: tagAgents,
			Summary:     "Show the caller",
			Description: "Returns the participant, the scopes of its credential, and the owner who acts as the participant, if any.",
		}, showCaller),
		jsonRoute(Operation{
			ID: "who", Method: http.MethodGet, Path: "/v1/who", Tag: tagAgents,
			Summary:     "Show what each participant is doing",
			Description: "Returns each participant with its status and the counts of its inbox.",
		}, who),
		jsonRoute(Operation{
			ID: "read-names", Method: http.MethodGet, Path: "/v1/names", Tag: tagAgents,
			Summary:     "Read the names of participants",
			Description: "Returns the name, kind and role of each participant, and leaves out ids that no participant has. The names are in messages anyway, so the call never needs an approval.",
		}, readNames),
		jsonRoute(Operation{
			ID: "list-protocols", Method: http.MethodGet, Path: "/v1/protocols", Tag: tagAgents,
			Summary:     "List supported formats",
			Description: "Returns the formats that the hub supports, and the formats in each agent's profile. The hub uses the highest version that both support.",
		}, protocols),
		jsonRoute(Operation{
			ID: "list-agents", Method: http.MethodGet, Path: "/v1/agents", Tag: tagAgents,
			Summary:     "List the participants",
			Description: "Returns agents, people and the hub itself. Only owners see how an agent is run.",
		}, listAgents),
		jsonRoute(Operation{
			ID: "add-agent", Method: http.MethodPost, Path: "/v1/agents", Tag: tagAgents,
			Summary: "Add an agent or a person",
			Status:  http.StatusCreated,
			Example: `{"id":"arya","name":"Arya","role":"reviewer","description":"Reads what others write"}`,
		}, addAgent),
		jsonRoute(Operation{
			ID: "show-agent", Method: http.MethodGet, Path: "/v1/agents/{agent}", Tag: tagAgents,
			Summary: "Show a participant",
		}, showAgent),
		jsonRoute(Operation{
			ID: "change-agent", Method: http.MethodPatch, Path: "/v1/agents/{agent}", Tag: tagAgents,
			Summary:     "Change a participant",
			Description: "Missing fields stay unchanged. null sets the default.",
			Example:     `{"role":"verifier","tier":"worker","manager":null}`,
		}, changeAgent),
		emptyRoute(Operation{
			ID: "remove-agent", Method: http.MethodDelete, Path: "/v1/agents/{agent}", Tag: tagAgents,
			Summary:     "Remove a participant",
			Description: "The hub removes the participant from its conversations, revokes its tokens and fails its open deliveries. Its names stay reserved.",
		}, removeAgent),
		jsonRoute(Operation{
			ID: "sleep", Method: http.MethodPost, Path: "/v1/agents/{agent}/sleep", Tag: tagAgents,
			Summary:     "Put an agent to sleep",
			Description: "Messages stay pending until the agent wakes. Asks wake it at once.",
			Example:     `{"for":3600}`,
		}, sleep),
		jsonRoute(Operation{
			ID: "wake", Method: http.MethodPost, Path: "/v1/agents/{agent}/wake", Tag: tagAgents,
			Summary: "Wake an agent",
		}, wake),
	}
}
