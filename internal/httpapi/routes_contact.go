package httpapi

import "net/http"

func contactRoutes() []route {
	return []route{
		contactRoute(Operation{
			ID: "contact", Method: http.MethodPost, Path: "/v1/contact", Tag: tagContact,
			Summary: "Ask another participant, delegate to it, or notify it",
			Description: "An ask waits for its answer, by default for 120 seconds. If the time is up, the hub answers 504 E004 with the request. It delivers a " +
				"late answer as a message, also after the caller has disconnected. Delegated work becomes a task; the hub delivers " +
				"the result. A notification wakes nobody.\n\nA caller that loses its connection repeats the call with " +
				"the same idempotency key: it waits for the same answer until the first deadline. With Accept: application/jsonl " +
				"the hub answers a waiting call in two lines: the stored request at once, and the outcome at the end.",
			MaxBody: bodyOfMessage, TimeLimit: contactTime,
			Example: `{"action":"ask","agentId":"arya","message":"Which steel did we use?","context":"It is about the order of May.","wait":60}`,
		}),
		jsonRoute(Operation{
			ID: "await-outcome", Method: http.MethodGet, Path: "/v1/wait/{id}", Tag: tagContact,
			Summary: "Wait for a message's answer, an ask, a task or an approval",
			Description: "The hub answers when the item has ended or when the time is up: done tells which. If the item has failed, error says why. " +
				"The hub does not deliver an answer or result again that it has returned here.",
			TimeLimit: waitTime,
		}, awaitOutcome),
		jsonRoute(Operation{
			ID: "list-asks", Method: http.MethodGet, Path: "/v1/asks", Tag: tagContact,
			Summary: "List asks",
			Description: "Returns the asks that the caller made or received, the newest first. Owners see all. An ask is not a task, and no list of " +
				"tasks shows it. An ask that has become a task is listed once, with that task.",
		}, listAsks),
	}
}

func taskRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-tasks", Method: http.MethodGet, Path: "/v1/tasks", Tag: tagTasks,
			Summary:     "List tasks",
			Description: "Returns the tasks that the caller requested or must do, and their subtasks, the newest first. Owners see all.",
		}, listTasks),
		jsonRoute(Operation{
			ID: "make-task", Method: http.MethodPost, Path: "/v1/tasks", Tag: tagTasks,
			Summary:     "Create a task",
			Description: "The assignee is another participant or the caller. The hub wakes the assignee and delivers the result.",
			Status:      http.StatusCreated, MaxBody: bodyOfMessage,
			Example: `{"title":"Draft the post","text":"Draft a blog post about the forge.","assignee":"arya","priority":"high","depends_on":["task-101"]}`,
		}, makeTask),
		jsonRoute(Operation{
			ID: "show-task", Method: http.MethodGet, Path: "/v1/tasks/{task}", Tag: tagTasks,
			Summary: "Show a task",
		}, showTask),
		jsonRoute(Operation{
			ID: "read-tree", Method: http.MethodGet, Path: "/v1/tasks/{task}/tree", Tag: tagTasks,
			Summary:     "Read a task and its subtasks",
			Description: "Returns each task after its parent, in the order of their numbers.",
		}, taskTree),
		jsonRoute(Operation{
			ID: "update-task", Method: http.MethodPatch, Path: "/v1/tasks/{task}", Tag: tagTasks,
			Summary:     "Report the progress or the end of a task",
			Description: "With a status the task ends, and the requester gets the result.",
			MaxBody:     bodyOfMessage,
			Example:     `{"progress":{"fraction":0.5,"message":"half of it is written"}}`,
		}, updateTask),
		jsonRoute(Operation{
			ID: "cancel-task", Method: http.MethodPost, Path: "/v1/tasks/{task}/cancel", Tag: tagTasks,
			Summary:     "Cancel a task",
			Description: "The hub also cancels the subtasks and ends their runs.",
			Example:     `{"reason":"nobody needs it any more"}`,
		}, cancelTask),
		jsonRoute(Operation{
			ID: "retry-task", Method: http.MethodPost, Path: "/v1/tasks/{task}/retry", Tag: tagTasks,
			Summary:     "Retry a task",
			Description: "The task must have failed or been cancelled.",
		}, retryTask),
		jsonRoute(Operation{
			ID: "reassign-task", Method: http.MethodPost, Path: "/v1/tasks/{task}/reassign", Tag: tagTasks,
			Summary: "Reassign a task",
			Example: `{"assignee":"gendry"}`,
		}, reassignTask),
	}
}
