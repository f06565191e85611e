package hub_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestDocumentBecomesMessage(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	a := b.document("ana", "ned", "hello")
	a.Draft.TraceID, a.Draft.Sequence = "trace", 1
	a.Draft.From, a.Draft.Conversation, a.Draft.To, a.Draft.IdempotencyKey = "user", "elsewhere", "ben", "key"
	m := b.arriveMessage(a)
	same(t, "from", m.From, "ana")
	same(t, "to", m.To, "ned")
	same(t, "source", m.Source, "file")
	same(t, "trace", m.TraceID, "trace")
	same(t, "time", m.CreatedAt, began)
	same(t, "where", m.Conversation, w.DMBetween("ana", "ned"))
	same(t, "who is woken", w.PendingTexts("ned"), []string{"hello"})
	same(t, "its count", w.DeliveryOf(m.ID, "ned").PairSeq, int64(1))
}

func TestDocumentArrivesOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	a, other := b.document("ana", "ned", "hello"), b.document("ana", "ned", "again")
	changed := a
	changed.Digest = "00"
	first := b.arrive(a, a, other)
	same(t, "twice at once", first[1], parley.Arrived{Message: first[0].Message, Duplicate: true})
	w.Restart()
	b.BridgeHub = w.BridgeAt(user)
	same(t, "after a restart", b.arrive(a)[0], parley.Arrived{Message: first[0].Message, Duplicate: true})
	unknown, err := b.Unknown(ctx, b.view.ID, []parley.BridgeFile{a.BridgeFile, changed.BridgeFile, other.BridgeFile, {Path: "x/inbox/\xff.json"}})
	w.NoError(err)
	same(t, "unknown", unknown, []parley.BridgeFile{changed.BridgeFile, {Path: "x/inbox/\xff.json"}})
	b.arriveMessage(changed)
	same(t, "stored", w.TextsIn("user", w.DMBetween("ana", "ned")), []string{"hello", "again", "hello"})
	w.NoError(w.DeleteConversation(ctx, user, w.DMBetween("ana", "ned")))
	same(t, "once erased", b.arrive(a)[0], parley.Arrived{Duplicate: true})
}

func TestOwnExportsDoNotComeBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	m := w.SendDM("ned", "ana", "hello").Message
	b.departs(m, "ana", "msg_00000099")
	own := parley.BridgeFile{Path: "state/agents/ana/inbox/msg_00000099.json", Digest: "00"}
	another := parley.BridgeFile{Path: "state/agents/ben/inbox/msg_00000099.json"}
	unknown, err := b.Unknown(ctx, b.view.ID, []parley.BridgeFile{own, another})
	w.NoError(err)
	same(t, "unknown", unknown, []parley.BridgeFile{another})
	a := b.document("ned", "ana", "hello")
	a.Name = "msg_00000099"
	same(t, "arrived", b.arrive(a)[0], parley.Arrived{Duplicate: true})
}

func TestChannelsOfATree(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	m := b.arriveMessage(b.document("ana", "ned", "hello @ben"))
	where := w.ConversationAs("user", "general")
	same(t, "visibility", where.Visibility, parley.Public)
	same(t, "members", where.Members, []string{"ned", "ana", "ben"})
	same(t, "who is woken", w.PendingTexts("ned"), []string{m.Content.Text})
	same(t, "who has it in a file", w.PendingTexts("ben"), []string{})
	w.NoError(w.Archive(ctx, user, "general", true))
	b.arriveMessage(b.document("ben", "", "again"))
	same(t, "archived", w.ConversationAs("user", "general").ArchivedAt == nil, true)
	w.CreatePrivateChannel("user", "secret")
	a := b.document("ana", "", "let me in")
	a.Channel = "secret"
	b.arriveRefused(a, parley.BadInput)
	channels := []string{"general"}
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, b.view.ID, parley.BridgeChange{Channels: &channels}))
	a = b.document("ana", "", "hello")
	a.Channel = "random"
	b.arriveRefused(a, parley.NotPermitted)
}

func TestRepliesAreLinked(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned", "sam")
	b := joinInboxTree(w)
	asked, other := w.SendDM("ned", "ana", "hello?").Message, w.SendDM("sam", "ana", "hello?").Message
	b.departs(asked, "ana", "msg_000000aa")
	b.departs(other, "ana", "msg_000000ab")
	reply := func(name string) (parley.Message, []string) {
		a := b.document("ana", "ned", "yes")
		a.ReplyTo = name
		got := b.arrive(a)[0]
		return b.message(got.Message), got.Notices
	}
	m, notices := reply("msg_000000aa")
	same(t, "to what was written", m.InReplyTo, asked.ID)
	same(t, "said", notices, []string{})
	same(t, "answered", w.DeliveryState(asked.ID, "ana"), parley.DeliveryAnswered)
	for _, name := range []string{"msg_000000ab", "msg_ffffffff", "\x00"} {
		m, notices = reply(name)
		same(t, "to something else", m.InReplyTo, "")
		same(t, "said", len(notices), 1)
	}
	first := b.document("ben", "ned", "first")
	arrived := b.arriveMessage(first)
	back := b.document("ben", "ned", "and more")
	back.ReplyTo = first.Name
	same(t, "to what came", b.arriveMessage(back).InReplyTo, arrived.ID)
}

func TestDocumentsBeginAndEndTasks(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	first := b.document("ana", "ned", "")
	first.Draft = parley.Draft{Type: "task-delegation", Payload: []byte(`{"task":"draft it"}`)}
	begun := b.arriveMessage(first)
	second := b.document("ana", "ned", "")
	second.Draft = parley.Draft{
		Type: "task-delegation", Payload: []byte(`{"task":"print it","context":{"dependencies":["` + first.Name + `","msg_ffffffff"]}}`),
	}
	got := b.arrive(second)[0]
	same(t, "unknown dependencies", got.Notices, []string{"there is no task msg_ffffffff to depend on: it counts as completed"})
	hidden := b.document("ben", "ned", "between ben and ned")
	b.arriveMessage(hidden)
	curious := b.document("ana", "ned", "")
	curious.Draft = parley.Draft{Type: "task-delegation", Payload: []byte(`{"task":"look","context":{"dependencies":["` + hidden.Name + `"]}}`)}
	same(t, "a dependency that its sender may not read", b.arrive(curious)[0].Notices,
		[]string{"there is no task " + hidden.Name + " to depend on: it counts as completed"})
	task := w.TaskByID(b.message(got.Message).Task)
	same(t, "depends on", task.DependsOn, []string{begun.Task})
	same(t, "requester", task.Requester, "ana")
	same(t, "source", task.Source, "file")

	asked := w.PostAs("ned", parley.Draft{Direct: []string{"ana"}, Type: parley.TypeTask, Content: text("count")}).Message
	b.departs(asked, "ana", "msg_000000aa")
	result := b.document("ana", "ned", "seven")
	result.ReplyTo, result.Draft.Type = "msg_000000aa", "task_result"
	b.arriveMessage(result)
	same(t, "ended", w.TaskByID(asked.Task).Status, parley.TaskCompleted)
	same(t, "result", w.TaskByID(asked.Task).Result.Text, "seven")
}

func TestHeartbeatByFile(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	a := b.document("ana", "ned", "")
	a.Draft = parley.Draft{Type: parley.TypeHeartbeat, Payload: []byte(`{"health":"degraded","metrics":{"active_tasks":2}}`)}
	m := b.arriveMessage(a)
	same(t, "health", resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "ana")).Health.Health, parley.Degraded)
	same(t, "wakes", w.DeliveryOf(m.ID, "ned").Waking, false)
}

func TestHistoryWakesNobody(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	newest := w.LastEventNumber()
	said := began.Add(-48 * time.Hour)
	history := func(words, to string) parley.Arrival {
		a := b.document("ana", to, words)
		a.History, a.At, a.Draft.Type = true, said, parley.TypeTask
		return a
	}
	done := b.arrive(history("one", "ned"), history("two @ned", "nobody"), history("three", parley.All))
	same(t, "notices", done[1].Notices, []string{"it is for nobody, which this hub does not know"})
	list, err := w.History(ctx, user, "general", parley.Page{})
	w.NoError(err)
	same(t, "texts", textsOf(list), []string{"one", "two @ned", "three"})
	same(t, "time", list[0].CreatedAt, said)
	same(t, "to", []string{list[0].To, list[1].To, list[2].To}, []string{"ned", "", parley.All})
	same(t, "woken", w.PendingTexts("ned"), []string{})
	same(t, "tasks", list[0].Task, "")
	if slices.ContainsFunc(kindsAfter(w, newest), func(k parley.EventKind) bool { return k.Within("task") || k.Within("delivery") }) {
		t.Error("history did something")
	}
	w.AssertConsistent()
}

// One that is refused among history keeps the others from nothing.
func TestRefusedHistoryIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	var list []parley.Arrival
	for _, from := range []string{"ana", "stranger", "ben"} {
		a := b.document(from, "", "from "+from)
		a.History = true
		list = append(list, a)
	}
	done := b.arrive(list...)
	same(t, "refused", []bool{done[0].Error == nil, done[1].Error == nil, done[2].Error == nil}, []bool{true, false, true})
	same(t, "kept", w.TextsIn("user", "general"), []string{"from ana", "from ben"})
}

// Whatever its overflow policy, an agent that is behind keeps files in their directory, and evicts nothing for them.
func TestFullInboxKeepsFilesBack(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	b := joinInboxTree(w)
	first := b.arriveMessage(b.document("ana", "ned", "one"))
	b.arriveMessage(b.document("ana", "ned", "two"))
	third := b.document("ana", "ned", "three")
	b.arriveRefused(third, parley.Unavailable)
	same(t, "the oldest", w.DeliveryState(first.ID, "ned"), parley.DeliveryAccepted)
	w.AckAs("ned", first.ID)
	b.arriveMessage(third)
}

// Among many that come together, one that is refused keeps the others from nothing, and what is behind one that has to wait
// waits too.
func TestManyDocumentsTogether(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.AddScriptAgents("joe")
	w.SetInboxDepth("ned", 3, parley.OverflowEvict)
	b := joinInboxTree(w)
	var list []parley.Arrival
	for n := range 60 {
		from, to := "ana", "joe"
		if n%10 == 7 {
			from = "stranger"
		}
		if n%8 == 3 {
			to = "ned"
		}
		list = append(list, b.document(from, to, strconv.Itoa(n)))
	}
	var forJoe, forNed []string
	for i, got := range b.arrive(list...) {
		a, code := list[i], parley.CodeOf(orNil(got.Error))
		switch {
		case a.From == "stranger":
			same(t, "a stranger's "+a.Draft.Content.Text, code, parley.NotPermitted)
		case a.To == "joe":
			forJoe = append(forJoe, a.Draft.Content.Text)
			same(t, "for joe "+a.Draft.Content.Text, code, parley.Code(""))
		case len(forNed) < 3:
			forNed = append(forNed, a.Draft.Content.Text)
			same(t, "for ned "+a.Draft.Content.Text, code, parley.Code(""))
		default:
			same(t, "behind the full inbox "+a.Draft.Content.Text, code, parley.Unavailable)
		}
	}
	same(t, "joe has", w.TextsIn("user", w.DMBetween("ana", "joe")), forJoe)
	same(t, "ned has", w.TextsIn("user", w.DMBetween("ana", "ned")), forNed)
}

func orNil(e *parley.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// What has to wait in an inbox is not overtaken by what is behind it there, though that could be taken.
func TestWaitingDocumentsAreNotOvertaken(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"ana"}})
	waits, behind, elsewhere := b.document("ana", "", "for nobody"), b.document("ana", "ned", "behind it"), b.document("ana", "ned", "elsewhere")
	waits.Path, behind.Path, waits.Queue = "inbox/1.json", "inbox/2.json", true
	done := b.arrive(waits, behind, elsewhere)
	same(t, "taken", []bool{done[0].Error == nil, done[1].Error == nil, done[2].Error == nil}, []bool{false, false, true})
	w.AddScriptAgents("gm")
	for _, got := range b.arrive(waits, behind) {
		same(t, "taken later", got.Error == nil, true)
	}
}

func TestExpiredDocumentIsOnlyNoted(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	a := b.document("ana", "ned", "hello")
	a.ExpiresAt = began.Add(-time.Second)
	got := b.arrive(a)[0]
	same(t, "expired", got, parley.Arrived{Notices: []string{"it has expired: 2026-03-01T08:59:59Z"}})
	same(t, "again", b.arrive(a)[0], parley.Arrived{Duplicate: true})
	soon, late := b.document("ana", "ned", "hello"), b.document("ana", "ned", "hello")
	soon.ExpiresAt = began.Add(time.Minute)
	same(t, "expires", *b.arriveMessage(soon).ExpiresAt, began.Add(time.Minute))
	passed := began.Add(-time.Hour)
	late.Draft.Deadline = &passed
	same(t, "its deadline", b.arrive(late)[0].Notices, []string{"its deadline has passed: 2026-03-01T08:00:00Z"})
}

func TestBroadcast(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned", "sam", "tim")
	w.EditAgent("sam", func(a *parley.Agent) { a.Tier = parley.TierPM })
	b := joinInboxTree(w)
	w.AddPermission("ana", "tim", parley.EffectDeny)
	all := b.document("ana", parley.All, "hear")
	all.Draft.Sequence = 7
	m := b.arriveMessage(all)
	deliveries := map[string]bool{"ned": true, "sam": true, "ben": true}
	same(t, "reached", wakesByRecipient(w.DeliveriesOf(m.ID)), deliveries)
	where := w.ConversationAs("user", "broadcast")
	same(t, "where", where.ID, m.Conversation)
	same(t, "visibility", where.Visibility, parley.Private)
	same(t, "members", where.Members, []string{"ned", "sam", "ana", "ben"})
	copied := all
	copied.Path = "sam/inbox/" + all.Name + ".json"
	same(t, "another file of it", b.arrive(copied)[0], parley.Arrived{Message: m.ID, Duplicate: true})
	tier := b.document("ben", parley.All, "")
	tier.ToTier, tier.Draft = parley.TierPM, parley.Draft{Type: parley.TypeNotification, Content: text("note")}
	same(t, "of a tier", wakesByRecipient(w.DeliveriesOf(b.arriveMessage(tier).ID)), map[string]bool{"sam": false})
	w.SetInboxDepth("ned", 1, parley.OverflowEvict)
	got := b.arrive(b.document("ana", parley.All, "more"))[0]
	same(t, "who is behind", wakesByRecipient(w.DeliveriesOf(got.Message)), map[string]bool{"ned": false, "sam": true, "ben": true})
	same(t, "said", got.Notices, []string{"ned was not woken: its inbox is full"})
}

func TestRequestsForNobodyGoToTheQueueAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"ana"}})
	request := func(payload string) parley.Arrival {
		a := b.document("ana", "", "")
		a.Path, a.Queue = "inbox/"+a.Name+".json", true
		a.Draft = parley.Draft{Type: parley.TypeRequest, Payload: []byte(payload)}
		return a
	}
	first := request(`{"action":"task.assign","params":{"text":"count the sheep"}}`)
	same(t, "hint", b.arriveRefused(first, parley.Unavailable), "add it: parley agent add gm")
	w.AddScriptAgents("gm")
	task := w.TaskByID(b.arriveMessage(first).Task)
	same(t, "task", []string{task.Title, task.Requester, task.Assignee}, []string{"count the sheep", "ana", "gm"})
	other := b.arriveMessage(request(`{"action":"resource.request","params":{"message":"a printer"}}`))
	same(t, "whatever it asks for", w.TaskByID(other.Task).Assignee, "gm")
}

// A file of a supervised agent waits for an approval like anything else it posts.
func TestHeldDocument(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	w.EditAgent("ana", func(a *parley.Agent) { a.Mode = parley.ModeSupervised })
	a := b.document("ana", "ned", "hello")
	got := b.arrive(a)[0]
	if got.Error != nil || len(got.Notices) != 1 || !strings.HasPrefix(got.Notices[0], "it waits for an approval: ") {
		t.Fatalf("not held: %+v", got)
	}
	same(t, "again", b.arrive(a)[0], parley.Arrived{Duplicate: true})
	pending, err := w.Approvals(ctx, user, parley.ApprovalFilter{})
	w.NoError(err)
	w.DecideAs("user", pending[0].ID, parley.Decision{Approve: true})
	posted := b.sent()
	same(t, "posted", textsOf(posted), []string{"hello"})
	same(t, "source", posted[0].Source, "file")
}

// A document that mentions nobody says so to its tree, and one that was held to whoever had it approved.
func TestUnknownMentionInADocumentIsNamed(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	got := b.arrive(b.document("ana", "ned", "ask @nedd"))[0]
	same(t, "said", got.Notices, []string{"nobody is called @nedd: did you mean ned?"})
	w.EditAgent("ned", func(a *parley.Agent) { a.Mode = parley.ModeSupervised })
	_, err := w.Post(ctx, as("ned"), parley.Draft{Conversation: "general", Content: text("ask @annna")})
	decided := w.DecideAs("user", w.HeldApproval(err).ID, parley.Decision{Approve: true})
	if result := decided.Result; !strings.Contains(result, "Note: nobody is called @annna: did you mean ana?") {
		t.Errorf("returned %q", result)
	}
}

// TestTheSameIDUnderTwoNamesIsDeliveredOnce: the id of a document is what tells it from others, not the name of its file.
func TestTheSameIDUnderTwoNamesIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	for layout, join := range refusedTrees {
		t.Run(string(layout), func(t *testing.T) {
			w := newHub(t)
			w.AddScriptAgents("ned", "gil")
			b := join(w)
			first := b.document("ana", "ned", "hello")
			again := first
			again.Path += "-copy.json"
			together := b.arrive(first, again)
			if together[0].Error != nil || together[0].Duplicate || together[0].Message == "" {
				t.Fatalf("the first: %+v", together[0])
			}
			later := first
			later.Path += "-later.json"
			for _, got := range []parley.Arrived{together[1], b.arrive(later)[0]} {
				if !got.Duplicate || got.Message != together[0].Message || len(got.Notices) != 1 || !strings.Contains(got.Notices[0], first.Name) {
					t.Errorf("under another name: %+v", got)
				}
			}
			same(t, "the log has it once", b.arrive(later)[0], parley.Arrived{Duplicate: true, Message: together[0].Message})
			same(t, "messages", len(b.all()), 1)
			unknown, err := b.Unknown(ctx, b.view.ID, []parley.BridgeFile{again.BridgeFile, later.BridgeFile})
			w.NoError(err)
			same(t, "not asked for again", len(unknown), 0)
			other := b.document("ben", "ned", "the same id from somebody else")
			other.Name = first.Name
			b.arriveMessage(other)
			if layout != parley.LayoutAgentOS {
				other = b.document("ana", "gil", "the same id to somebody else")
				other.Name = first.Name
				b.arriveMessage(other)
			}
		})
	}
}

// TestARefusedDocumentMayComeAgainUnderAnotherName: what was refused became no message.
func TestARefusedDocumentMayComeAgainUnderAnotherName(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinInboxTree(w)
	a := b.document("ana", "ned", "hello")
	b.arriveRefused(a, parley.BadInput)
	w.AddScriptAgents("ned")
	a.Path += "-again.json"
	b.arriveMessage(a)
}

func TestSequenceOfFiles(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	newest := w.LastEventNumber()
	for _, n := range []int64{1, 2, 5, 1, 2} {
		a := b.document("ana", "ned", "hello")
		a.Draft.Sequence = n
		same(t, "count", w.DeliveryOf(b.arriveMessage(a).ID, "ned").PairSeq, n)
	}
	gaps := slices.DeleteFunc(kindsAfter(w, newest), func(k parley.EventKind) bool { return k != parley.EventSequenceGap })
	same(t, "gaps", len(gaps), 1)
}

// The hub answers how an agent is doing, on every door, and wakes nobody for it.
func TestStatusQuery(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.AddAgents("ben")
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"ana"}})
	own := w.PostAs("ben", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeTask, Content: text("count")}).Message.Task
	w.PostAs("user", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeTask, Content: text("secret")})
	query := parley.Draft{Type: parley.TypeRequest, Payload: []byte(`{"action":"status.query"}`)}
	direct := query
	direct.Direct = []string{"ned"}
	asked := w.PostAs("ben", direct).Message
	byFile := b.document("ana", "ned", "")
	byFile.Draft = query
	arrived := b.arriveMessage(byFile)
	type reply struct {
		RequestID string `json:"requestId"`
		Status    string
		Result    struct {
			Status, State, Substate string
			Tasks                   []struct{ ID string }
		}
	}
	for who, c := range map[string]struct {
		request parley.Message
		id      string
		tasks   []struct{ ID string }
	}{"ben": {asked, asked.ID, []struct{ ID string }{{own}}}, "ana": {arrived, byFile.Name, nil}} {
		list, err := w.History(ctx, user, c.request.Conversation, parley.Page{})
		w.NoError(err)
		m := list[len(list)-1]
		var got reply
		w.NoError(json.Unmarshal(m.Payload, &got))
		same(t, "from", []string{m.From, m.To, m.InReplyTo}, []string{"ned", who, c.request.ID})
		same(t, "request", got.RequestID, c.id)
		same(t, "result", []string{got.Status, got.Result.Status, got.Result.State, got.Result.Substate}, []string{"success", "idle", "AWAKE", "IDLE"})
		same(t, "tasks", got.Result.Tasks, c.tasks)
		same(t, "the request", w.DeliveryState(c.request.ID, "ned"), parley.DeliveryAnswered)
	}
	same(t, "unknown actions go to the agent", w.PostAs("ben", parley.Draft{
		Direct: []string{"ned"}, Type: parley.TypeRequest, Payload: []byte(`{"action":"resource.request"}`),
	}).Deliveries[0].Waking, true)
}
