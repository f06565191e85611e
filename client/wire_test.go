package client

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// TestWire shows, for each method, the request it makes and that it reads the answer.
func TestWire(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	topic, archived := "news", true
	page := PageRequest{Cursor: "c1", Limit: 5}
	checkWire(t, []wired{
		{
			"whoami", func(ctx context.Context, c *Client) (any, error) { return c.Whoami(ctx) },
			"GET /v1/whoami", "",
			`{"agent":{"id":"user","kind":"human"},"scopes":["read"],"by":"sam"}`,
			Identity{Agent: parley.Agent{ID: "user", Kind: "human"}, Scopes: parley.Scopes{"read"}, By: "sam"},
		},
		{
			"status", func(ctx context.Context, c *Client) (any, error) { return c.Status(ctx) },
			"GET /v1/status", "", `{"version":"1","messages":7,"alerts":[]}`,
			parley.HubStatus{Version: "1", Totals: parley.Totals{Messages: 7}, Alerts: []parley.Alert{}},
		},
		{
			"who", func(ctx context.Context, c *Client) (any, error) { return c.Who(ctx) },
			"GET /v1/who", "", `{"items":[{"id":"arya","status":"idle"}]}`,
			[]parley.Presence{{ID: "arya", Status: "idle"}},
		},
		{
			"protocols", func(ctx context.Context, c *Client) (any, error) { return c.Protocols(ctx) },
			"GET /v1/protocols", "", `{"protocols":[{"name":"routing","version":"1.0.0"}],"agents":[]}`,
			parley.Spoken{Protocols: []parley.Protocol{{Name: "routing", Version: "1.0.0"}}, Agents: []parley.Speaker{}},
		},
		{
			"agents", func(ctx context.Context, c *Client) (any, error) { return c.Agents(ctx) },
			"GET /v1/agents", "", `{"items":[{"id":"arya"}]}`,
			[]parley.Agent{{ID: "arya"}},
		},
		{
			"an agent with a strange name", func(ctx context.Context, c *Client) (any, error) { return c.Agent(ctx, "a/b ?ü") },
			"GET /v1/agents/a%2Fb%20%3F%C3%BC", "", `{"id":"arya","status":"offline","reason":"away"}`,
			parley.AgentView{Agent: parley.Agent{ID: "arya"}, Status: "offline", Reason: "away"},
		},
		{
			"change an agent", func(ctx context.Context, c *Client) (any, error) {
				return c.ChangeAgent(ctx, "arya", AgentChange{"role": "editor", "manager": nil})
			},
			"PATCH /v1/agents/arya", `{"manager":null,"role":"editor"}`, `{"id":"arya"}`,
			parley.Agent{ID: "arya"},
		},
		{
			"remove an agent", func(ctx context.Context, c *Client) (any, error) { return nil, c.RemoveAgent(ctx, "arya") },
			"DELETE /v1/agents/arya", "", "", nil,
		},
		{
			"sleep", func(ctx context.Context, c *Client) (any, error) { return c.Sleep(ctx, "arya", at) },
			"POST /v1/agents/arya/sleep", `{"until":"2030-01-02T03:04:05Z"}`, `{"id":"arya"}`,
			parley.Agent{ID: "arya"},
		},
		{
			"runs", func(ctx context.Context, c *Client) (any, error) {
				return c.Runs(ctx, RunsOptions{Agent: "arya", Conversation: "forge", Live: true}, page)
			},
			"GET /v1/runs?agent=arya&conversation=forge&cursor=c1&limit=5&live=true", "", `{"items":[{"id":"r","state":"running"}],"next":"c2"}`,
			Page[parley.Run]{Items: []parley.Run{{ID: "r", State: parley.RunRunning}}, Next: "c2"},
		},
		{
			"a run", func(ctx context.Context, c *Client) (any, error) { return c.Run(ctx, "r") },
			"GET /v1/runs/r", "", `{"id":"r","input_tokens":7,"posts":["m"]}`,
			parley.RunView{Run: parley.Run{ID: "r", Usage: parley.Usage{InputTokens: 7}}, Posts: []string{"m"}},
		},
		{
			"output", func(ctx context.Context, c *Client) (any, error) {
				var b strings.Builder
				err := c.RunOutput(ctx, "r", &b)
				return b.String(), err
			},
			"GET /v1/runs/r/output", "", "thinking\n", "thinking\n",
		},
		{
			"cancel", func(ctx context.Context, c *Client) (any, error) { return c.CancelRun(ctx, "r", "enough") },
			"POST /v1/runs/r/cancel", `{"reason":"enough"}`, `{"id":"r","cancel":"enough"}`,
			parley.Run{ID: "r", Cancel: "enough"},
		},
		{
			"command", func(ctx context.Context, c *Client) (any, error) {
				return c.Command(ctx, "arya", parley.Command{Action: parley.ActionPause, Parameters: parley.CommandParameters{TimeoutMS: 5}})
			},
			"POST /v1/agents/arya/commands", `{"action":"pause","parameters":{"timeout_ms":5}}`, `{"message":{"id":"m"}}`,
			parley.Receipt{Message: parley.Message{ID: "m"}},
		},
		{
			"health", func(ctx context.Context, c *Client) (any, error) {
				return c.ReportHealth(ctx, "arya", parley.Health{Health: "healthy", Metrics: []byte(`{"cpu":1}`), At: at})
			},
			"PUT /v1/agents/arya/health", `{"health":"healthy","metrics":{"cpu":1}}`, `{"health":"healthy","at":"2030-01-02T03:04:05Z"}`,
			parley.Health{Health: "healthy", At: at},
		},
		{
			"resume a pair", func(ctx context.Context, c *Client) (any, error) { return c.ResumePair(ctx, "arya", "gendry") },
			"POST /v1/agents/arya/resume-pair", `{"with":"gendry"}`, `{"resumed":true}`, true,
		},
		{
			"wake", func(ctx context.Context, c *Client) (any, error) { return c.Wake(ctx, "arya") },
			"POST /v1/agents/arya/wake", "", `{"id":"arya"}`,
			parley.Agent{ID: "arya"},
		},
		{
			"conversations", func(ctx context.Context, c *Client) (any, error) {
				return c.Conversations(ctx, ConversationsOptions{All: true, Archived: true, Ephemeral: true}, PageRequest{})
			},
			"GET /v1/conversations?all=true&archived=true&ephemeral=true", "", `{"items":[]}`,
			Page[parley.ConversationView]{Items: []parley.ConversationView{}},
		},
		{
			"make a conversation", func(ctx context.Context, c *Client) (any, error) {
				return c.CreateConversation(ctx, parley.NewConversation{Name: "x", With: []string{"arya"}, Private: true})
			},
			"POST /v1/conversations", `{"name":"x","with":["arya"],"private":true}`, `{"id":"1","unread":3}`,
			parley.ConversationView{Conversation: parley.Conversation{ID: "1"}, Unread: 3},
		},
		{
			"a conversation by its #name", func(ctx context.Context, c *Client) (any, error) { return c.Conversation(ctx, "#x") },
			"GET /v1/conversations/%23x", "", `{"id":"1"}`,
			parley.ConversationView{Conversation: parley.Conversation{ID: "1"}},
		},
		{
			"change a conversation", func(ctx context.Context, c *Client) (any, error) {
				return c.ChangeConversation(ctx, "x", parley.ConversationChange{Topic: &topic, Archived: &archived})
			},
			"PATCH /v1/conversations/x", `{"topic":"news","archived":true}`, `{"id":"1"}`,
			parley.ConversationView{Conversation: parley.Conversation{ID: "1"}},
		},
		{
			"delete a conversation", func(ctx context.Context, c *Client) (any, error) { return nil, c.DeleteConversation(ctx, "x") },
			"DELETE /v1/conversations/x", "", "", nil,
		},
		{
			"join", func(ctx context.Context, c *Client) (any, error) { return nil, c.Join(ctx, "x") },
			"POST /v1/conversations/x/join", "", "", nil,
		},
		{
			"leave", func(ctx context.Context, c *Client) (any, error) { return nil, c.Leave(ctx, "x") },
			"POST /v1/conversations/x/leave", "", "", nil,
		},
		{
			"add a member", func(ctx context.Context, c *Client) (any, error) { return nil, c.AddMember(ctx, "x", "arya") },
			"PUT /v1/conversations/x/members/arya", "", "", nil,
		},
		{
			"remove a member", func(ctx context.Context, c *Client) (any, error) { return nil, c.RemoveMember(ctx, "x", "arya") },
			"DELETE /v1/conversations/x/members/arya", "", "", nil,
		},
		{
			"history", func(ctx context.Context, c *Client) (any, error) {
				return c.History(ctx, "x", HistoryOptions{Before: 9, Limit: 2})
			},
			"GET /v1/conversations/x/messages?before=9&limit=2", "", `{"items":[{"id":"m","priority":"high"}]}`,
			[]parley.Message{{ID: "m", Priority: high}},
		},
		{
			"context", func(ctx context.Context, c *Client) (any, error) { return c.Context(ctx, "x") },
			"GET /v1/conversations/x/context", "", `{"items":[{"id":"m"}]}`,
			[]parley.Message{{ID: "m"}},
		},
		{
			"mark read", func(ctx context.Context, c *Client) (any, error) { return nil, c.MarkRead(ctx, "x", 7) },
			"POST /v1/conversations/x/read", `{"seq":7}`, "", nil,
		},
		{
			"newest", func(ctx context.Context, c *Client) (any, error) { return c.PeekNewest(ctx, 9, 2) },
			"GET /v1/inbox?before=9&limit=2&newest=true", "", `{"waking":1,"more":3,"deliveries":[],"messages":[]}`,
			parley.Peeked{Inbox: parley.Inbox{Waking: 1}, More: 3, Deliveries: []parley.Delivery{}, Messages: []parley.Message{}},
		},
		{
			"mark shown", func(ctx context.Context, c *Client) (any, error) { return c.MarkShown(ctx, "m") },
			"POST /v1/inbox/shown", `{"messages":["m"]}`, `{"items":[{"message":"m","state":"acked"}]}`,
			[]parley.Delivery{{Message: "m", State: parley.DeliveryAcked}},
		},
		{
			"attention", func(ctx context.Context, c *Client) (any, error) { return c.Attention(ctx, 3) },
			"GET /v1/attention?limit=3", "", `{"items":[{"kind":"ask","id":"m","name":"m7"}],"totals":{"ask":1},"unread":2}`,
			parley.Attention{
				Items:  []parley.AttentionItem{{Kind: parley.AttentionAsk, ID: "m", Name: "m7"}},
				Totals: map[parley.AttentionKind]int{parley.AttentionAsk: 1}, Unread: 2,
			},
		},
		{
			"post", func(ctx context.Context, c *Client) (any, error) {
				return c.Post(ctx, parley.Draft{Direct: []string{"arya"}, Priority: high, Content: parley.Content{Text: "a<b"}})
			},
			"POST /v1/messages", `{"direct":["arya"],"priority":"high","content":{"text":"a\u003cb"}}`,
			`{"message":{"id":"m"},"deliveries":[{"message":"m","state":"accepted"}],"notices":["n"]}`,
			parley.Receipt{
				Message: parley.Message{ID: "m"}, Notices: []string{"n"},
				Deliveries: []parley.Delivery{{Message: "m", State: parley.DeliveryAccepted}},
			},
		},
		{
			"a message", func(ctx context.Context, c *Client) (any, error) { return c.Message(ctx, "m") },
			"GET /v1/messages/m", "", `{"id":"m","deliveries":[]}`,
			parley.Shown{Message: parley.Message{ID: "m"}, Deliveries: []parley.Delivery{}},
		},
		{
			"await a state no longer than one call may", func(ctx context.Context, c *Client) (any, error) {
				return c.AwaitState(ctx, "m", parley.DeliverySeen, time.Hour)
			},
			"GET /v1/messages/m?for=seen&wait=50", "", `{"id":"m"}`,
			parley.Shown{Message: parley.Message{ID: "m"}},
		},
		{
			"thread", func(ctx context.Context, c *Client) (any, error) { return c.Thread(ctx, "m") },
			"GET /v1/messages/m/thread", "", `{"items":[],"cut":true,"notice":"read on"}`,
			parley.Thread{Items: []parley.Message{}, Cut: true, Notice: "read on"},
		},
		{
			"trace", func(ctx context.Context, c *Client) (any, error) { return c.Trace(ctx, "nightly") },
			"GET /v1/traces/nightly", "", `{"items":[{"id":"m"}],"runs":[{"id":"r","posts":["m"]}]}`,
			parley.Traced{
				Items: []parley.Shown{{Message: parley.Message{ID: "m"}}},
				Runs:  []parley.RunView{{Run: parley.Run{ID: "r"}, Posts: []string{"m"}}},
			},
		},
		{
			"redact", func(ctx context.Context, c *Client) (any, error) { return c.Redact(ctx, "m", "why") },
			"POST /v1/messages/m/redact", `{"reason":"why"}`, `{"id":"m"}`,
			parley.Message{ID: "m"},
		},
		{
			"peek", func(ctx context.Context, c *Client) (any, error) { return c.Peek(ctx, 3) },
			"GET /v1/inbox?limit=3", "", `{"waking":1,"deliveries":[],"messages":[]}`,
			parley.Peeked{Inbox: parley.Inbox{Waking: 1}, Deliveries: []parley.Delivery{}, Messages: []parley.Message{}},
		},
		{
			"take", func(ctx context.Context, c *Client) (any, error) {
				return c.Take(ctx, parley.Take{Limit: 1, Wait: 1500 * time.Millisecond, Lease: time.Minute, Only: []string{"m"}})
			},
			"POST /v1/inbox/take", `{"limit":1,"only":["m"],"wait":1.5,"lease":60}`,
			`{"lease":"l","lease_seconds":60,"deliveries":[],"messages":[]}`,
			parley.Taken{Lease: "l", For: time.Minute, Deliveries: []parley.Delivery{}, Messages: []parley.Message{}},
		},
		{
			"ack", func(ctx context.Context, c *Client) (any, error) { return c.Ack(ctx, "", "m", "n") },
			"POST /v1/inbox/ack", `{"messages":["m","n"]}`, `{"items":[{"message":"m","state":"acked"}]}`,
			[]parley.Delivery{{Message: "m", State: parley.DeliveryAcked}},
		},
		{
			"nack", func(ctx context.Context, c *Client) (any, error) {
				return c.Nack(ctx, "l", parley.Trouble{Failure: parley.FailureBusy, Reason: "r", After: time.Second}, "m")
			},
			"POST /v1/inbox/nack", `{"lease":"l","messages":["m"],"failure":"busy","reason":"r","retry_after":1}`,
			`{"items":[]}`,
			[]parley.Delivery{},
		},
		{
			"extend", func(ctx context.Context, c *Client) (any, error) { return c.Extend(ctx, "l", time.Minute) },
			"POST /v1/inbox/extend", `{"lease":"l","seconds":60}`, `{"items":[]}`,
			[]parley.Delivery{},
		},
		{
			"see", func(ctx context.Context, c *Client) (any, error) { return c.See(ctx, "l", "run-1") },
			"POST /v1/inbox/see", `{"lease":"l","run":"run-1"}`, `{"items":[]}`,
			[]parley.Delivery{},
		},
		{
			"settle with an answer", func(ctx context.Context, c *Client) (any, error) {
				return c.Settle(ctx, "l", parley.Outcome{Answer: "m"})
			},
			"POST /v1/inbox/settle", `{"lease":"l","answer":"m"}`, `{"items":[]}`,
			[]parley.Delivery{},
		},
		{
			"settle with a failure", func(ctx context.Context, c *Client) (any, error) {
				return c.Settle(ctx, "l", parley.Outcome{Trouble: &parley.Trouble{Failure: parley.FailureFinal}})
			},
			"POST /v1/inbox/settle", `{"lease":"l","failure":"final"}`, `{"items":[]}`,
			[]parley.Delivery{},
		},
		{
			"dead letters", func(ctx context.Context, c *Client) (any, error) { return c.DeadLetters(ctx, page) },
			"GET /v1/dead?cursor=c1&limit=5", "", `{"items":[{"message":"m"}],"next":"c2"}`,
			Page[parley.Delivery]{Items: []parley.Delivery{{Message: "m"}}, Next: "c2"},
		},
		{
			"retry a dead letter", func(ctx context.Context, c *Client) (any, error) { return c.RetryDead(ctx, "m", "arya") },
			"POST /v1/dead/m/arya/retry", "", `{"message":"m"}`,
			parley.Delivery{Message: "m"},
		},
		{
			"drop a dead letter", func(ctx context.Context, c *Client) (any, error) { return c.DropDead(ctx, "m", "arya") },
			"POST /v1/dead/m/arya/drop", "", `{"message":"m"}`,
			parley.Delivery{Message: "m"},
		},
		{
			"search", func(ctx context.Context, c *Client) (any, error) { return c.Search(ctx, `"a b" from:x`, page) },
			"GET /v1/search?cursor=c1&limit=5&q=%22a+b%22+from%3Ax", "", `{"items":[{"message":"m"}],"next":"n","behind":true}`,
			SearchPage{Page[parley.Hit]{[]parley.Hit{{Message: "m"}}, "n"}, true},
		},
		{
			"store an artifact", func(ctx context.Context, c *Client) (any, error) {
				return c.PutArtifact(ctx, strings.NewReader("body"))
			},
			"POST /v1/artifacts", "body", `{"sha256":"d","size":4}`,
			parley.Artifact{SHA256: "d", Size: 4},
		},
		{
			"sums of artifacts", func(ctx context.Context, c *Client) (any, error) { return c.ArtifactTotals(ctx) },
			"GET /v1/artifacts", "", `{"artifacts":2}`,
			parley.ArtifactTotals{Artifacts: 2},
		},
		{
			"tokens", func(ctx context.Context, c *Client) (any, error) { return c.Tokens(ctx, "arya") },
			"GET /v1/tokens?agent=arya", "", `{"items":[]}`,
			[]parley.Token{},
		},
		{
			"make a token", func(ctx context.Context, c *Client) (any, error) {
				return c.NewToken(ctx, parley.NewToken{Agent: "arya", Scopes: parley.Scopes{"read"}, For: time.Hour})
			},
			"POST /v1/tokens", `{"agent":"arya","scopes":["read"],"expires_in":3600}`, `{"id":"t","secret":"parley_x"}`,
			parley.MadeToken{Token: parley.Token{ID: "t"}, Secret: "parley_x"},
		},
		{
			"revoke a token", func(ctx context.Context, c *Client) (any, error) { return nil, c.RevokeToken(ctx, "t") },
			"DELETE /v1/tokens/t", "", "", nil,
		},
		{
			"make a link", func(ctx context.Context, c *Client) (any, error) { return c.NewLink(ctx, "sam") },
			"POST /v1/sign-in-links", `{"agent":"sam"}`, `{"url":"u","expires_at":"2030-01-02T03:04:05Z"}`,
			SignInLink{"u", at},
		},
		{
			"audit log", func(ctx context.Context, c *Client) (any, error) { return c.AuditLog(ctx, page) },
			"GET /v1/audit?cursor=c1&limit=5", "", `{"items":[{"num":1}]}`,
			Page[parley.AuditEntry]{Items: []parley.AuditEntry{{Num: 1}}},
		},
		{
			"verify the audit log", func(ctx context.Context, c *Client) (any, error) { return c.VerifyAudit(ctx) },
			"GET /v1/audit/verify", "", `{"entries":3,"ok":true}`,
			parley.AuditReport{Entries: 3, OK: true},
		},
		{
			"back up", func(ctx context.Context, c *Client) (any, error) { return c.Backup(ctx, "/b") },
			"POST /v1/backups", `{"directory":"/b"}`, `{"directory":"/b","files":2}`,
			parley.Backup{Directory: "/b", Files: 2},
		},
		{
			"check", func(ctx context.Context, c *Client) (any, error) {
				var told int64
				report, err := c.CheckDeep(ctx, func(r parley.CheckReport) { told = r.Messages })
				return []int64{told, report.Messages}, err
			},
			"POST /v1/checks", "", `{"progress":{"messages":1}}` + "\n" + `{"report":{"messages":2}}` + "\n",
			[]int64{1, 2},
		},
		{
			"export a conversation", func(ctx context.Context, c *Client) (any, error) {
				var out strings.Builder
				err := c.Export(ctx, "x", "markdown", &out)
				return out.String(), err
			},
			"GET /v1/conversations/x/export?format=markdown", "", "# x", "# x",
		},
		{
			"export all", func(ctx context.Context, c *Client) (any, error) {
				var out strings.Builder
				err := c.ExportAll(ctx, &out)
				return out.String(), err
			},
			"GET /v1/export", "", "{}\n", "{}\n",
		},
		{
			"import", func(ctx context.Context, c *Client) (any, error) { return c.Import(ctx, strings.NewReader("{}\n")) },
			"POST /v1/import", "{}\n", `{"lines":1}`,
			parley.ImportReport{Lines: 1},
		},
	})
}

var high = func() parley.Priority {
	p, err := parley.ParsePriority("high")
	if err != nil {
		panic(err)
	}
	return p
}()

func TestAddingAnAgentSendsItsProfile(t *testing.T) {
	hub := &fake{status: http.StatusCreated, answer: `{"id":"arya"}`}
	added, err := to(t, hub, Options{}).AddAgent(t.Context(), parley.NewAgent{ID: "arya", Profile: parley.Profile{Role: "writer"}})
	if err != nil || added.ID != "arya" {
		t.Fatalf("%+v, %v", added, err)
	}
	if !strings.Contains(hub.last.body, `"id":"arya"`) || !strings.Contains(hub.last.body, `"role":"writer"`) {
		t.Errorf("sent %s", hub.last.body)
	}
}

// TestCredentials shows who a client says it is.
func TestCredentials(t *testing.T) {
	hub := &fake{status: http.StatusOK, answer: `{"message":{"id":"m"}}`}
	c := to(t, hub, Options{Token: " parley_secret\n", As: "arya", Source: "cli", OfClient: true})
	if _, err := c.Post(t.Context(), parley.Draft{IdempotencyKey: "k"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer parley_secret", "Parley-As": "arya", "Parley-Source": "cli", "Idempotency-Key": "k",
		"Content-Type": "application/json", "Parley-Client": "yes",
	} {
		if got := hub.last.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := c.PutArtifact(t.Context(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if got := hub.last.header.Get("Content-Type"); got != "application/octet-stream" {
		t.Errorf("an artifact is sent as %q", got)
	}
}

func TestPagesAreWalked(t *testing.T) {
	pages := map[string]string{
		"":  `{"items":[{"message":"a"},{"message":"b"}],"next":"1"}`,
		"1": `{"items":[],"next":"2"}`,
		"2": `{"items":[{"message":"c"}]}`,
	}
	c := to(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, pages[r.URL.Query().Get("cursor")])
	}), Options{})
	var ids []string
	for letter, err := range All(t.Context(), c.DeadLetters) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, letter.Message)
	}
	if got := strings.Join(ids, ""); got != "abc" {
		t.Errorf("walked over %q, want abc", got)
	}
	for letter := range All(t.Context(), c.DeadLetters) {
		if letter.Message != "a" {
			t.Errorf("began with %q", letter.Message)
		}
		break
	}
}
