package httpapi

import "net/http"

func contactRoutes() []route {
	return []route{
		contactRoute(Operation{
			ID: "contact", Method: http.MethodPost, Path: "/v1/contact", Tag: tagContact,
			Summary: "Ask another participant, delegate to it, or notify it",
			Description: "An ask waits for its answer, for 120 seconds where nothing is said; one that comes later, or after the " +
				"caller has gone, is delivered as a message (504 E004 then, with what was sent). What is delegated becomes a task; its " +
				"result comes by itself. A notification wakes nobody.\n\nA caller that loses its connection makes the same call again with " +
				"the same idempotency key: it then waits for the same answer, and the first deadline stands. With Accept: application/jsonl " +
				"the hub answers a call that waits in two lines: the stored request at once, and the outcome at the end.",
			Body: bodyOfMessage, Time: contactTime,
			Example: `{"action":"ask","agentId":"arya","message":"Which steel did we use?","context":"It is about the order of May.","wait":60}`,
		}),
		answers(Operation{
			ID: "await-outcome", Method: http.MethodGet, Path: "/v1/wait/{id}", Tag: tagContact,
			Summary: "Wait for a message's answer, an ask, a task or an approval",
			Description: "Answers when it has ended, or when the time is up: done says which. If it has failed, error says why. " +
				"The hub does not deliver a late answer or result again that it has returned here.",
			Time: waitTime,
		}, awaitOutcome),
		answers(Operation{
			ID: "list-asks", Method: http.MethodGet, Path: "/v1/asks", Tag: tagContact,
			Summary: "List asks",
			Description: "The asks that the caller made or was asked, the newest first; owners see all. A plain ask is not a task, and no list of " +
				"tasks shows it. An ask that has become a task is here once, with that task.",
		}, listAsks),
	}
}

func taskRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-tasks", Method: http.MethodGet, Path: "/v1/tasks", Tag: tagTasks,
			Summary:     "List tasks",
			Description: "The newest first: those the caller has asked for or is to do, and what is under them; for owners all.",
		}, listTasks),
		answers(Operation{
			ID: "make-task", Method: http.MethodPost, Path: "/v1/tasks", Tag: tagTasks,
			Summary:     "Ask for a piece of work",
			Description: "Of somebody else, or of oneself. Its assignee is woken; its result comes by itself.",
			Status:      http.StatusCreated, Body: bodyOfMessage,
			Example: `{"title":"Draft the post","text":"Draft a blog post about the forge.","assignee":"arya","priority":"high","depends_on":["task-101"]}`,
		}, makeTask),
		answers(Operation{
			ID: "show-task", Method: http.MethodGet, Path: "/v1/tasks/{task}", Tag: tagTasks,
			Summary: "Show a task",
		}, showTask),
		answers(Operation{
			ID: "read-tree", Method: http.MethodGet, Path: "/v1/tasks/{task}/tree", Tag: tagTasks,
			Summary:     "A task and everything under it",
			Description: "Each after its parent, by their numbers.",
		}, taskTree),
		answers(Operation{
			ID: "update-task", Method: http.MethodPatch, Path: "/v1/tasks/{task}", Tag: tagTasks,
			Summary:     "Say how a task goes, or that it has ended",
			Description: "With a status it ends, and its requester gets the result.",
			Body:        bodyOfMessage,
			Example:     `{"progress":{"fraction":0.5,"message":"half of it is written"}}`,
		}, updateTask),
		answers(Operation{
			ID: "cancel-task", Method: http.MethodPost, Path: "/v1/tasks/{task}/cancel", Tag: tagTasks,
			Summary:     "Cancel a task",
			Description: "And everything under it; what runs for it is ended.",
			Example:     `{"reason":"nobody needs it any more"}`,
		}, cancelTask),
		answers(Operation{
			ID: "retry-task", Method: http.MethodPost, Path: "/v1/tasks/{task}/retry", Tag: tagTasks,
			Summary:     "Try a task again",
			Description: "One that has failed or was cancelled.",
		}, retryTask),
		answers(Operation{
			ID: "reassign-task", Method: http.MethodPost, Path: "/v1/tasks/{task}/reassign", Tag: tagTasks,
			Summary: "Give a task to somebody else",
			Example: `{"assignee":"gendry"}`,
		}, reassignTask),
	}
}
