package cli

import "testing"

// shownTask is a task with everything a task may have.
const shownTask = `{
	"id": "task-101", "parent": "task-100", "root": "task-100", "depth": 1, "title": "Draft blog post", "requester": "coordinator",
	"original_requester": "user", "assignee": "writer", "delegation_reason": "It writes best", "source": "agent_delegation", "priority": "high",
	"deadline": "2030-01-02T12:00:00Z", "depends_on": ["task-99"], "message": "m1", "trace_id": "t1", "status": "active", "attempt": 2,
	"progress": {"fraction": 0.5, "message": "Half of it", "confidence": 0.8, "blockers": ["no key"], "at": "2030-01-02T10:30:00Z"},
	"result": {"text": "A draft.", "deliverables": ["q4.md"], "metrics": {"words": 500, "pages": 1.5}, "issues": ["no figures"], "next_steps": ["ask"]},
	"error": {"code": "E005", "message": "the disk is full", "recoverable": true},
	"created_at": "2030-01-02T10:00:00Z", "updated_at": "2030-01-02T10:30:00Z", "started_at": "2030-01-02T10:01:00Z",
	"callback": "m9", "waits_on": {"subtasks": ["task-102"], "approval": "a1", "approval_number": 7, "after": ["task-99"]}, "subtasks": ["task-102", "task-103"],
	"input_tokens": 10, "output_tokens": 20, "cost": 0.25, "elapsed": 1800
}`

func TestATaskIsShown(t *testing.T) {
	runSessions(t, "GET /v1/tasks/task-101", []session{{
		name: "with everything", args: []string{"task", "show", "task-101"}, answer: shownTask, asks: "GET /v1/tasks/task-101",
		out: `task                task-101
title               Draft blog post
status              active
assignee            writer
requester           coordinator
original requester  user
reason              It writes best
parent              task-100
subtasks            task-102, task-103
priority            high
deadline            2030-01-02T12:00:00Z
depends on          task-99
waits for           task-99, task-102, approval-7
progress            50 %: Half of it, 2030-01-02T10:30:00Z
blocked by          no key
confidence          80 %
message             m1
source              agent_delegation
trace               t1
attempt             2
requested           2030-01-02T10:00:00Z
started             2030-01-02T10:01:00Z
took                30m0s
tokens              10 in, 20 out
cost                $0.25
callback            m9
error               E005: the disk is full
deliverables        q4.md
metrics             pages 1.5, words 500
issues              no figures
next steps          ask

written by writer:
| A draft.
`,
	}})
}

func TestTasksAreListed(t *testing.T) {
	page := `{"items":[` + shownTask + `,{"id":"task-9","title":"Idle","assignee":"data","requester":"user","status":"queued","priority":"normal","elapsed":5}]}`
	runSessions(t, "GET /v1/tasks", []session{
		{
			name: "open ones", args: []string{"task", "list"}, answer: page, asks: "GET /v1/tasks?limit=51&open=true",
			out: `TASK      TITLE            ASSIGNEE  STATUS  REQUESTER    PARENT    DUE                   TOOK   COST   ABOUT
task-101  Draft blog post  writer    active  coordinator  task-100  2030-01-02T12:00:00Z  30m0s  $0.25  the disk is full; waits for task-99, task-102, approval-7
task-9    Idle             data      queued  user                                         5s
`,
		},
		{
			name: "the first of them", args: []string{"task", "list", "--limit", "1"}, asks: "GET /v1/tasks?limit=2&open=true",
			answer: `{"items":[{"id":"task-9","status":"active"},{"id":"task-8","status":"active"}]}`,
			err:    "note: there are more tasks; list them with a higher --limit\n",
			out:    "TASK    TITLE  ASSIGNEE  STATUS  REQUESTER  PARENT  DUE  TOOK  COST  ABOUT\ntask-9                   active                          0s\n",
		},
		{
			name: "some", args: []string{"task", "list", "--status", "failed,cancelled", "--assignee", "data", "--roots", "--limit", "3"}, answer: `{"items":[]}`,
			asks: "GET /v1/tasks?assignee=data&limit=4&roots=true&status=failed%2Ccancelled", err: "none\n",
		},
		{
			name: "those that are stuck", args: []string{"task", "list", "--stuck", "-o", "jsonl"}, answer: `{"items":[{"id":"task-9","status":"active"}]}`,
			asks: "GET /v1/tasks?limit=51&open=true",
		},
	})
}

const changedTask = `{"id":"task-101","status":"completed","assignee":"writer"}`

func TestTasksAreChanged(t *testing.T) {
	done := "completed  task-101  writer\n"
	runSessions(t, "PATCH /v1/tasks/task-101", []session{
		{
			name: "progress", args: []string{"task", "progress", "task-101", "Half of it", "--fraction", "0.5", "--current", "1", "--total", "2", "--confidence", "1", "--blocked", "no key"},
			answer: changedTask, out: done,
			asks: `PATCH /v1/tasks/task-101 {"progress":{"fraction":0.5,"current":1,"total":2,"message":"Half of it","confidence":1,"blockers":["no key"]}}`,
		},
		{
			name: "a share that is none", args: []string{"task", "progress", "task-101", "--fraction", "50"}, code: exitUsage,
			err: "parley: invalid argument \"50\" for \"--fraction\" flag: write a number from 0 to 1 (see parley task progress --help)\n",
		},
		{
			name: "a count that is none", args: []string{"task", "progress", "task-101", "--total", "-1"}, code: exitUsage,
			err: "parley: invalid argument \"-1\" for \"--total\" flag: write a whole number of 0 or more (see parley task progress --help)\n",
		},
		{
			name: "a result", args: []string{"task", "complete", "task-101", "-", "--partial", "--deliverable", "q4.md", "--metric", "pages=1.5", "--issue", "i", "--next", "n"},
			stdin: "A draft.\n", answer: changedTask, out: done,
			asks: `PATCH /v1/tasks/task-101 {"status":"completed","outcome":"partial","result":{"text":"A draft.","deliverables":["q4.md"],"metrics":{"pages":1.5},"issues":["i"],"next_steps":["n"]}}`,
		},
		{
			name: "a measure that is none", args: []string{"task", "complete", "task-101", "--metric", "pages"}, code: exitUsage,
			err: "parley: --metric: write a name and a number, such as pages=12 (see parley task complete --help)\n",
		},
		{
			name: "nothing", args: []string{"task", "progress", "task-101", ""}, code: exitUsage,
			err: "parley: the text is empty (see parley task progress --help)\n",
		},
		{
			name: "a result that was not made", args: []string{"task", "complete", "task-101", "-"}, stdin: "\n", code: exitUsage,
			err: "parley: the text is empty (see parley task complete --help)\n",
		},
		{
			name: "no reason", args: []string{"task", "fail", "task-101", " "}, code: exitUsage,
			err: "parley: the text is empty (see parley task fail --help)\n",
		},
		{
			name: "a failure", args: []string{"task", "fail", "task-101", "The archive is gone"}, answer: changedTask, out: done,
			asks: `PATCH /v1/tasks/task-101 {"status":"failed","reason":"The archive is gone"}`,
		},
	})
	runSessions(t, "POST /v1/tasks/task-101/cancel", []session{{
		name: "cancelled", args: []string{"task", "cancel", "task-101", "--reason", "it is off"}, answer: changedTask, out: done,
		asks: `POST /v1/tasks/task-101/cancel {"reason":"it is off"}`,
	}})
	runSessions(t, "POST /v1/tasks/task-101/retry", []session{{
		name: "tried again", args: []string{"task", "retry", "task-101"}, answer: changedTask, out: done, asks: `POST /v1/tasks/task-101/retry`,
	}})
	runSessions(t, "POST /v1/tasks/task-101/reassign", []session{{
		name: "given to another", args: []string{"task", "reassign", "task-101", "data"}, answer: changedTask, out: done,
		asks: `POST /v1/tasks/task-101/reassign {"assignee":"data"}`,
	}})
	runSessions(t, "POST /v1/tasks", []session{{
		name: "for nobody", args: []string{"task", "new", "Prepare it", "--assignee", ""}, code: exitUsage,
		err: "parley: --assignee is empty (see parley task new --help)\n",
	}, {
		name: "new", args: []string{"task", "new", "Prepare it", "--assignee", "data", "--title", "It", "--parent", "task-1", "--reason", "r", "--priority", "low", "--after", "task-2", "--key", "k"},
		answer: changedTask, out: done,
		asks: `POST /v1/tasks {"title":"It","text":"Prepare it","assignee":"data","parent":"task-1","priority":"low","depends_on":["task-2"],"delegation_reason":"r","idempotency_key":"k"}`,
	}})
}
