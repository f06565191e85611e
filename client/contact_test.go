package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// contactHub answers each call in turn; one that is empty breaks off.
func contactHub(calls *[]seen, answers ...string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		*calls = append(*calls, seen{r.Method + " " + r.URL.Path, string(body), r.Header})
		answer := answers[min(len(*calls), len(answers))-1]
		switch {
		case answer == "":
			return nil, io.ErrUnexpectedEOF
		case answer == "down":
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		case strings.HasPrefix(answer, `{"code"`):
			return answered(http.StatusServiceUnavailable, "application/problem+json", strings.NewReader(answer)), nil
		default:
			return answered(http.StatusOK, "application/jsonl", strings.NewReader(answer)), nil
		}
	}
}

const (
	waitingLine  = `{"waiting":{"outcome":"waiting","agent":"arya","message":"m"},"wait":300}` + "\n"
	answeredLine = `{"contacted":{"text":"Response from Arya: yes","outcome":"answered","message":"m","duplicate":true}}` + "\n"
	stoppingLine = `{"problem":{"code":"E002","reason":"stopping","detail":"the hub is stopping","contacted":{"message":"m"}}}` + "\n"
)

// TestAContactOutlivesItsConnection: the same call, with the same key, is made again until its hub is back.
func TestAContactOutlivesItsConnection(t *testing.T) {
	ask := parley.Contact{Pattern: parley.PatternAsk, Agent: "arya", Message: "Done?"}
	for name, answers := range map[string][]string{
		"it breaks off":                {"", waitingLine + answeredLine},
		"it breaks off while it waits": {waitingLine, "down", "down", waitingLine + answeredLine},
		"the hub stops":                {waitingLine + stoppingLine, "down", waitingLine + answeredLine},
		"it stops before it has begun": {`{"code":"E002","reason":"stopping","detail":"the hub is stopping"}`, waitingLine + answeredLine},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls []seen
				var made []string
				away := 0
				told, err := over(t, contactHub(&calls, answers...)).ContactWith(t.Context(), ask, ContactOptions{
					OnStored:      func(c parley.Contacted) { made = append(made, c.Message) },
					OnUnreachable: func(error) { away++ },
				})
				if err != nil || told.Text != "Response from Arya: yes" || told.Duplicate {
					t.Errorf("it comes to %+v, %v", told, err)
				}
				if len(calls) != len(answers) || away != len(answers)-1 || !slices.Equal(made, []string{"m"}) {
					t.Errorf("%d calls, away %d times, made %v", len(calls), away, made)
				}
				for _, c := range calls {
					if key := c.header.Get("Idempotency-Key"); key == "" || key != calls[0].header.Get("Idempotency-Key") || c.body != calls[0].body {
						t.Errorf("the calls are %+v", calls)
					}
				}
			})
		})
	}
}

// TestAContactIsNotRepeatedForEver: not for a hub that was never there, not after its time, and not where it has failed.
func TestAContactIsNotRepeatedForEver(t *testing.T) {
	ask := parley.Contact{Pattern: parley.PatternAsk, Agent: "arya", Message: "Done?", IdempotencyKey: "mine"}
	work := parley.Contact{Pattern: parley.PatternDelegate, Agent: "arya", Message: "Do it", Wait: time.Minute}
	note := parley.Contact{Pattern: parley.PatternNotify, Agent: "arya", Message: "It is done"}
	for name, test := range map[string]struct {
		contact parley.Contact
		answers []string
		code    parley.Code
		lasts   time.Duration
	}{
		"no hub":                       {ask, []string{"down"}, parley.Unavailable, 0},
		"a hub that stays away":        {ask, []string{waitingLine, "down"}, parley.TimedOut, 5 * time.Minute},
		"a hub that has said nothing":  {ask, []string{"", "down"}, parley.TimedOut, parley.AskWait},
		"work":                         {work, []string{"", "down"}, parley.TimedOut, time.Minute},
		"who is offline":               {ask, []string{`{"code":"E002","detail":"Error: Arya is offline"}`}, parley.Unavailable, 0},
		"who was removed meanwhile":    {ask, []string{waitingLine + `{"problem":{"code":"E002","detail":"Error: Arya failed to respond: removed"}}`}, parley.Unavailable, 0},
		"a notification that is lost":  {note, []string{""}, parley.Unavailable, 0},
		"what is not written by a hub": {ask, []string{"<html>"}, parley.DependencyFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls []seen
				began := time.Now()
				_, err := over(t, contactHub(&calls, test.answers...)).Contact(t.Context(), test.contact)
				if lasted := time.Since(began); parley.CodeOf(err) != test.code || lasted != test.lasts {
					t.Errorf("it ends with %v after %s, want %s after %s", err, lasted, test.code, test.lasts)
				}
			})
		})
	}
}

// TestWireOfContacts is TestWire for contacts, tasks, approvals and rules.
func TestWireOfContacts(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	half := 0.5
	page := PageRequest{Cursor: "c1", Limit: 5}
	checkWire(t, []wired{
		{
			"ask", func(ctx context.Context, c *Client) (any, error) {
				return c.Contact(ctx, parley.Contact{Pattern: parley.PatternAsk, Agent: "arya", Message: "Done?", Context: "the forge", Wait: time.Minute})
			},
			"POST /v1/contact", `{"action":"ask","agent":"arya","message":"Done?","context":"the forge","wait":60}`,
			`{"text":"Response from Arya: yes","outcome":"answered","agent":"arya","conversation":"d","message":"m","answer":"n"}`,
			parley.Contacted{Text: "Response from Arya: yes", Outcome: parley.ContactAnswered, Agent: "arya", Conversation: "d", Message: "m", Answer: "n"},
		},
		{
			"delegate", func(ctx context.Context, c *Client) (any, error) {
				return c.Contact(ctx, parley.Contact{
					Pattern: parley.PatternDelegate, Agent: "arya", Message: "Do it", Priority: high, Deadline: &at, After: []string{"task-1"}, IdempotencyKey: "k",
				})
			},
			"POST /v1/contact",
			`{"action":"delegate","agent":"arya","message":"Do it","priority":"high","deadline":"2030-01-02T03:04:05Z","after":["task-1"],"idempotency_key":"k"}`,
			`{"text":"Delegated","outcome":"delegated","task":"task-2","duplicate":true}`,
			parley.Contacted{Text: "Delegated", Outcome: parley.ContactDelegated, Task: "task-2", Duplicate: true},
		},
		{
			"wait", func(ctx context.Context, c *Client) (any, error) { return c.Wait(ctx, "task-1", time.Hour) },
			"GET /v1/wait/task-1?wait=50", "", `{"id":"task-1","kind":"task","state":"completed","done":true,"text":"Response from Arya: yes"}`,
			parley.Awaited{ID: "task-1", Kind: parley.AwaitedTask, State: "completed", Done: true, Text: "Response from Arya: yes"},
		},
		{
			"asks", func(ctx context.Context, c *Client) (any, error) { return c.Asks(ctx, AsksOptions{Open: true}, page) },
			"GET /v1/asks?cursor=c1&limit=5&open=true", "",
			`{"items":[{"message":"m1","from":"arya","question":"why?","state":"late","task":"task-1"}],"next":"c2"}`,
			Page[parley.AskView]{Items: []parley.AskView{{
				Message: "m1", From: "arya", Question: "why?", AskState: parley.AskState{State: parley.WaitLate, Task: "task-1"},
			}}, Next: "c2"},
		},
		{
			"tasks", func(ctx context.Context, c *Client) (any, error) {
				return c.Tasks(ctx, TasksOptions{
					Assignee: "arya", Requester: "user", Status: []parley.TaskState{parley.TaskQueued, parley.TaskActive}, Open: true, Roots: true,
				}, page)
			},
			"GET /v1/tasks?assignee=arya&cursor=c1&limit=5&open=true&requester=user&roots=true&status=queued%2Cactive", "",
			`{"items":[{"id":"task-1","elapsed":1.5,"cost":2,"waits_on":{"subtasks":["task-2"]}}],"next":"c2"}`,
			Page[parley.TaskView]{Items: []parley.TaskView{{
				Task: parley.Task{ID: "task-1"}, Elapsed: 1500 * time.Millisecond, Usage: parley.Usage{Cost: 2},
				WaitsOn: parley.WaitsOn{Subtasks: []string{"task-2"}},
			}}, Next: "c2"},
		},
		{
			"new task", func(ctx context.Context, c *Client) (any, error) {
				return c.NewTask(ctx, parley.NewTask{Title: "Post", Text: "Write it", Assignee: "arya", IdempotencyKey: "k"})
			},
			"POST /v1/tasks", `{"title":"Post","text":"Write it","assignee":"arya","idempotency_key":"k"}`, `{"id":"task-1"}`,
			parley.TaskView{Task: parley.Task{ID: "task-1"}},
		},
		{
			"a task", func(ctx context.Context, c *Client) (any, error) { return c.Task(ctx, "task-1") },
			"GET /v1/tasks/task-1", "", `{"id":"task-1","status":"active","elapsed":60}`,
			parley.TaskView{Task: parley.Task{ID: "task-1", Status: parley.TaskActive}, Elapsed: time.Minute},
		},
		{
			"tree", func(ctx context.Context, c *Client) (any, error) { return c.TaskTree(ctx, "task-1") },
			"GET /v1/tasks/task-1/tree", "", `{"items":[{"id":"task-1"},{"id":"task-2","parent":"task-1"}]}`,
			[]parley.TaskView{{Task: parley.Task{ID: "task-1"}}, {Task: parley.Task{ID: "task-2", Parent: "task-1"}}},
		},
		{
			"progress", func(ctx context.Context, c *Client) (any, error) {
				return c.UpdateTask(ctx, "task-1", parley.TaskChange{Progress: &parley.TaskProgress{Fraction: &half, Blockers: []string{"steel"}, At: at}})
			},
			"PATCH /v1/tasks/task-1", `{"progress":{"fraction":0.5,"blockers":["steel"]}}`, `{"id":"task-1"}`,
			parley.TaskView{Task: parley.Task{ID: "task-1"}},
		},
		{
			"complete", func(ctx context.Context, c *Client) (any, error) {
				return c.UpdateTask(ctx, "task-1", parley.TaskChange{
					Status: parley.TaskCompleted, Outcome: parley.OutcomePartial, Result: &parley.TaskResult{Text: "half"},
				})
			},
			"PATCH /v1/tasks/task-1", `{"status":"completed","outcome":"partial","result":{"text":"half"}}`, `{"id":"task-1"}`,
			parley.TaskView{Task: parley.Task{ID: "task-1"}},
		},
		{
			"cancel a task", func(ctx context.Context, c *Client) (any, error) { return c.CancelTask(ctx, "task-1", "enough") },
			"POST /v1/tasks/task-1/cancel", `{"reason":"enough"}`, `{"id":"task-1"}`,
			parley.TaskView{Task: parley.Task{ID: "task-1"}},
		},
		{
			"retry a task", func(ctx context.Context, c *Client) (any, error) { return c.RetryTask(ctx, "task-1") },
			"POST /v1/tasks/task-1/retry", "", `{"id":"task-1"}`,
			parley.TaskView{Task: parley.Task{ID: "task-1"}},
		},
		{
			"reassign", func(ctx context.Context, c *Client) (any, error) { return c.ReassignTask(ctx, "task-1", "gendry") },
			"POST /v1/tasks/task-1/reassign", `{"assignee":"gendry"}`, `{"id":"task-1"}`,
			parley.TaskView{Task: parley.Task{ID: "task-1"}},
		},
		{
			"approvals", func(ctx context.Context, c *Client) (any, error) {
				return c.Approvals(ctx, ApprovalsOptions{State: parley.ApprovalPending, Agent: "arya", Mine: true}, page)
			},
			"GET /v1/approvals?agent=arya&cursor=c1&limit=5&mine=true&state=pending", "", `{"items":[{"id":"a"}],"next":"c2"}`,
			Page[parley.Approval]{Items: []parley.Approval{{ID: "a"}}, Next: "c2"},
		},
		{
			"an approval", func(ctx context.Context, c *Client) (any, error) { return c.Approval(ctx, "a") },
			"GET /v1/approvals/a", "", `{"id":"a","call":{"tool":"contact_agent","args":{"agent":"arya"}}}`,
			parley.Approval{ID: "a", Call: parley.HeldCall{Tool: "contact_agent", Args: []byte(`{"agent":"arya"}`)}},
		},
		{
			"deny", func(ctx context.Context, c *Client) (any, error) {
				return c.Decide(ctx, "a", parley.Decision{Note: "not now"})
			},
			"POST /v1/approvals/a/decide", `{"approve":false,"note":"not now"}`, `{"id":"a","state":"denied"}`,
			parley.Approval{ID: "a", State: parley.ApprovalDenied},
		},
		{
			"rules", func(ctx context.Context, c *Client) (any, error) { return c.Permissions(ctx, "arya") },
			"GET /v1/permissions?agent=arya", "", `{"items":[{"agent":"arya","target":"*","effect":"deny"}]}`,
			[]parley.Permission{{Agent: "arya", Target: parley.Anyone, Effect: parley.EffectDeny}},
		},
		{
			"permit", func(ctx context.Context, c *Client) (any, error) {
				return c.Permit(ctx, parley.Permission{Agent: "arya", Target: "gendry", Effect: parley.EffectAllow, RequiresApproval: true, CreatedBy: "me", CreatedAt: at})
			},
			"PUT /v1/permissions", `{"agent":"arya","target":"gendry","effect":"allow","requires_approval":true}`, `{"agent":"arya"}`,
			parley.Permission{Agent: "arya"},
		},
		{
			"unpermit", func(ctx context.Context, c *Client) (any, error) {
				return nil, c.Unpermit(ctx, "arya", parley.Anyone, parley.EffectDeny)
			},
			"DELETE /v1/permissions?agent=arya&effect=deny&target=%2A", "", "", nil,
		},
		{
			"check a rule", func(ctx context.Context, c *Client) (any, error) { return c.CheckPermission(ctx, "arya", "gendry") },
			"GET /v1/permissions/check?from=arya&to=gendry", "", `{"allowed":true,"rule":"nothing forbids it","checks":[]}`,
			parley.Verdict{Allowed: true, Rule: "nothing forbids it", Checks: []parley.RuleCheck{}},
		},
	})
}

// TestHeldCallsAreNoFailures: whatever is called, 202 says what it waits for.
func TestHeldCallsAreNoFailures(t *testing.T) {
	hub := &fake{status: http.StatusAccepted, answer: `{"text":"` + parley.HeldText + `","approval":{"id":"a","state":"pending","agent":"arya"}}`}
	c := to(t, hub, Options{})
	calls := map[string]func() error{
		"contact": func() error {
			_, err := c.Contact(t.Context(), parley.Contact{Pattern: parley.PatternAsk})
			return err
		},
		"post": func() error {
			_, err := c.Post(t.Context(), parley.Draft{})
			return err
		},
		"search": func() error {
			_, err := c.Search(t.Context(), "x", PageRequest{})
			return err
		},
		"nothing to answer": func() error { return c.Join(t.Context(), "forge") },
		"export":            func() error { return c.Export(t.Context(), "forge", "jsonl", &strings.Builder{}) },
	}
	for name, call := range calls {
		held, ok := errors.AsType[*parley.Held](call())
		if !ok || held.Approval.ID != "a" || held.Approval.State != parley.ApprovalPending {
			t.Errorf("%s: %+v", name, held)
		}
	}
	hub.answer = `{}`
	if err := calls["post"](); parley.CodeOf(err) != parley.DependencyFailed {
		t.Errorf("202 without an approval: %v", err)
	}
}

// TestLateAsksReturnTheirRequest: the time was up, and the caller learns where the answer will stand.
func TestLateAsksReturnTheirRequest(t *testing.T) {
	const sentence = "Arya did not respond within 1 seconds."
	hub := &fake{
		status: http.StatusGatewayTimeout, kind: "application/problem+json",
		answer: `{"detail":"` + sentence + `","code":"E004","recoverable":true,"contacted":{"outcome":"late","agent":"arya","conversation":"d","message":"m"}}`,
	}
	got, err := to(t, hub, Options{}).Contact(t.Context(), parley.Contact{Pattern: parley.PatternAsk, Agent: "arya", Wait: time.Second})
	if e, ok := err.(*parley.Error); !ok || e.Code != parley.TimedOut || e.Message != sentence { //nolint:errorlint // it is returned bare
		t.Errorf("the error is %v", err)
	}
	if want := (parley.Contacted{Outcome: parley.ContactLate, Agent: "arya", Conversation: "d", Message: "m"}); !reflect.DeepEqual(got, want) {
		t.Errorf("contacted %+v, want %+v", got, want)
	}
}

func TestContactsThatJSONWouldChangeAreRefused(t *testing.T) {
	hub := &fake{status: http.StatusOK, answer: `{}`}
	_, err := to(t, hub, Options{}).Contact(t.Context(), parley.Contact{Pattern: parley.PatternNotify, Agent: "arya", Message: "\xff"})
	if parley.CodeOf(err) != parley.BadInput || hub.last.line != "" {
		t.Errorf("sent %q, %v", hub.last.line, err)
	}
}
