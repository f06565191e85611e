package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// principal is somebody with a credential.
type principal struct {
	name   string
	agent  string // "": nobody
	scopes parley.Scopes
	how    string // token, revoked, session, socket or nothing
}

func principals() []principal {
	list := []principal{
		{"nobody", "", nil, "nothing"},
		{"a revoked token", "user", parley.AllScopes(), "revoked"},
		{"the owner's session", "user", parley.AllScopes(), "session"},
		{"the owner on the socket", "user", parley.AllScopes(), "socket"},
		{"an agent on the socket", "arya", parley.Scopes{parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide}, "socket"},
		{"a stranger", "hound", parley.AllScopes(), "token"},
	}
	for _, agent := range []string{"user", "rickon", "arya"} {
		list = append(list, principal{agent + " with all scopes", agent, parley.AllScopes(), "token"})
		for _, scope := range parley.AllScopes() {
			list = append(list, principal{agent + " with " + string(scope), agent, parley.Scopes{scope}, "token"})
		}
	}
	return list
}

// expects is what the rules of an operation say for somebody: success, or a status.
func expects(op httpapi.Operation, p principal) int {
	switch {
	case op.Who == hub.Anyone:
		return http.StatusOK
	case p.how == "nothing" || p.how == "revoked":
		return http.StatusUnauthorized
	case !p.scopes.Has(op.Scope):
		return http.StatusForbidden
	case op.ID == "request-tool-use" && (p.agent == "user" || p.agent == "rickon"):
		return http.StatusBadRequest // people have no client that asks
	}
	allowed, otherwise := true, http.StatusForbidden
	switch op.Who {
	case hub.Owner:
		allowed = p.agent == "user"
	case hub.LocalOwner:
		allowed = p.agent == "user" && p.how == "socket"
	case hub.People:
		allowed = p.agent == "user" || p.agent == "rickon"
	case hub.ManagerOrOwner:
		if allowed = p.agent != "hound"; strings.Contains(op.Path, "{run}") {
			otherwise = http.StatusNotFound
		}
	case hub.MemberOrOwner:
		allowed, otherwise = p.agent == "arya" || p.agent == "user", http.StatusNotFound
	case hub.SessionOnly:
		allowed = p.how == "session"
	case hub.Self:
		allowed = p.agent == "arya"
	case hub.SuperiorOrOwner:
		if allowed = p.agent == "user" || p.agent == "rickon"; p.agent == "arya" && op.ID == "command" {
			otherwise = http.StatusBadRequest // nobody writes to itself
		}
	case hub.ConcernedOrOwner, hub.RequesterOrOwner, hub.AssigneeOrOwner, hub.CallerOrDecider, hub.Decider:
		return expectsOfWork(op, p)
	case hub.AgentOrOwner:
		allowed = p.agent == "arya" || p.agent == "user"
	case hub.RunnerOrOwner:
		allowed, otherwise = p.agent == "arya" || p.agent == "user", http.StatusNotFound
	}
	if allowed {
		return http.StatusOK
	}
	return otherwise
}

// expectsOfWork is expects for a task that rickon has asked arya for, and for a call of arya's. To everybody else they
// are not there.
func expectsOfWork(op httpapi.Operation, p principal) int {
	switch {
	case p.agent == "hound":
		return http.StatusNotFound
	case p.agent == "arya" && (op.Who == hub.RequesterOrOwner || op.Who == hub.Decider):
		return http.StatusForbidden
	case p.agent == "rickon" && op.Who == hub.AssigneeOrOwner:
		return http.StatusForbidden
	}
	return http.StatusOK
}

// TestRolesAndOperations tries every operation as everybody, each with a request that succeeds for those
// who may. An operation that is added is tried by itself, once it has an example here.
func TestRolesAndOperations(t *testing.T) {
	stories := map[string]*story{} // one for each group of operations: making one takes longer than using it
	for n, op := range httpapi.Routes() {
		if op.Hidden {
			continue // pages, which are for all
		}
		if stories[op.Tag] == nil {
			stories[op.Tag] = newStory(t)
		}
		t.Run(op.ID, func(t *testing.T) { stories[op.Tag].tryAsAll(t, n, op) })
	}
}

func (s *story) tryAsAll(t *testing.T, n int, op httpapi.Operation) {
	s.t, s.servedHub.T = t, t
	for i, p := range principals() {
		st := s.example(op, p, fmt.Sprintf("x%d-%d", n, i))
		req := s.request(st)
		if op.AnswerType == "text/event-stream" {
			req.method = http.MethodHead // the rest has no end
		}
		got := s.asPrincipal(p, req)
		switch want := expects(op, p); {
		case want == http.StatusOK && got.status < 300:
		case want == http.StatusOK && got.status == http.StatusConflict && leased[op.ID] && p.agent != "arya" && p.agent != "hound":
			// people hold no leases
		case got.status != want:
			t.Errorf("%s: status %d, want %d: %s", p.name, got.status, want, got.body)
		}
	}
}

var leased = map[string]bool{"nack": true, "extend": true, "see": true, "settle": true}

// asPrincipal sends a request with a credential of somebody's.
func (s *story) asPrincipal(p principal, r request) reply {
	s.t.Helper()
	r.header = in()
	switch p.how {
	case "token", "revoked":
		made, err := s.NewToken(ctx, user, parley.NewToken{Agent: p.agent, Scopes: p.scopes})
		s.NoError(err)
		if p.how == "revoked" {
			s.NoError(s.RevokeToken(ctx, user, made.ID))
		}
		r.header["Authorization"] = "Bearer " + made.Secret
	case "session":
		r.header = s.signInHeaders(p.agent)
	case "socket":
		*s.peer = peer{agent: p.agent, local: true}
		defer func() { *s.peer = peer{} }()
	}
	if r.method == http.MethodPost && strings.HasSuffix(r.path, "artifacts") {
		r.header["Content-Type"] = "application/octet-stream"
	}
	return s.send(r)
}

// example is a call of an operation that succeeds for those who may: what it is about has been made for
// it. The name is one that nobody has yet.
func (s *story) example(op httpapi.Operation, p principal, name string) step {
	s.t.Helper()
	agent := p.agent
	if agent == "" {
		agent = "arya"
	}
	me, arya := hub.Caller{Agent: agent, Scopes: parley.AllScopes()}, hub.Caller{Agent: "arya"}
	st := step{op: op.ID, body: bodies[op.ID]}
	st.body = strings.NewReplacer("{name}", name, "{me}", agent, "{dir}", s.t.TempDir()).Replace(st.body)
	if strings.Contains(op.Path, "{agent}") {
		st.vars = in("agent", "arya")
	}
	switch op.ID {
	case "remove-agent", "add-member", "remove-member":
		_, err := s.AddAgent(ctx, user, parley.NewAgent{ID: name})
		s.NoError(err)
		st.vars = in("agent", name, "conversation", "forge")
		if op.ID == "remove-member" {
			s.NoError(s.AddMember(ctx, arya, "forge", name))
		}
	case "change-conversation", "mark-read":
		st.vars = in("conversation", s.forge(agent))
	case "show-message", "read-thread", "redact-message", "read-trace":
		st.vars = in("message", s.say("square"), "trace", s.say("square"))
	case "await-outcome":
		woken, err := s.Post(ctx, arya, parley.Draft{Conversation: "square", Content: parley.Content{Text: "@gendry hello"}})
		s.NoError(err)
		st.vars = in("id", woken.Message.ID)
	case "retry-dead", "drop-dead":
		st.vars = in("message", s.deadLetter(), "recipient", "gendry")
	case "ack", "mark-shown", "nack", "extend", "see", "settle":
		st.body = s.taken(me, st.body)
	case "fetch-artifact":
		stored, err := s.PutArtifact(ctx, me, strings.NewReader(name))
		s.NoError(err)
		st.vars = in("sha256", stored.SHA256)
	case "revoke-token":
		made, err := s.NewToken(ctx, user, parley.NewToken{Agent: agent})
		s.NoError(err)
		st.vars = in("token", made.ID)
	case "show-run", "read-output", "cancel-run":
		st.vars = in("run", s.startInstantRun("arya").Run.ID)
	case "show-task", "read-tree", "update-task", "cancel-task", "retry-task", "reassign-task":
		st.vars = in("task", s.newTaskForArya(name))
		if op.ID == "retry-task" {
			_, err := s.CancelTask(ctx, user, st.vars["task"], "")
			s.NoError(err)
		}
	case "show-approval", "decide-approval":
		st.vars = in("approval", s.notifySupervised(name).ID)
	case "check-permission":
		st.query = "from=arya&to=gendry"
	case "unpermit":
		st.query = "agent=arya&target=gendry"
		_, err := s.Permit(ctx, user, parley.Permission{Agent: "arya", Target: "gendry", Effect: parley.EffectAllow})
		s.NoError(err)
	case "search":
		st.query = "q=hello"
	case "show-bridge", "change-bridge", "remove-bridge", "unknown-files", "arrive", "list-departures", "report-departures", "beat",
		"note-bridge", "list-bridge-tasks":
		st.vars = in("bridge", s.joinBridge(name))
		if op.ID == "report-departures" {
			st.body = fmt.Sprintf(`{"reports":[{"id":%q,"state":"written"}]}`, s.postForDeparture(name))
		}
	case "recall":
		st.query = "conversation=square"
	case "forget", "redact-note":
		n, err := s.Remember(ctx, me, parley.NewNote{Scope: parley.ConversationNote, Conversation: "square", Text: name})
		s.NoError(err)
		st.vars = in("note", n.ID)
	case "join":
		made, err := s.CreateConversation(ctx, user, parley.NewConversation{Name: name})
		s.NoError(err)
		st.vars = in("conversation", made.ID)
	case "leave":
		s.NoError(s.Join(ctx, me, "square"))
	}
	if st.vars == nil && strings.Contains(op.Path, "{conversation}") {
		st.vars = in("conversation", "square")
		if op.ID == "delete-conversation" {
			view, err := s.CreateConversation(ctx, arya, parley.NewConversation{Name: name})
			s.NoError(err)
			st.vars = in("conversation", view.ID)
		}
	}
	return st
}

var bodies = map[string]string{
	"add-agent":           `{"id":"{name}"}`,
	"change-agent":        `{"role":"{name}"}`,
	"sleep":               `{"for":60}`,
	"command":             `{"action":"resume"}`,
	"report-health":       `{"health":"healthy"}`,
	"resume-pair":         `{"with":"gendry"}`,
	"cancel-run":          `{"reason":"{name}"}`,
	"make-conversation":   `{"name":"{name}"}`,
	"change-conversation": `{"topic":"{name}"}`,
	"mark-read":           `{}`,
	"post-message":        `{"conversation":"square","content":{"text":"hello"}}`,
	"redact-message":      `{}`,
	"redact-note":         `{}`,
	"remember":            `{"scope":"conversation","conversation":"square","text":"{name}"}`,
	"contact":             `{"action":"notify","agent":"gendry","message":"{name}"}`,
	"make-task":           `{"text":"{name}","assignee":"gendry"}`,
	"update-task":         `{"progress":{"message":"{name}"}}`,
	"cancel-task":         `{"reason":"{name}"}`,
	"reassign-task":       `{"assignee":"gendry"}`,
	"decide-approval":     `{"approve":true}`,
	"request-tool-use":    `{"client":"test","tool":"Bash","input":{"command":"{name}"},"wait":0.001}`,
	"permit":              `{"agent":"arya","target":"gendry","effect":"allow"}`,
	"take":                `{}`,
	"open-session":        `{"key":"k","kind":"stdio"}`,
	"ack":                 `{"messages":["{message}"]}`,
	"mark-shown":          `{"messages":["{message}"]}`,
	"nack":                `{"lease":"{lease}","messages":["{message}"]}`,
	"extend":              `{"lease":"{lease}"}`,
	"see":                 `{"lease":"{lease}"}`,
	"settle":              `{"lease":"{lease}"}`,
	"add-bridge":          `{"layout":"inbox","root":"{dir}/{name}","agents":["{name}"],"outside":true}`,
	"change-bridge":       `{"paused":true}`,
	"unknown-files":       `{"files":[]}`,
	"arrive":              `{"arrivals":[]}`,
	"beat":                `{"beats":[]}`,
	"note-bridge":         `{"running":true,"imported":0,"exported":0,"rejected":0,"evicted":0,"waiting":0}`,
	"store-artifact":      `steel`,
	"make-token":          `{"agent":"{me}","scopes":["admin"],"expires_in":60}`,
	"make-link":           `{}`,
	"make-backup":         `{"directory":"{dir}/{name}"}`,
	"import-hub":          `{"parley":"export","version":1}` + "\n",
}

// forge is the private channel of arya and gendry; an owner has to take part to read on in it.
func (s *story) forge(agent string) string {
	s.t.Helper()
	if agent == "user" {
		s.NoError(s.Join(ctx, user, "forge"))
	}
	return "forge"
}

func (s *story) say(where string) string {
	s.t.Helper()
	r, err := s.Post(ctx, hub.Caller{Agent: "gendry"}, parley.Draft{Conversation: where, Content: parley.Content{Text: "hello"}})
	s.NoError(err)
	return r.Message.ID
}

// taken fills in a message that somebody has taken, and its lease.
func (s *story) taken(me hub.Caller, body string) string {
	s.t.Helper()
	r, err := s.Post(ctx, hub.Caller{Agent: "gendry"}, parley.Draft{Direct: []string{me.Agent}, Content: parley.Content{Text: "hello"}})
	s.NoError(err)
	got, err := s.Take(ctx, me, parley.Take{Only: []string{r.Message.ID}})
	s.NoError(err)
	return strings.NewReplacer("{message}", r.Message.ID, "{lease}", got.Lease).Replace(body)
}

// deadLetter is a message that gendry could not deal with.
func (s *story) deadLetter() string {
	s.t.Helper()
	gendry := hub.Caller{Agent: "gendry"}
	_, err := s.ChangeAgent(ctx, user, "gendry", func(a *parley.Agent) error { a.Attempts = 1; return nil })
	s.NoError(err)
	r, err := s.Post(ctx, hub.Caller{Agent: "arya"}, parley.Draft{Direct: []string{"gendry"}, Content: parley.Content{Text: "hello"}})
	s.NoError(err)
	got, err := s.Take(ctx, gendry, parley.Take{Only: []string{r.Message.ID}})
	s.NoError(err)
	_, err = s.Nack(ctx, gendry, got.Lease, parley.Trouble{Failure: parley.FailureServer}, r.Message.ID)
	s.NoError(err)
	return r.Message.ID
}

// signInHeaders signs somebody in, and returns the headers its page sends.
func (w *servedHub) signInHeaders(person string) map[string]string {
	w.T.Helper()
	secret, _, err := w.NewLink(ctx, user, person)
	w.NoError(err)
	made, err := w.SignIn(ctx, secret)
	w.NoError(err)
	headers := in("Cookie", "parley_session="+made.Secret, "Sec-Fetch-Site", "same-origin", "Parley-Page", made.Page)
	headers["Origin"] = w.server.URL
	return headers
}
