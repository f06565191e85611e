package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestAddBridge(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ana")
	w.SendDM("user", "ana", "before")
	newest := w.LastEventNumber()
	view := resultOf[parley.BridgeView](w)(w.AddBridge(ctx, user, parley.NewBridge{
		Layout: parley.LayoutBlackboard, Root: "/srv/My Board/", Agents: []string{"Ana", "script", "ana"},
	}))
	want := parley.Bridge{
		ID: "blackboard-my-board", Layout: parley.LayoutBlackboard, Root: "/srv/My Board", Agents: []string{"ana", "script"},
		QueueAgent: "gm", CreatedBy: "user", CreatedAt: began, Since: newest,
	}
	same(t, "added", view, parley.BridgeView{Bridge: want, State: parley.BridgeLooking, Notices: []string{
		"ana does not live in the tree: its runtime is script; scripts may send as this agent, and messages to it stay in the hub",
		"script was added: it lives in the tree",
	}})
	same(t, "events", kindsAfter(w, newest), []parley.EventKind{parley.EventAgentAdded, parley.EventBridgeAdded})
	script := resultOf[parley.Agent](w)(w.Agent(ctx, user, "script"))
	same(t, "runtime", script.Runtime, parley.RuntimeBridge)
	same(t, "protocols", script.Protocols, []string{"clawos/1.0"})
	ana := resultOf[parley.Agent](w)(w.Agent(ctx, user, "ana"))
	same(t, "what was there", ana.Runtime, parley.RuntimeScript)
	log := w.AuditEntries()
	same(t, "audited", log[len(log)-1].Act, "bridge.add")
	same(t, "listed", resultOf[[]parley.BridgeView](w)(w.Bridges(ctx, user)), []parley.BridgeView{{Bridge: want, State: parley.BridgeLooking}})
	select {
	case <-w.BridgesChanged():
	default:
		t.Error("nobody was told")
	}
}

const hintJoined = "change that bridge: parley bridge set tree; or remove it first: parley bridge remove tree"

// TestAnAgentOfABridgeStaysUntilItIsTakenOut: else the bridge would list somebody who is not there, by a name that nobody can have again.
func TestAnAgentOfABridgeStaysUntilItIsTakenOut(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	joinInboxTree(w)
	remove := func(id string) func() error { return func() error { return w.RemoveAgent(ctx, user, id) } }
	const speaks = " cannot be removed, because the bridge inbox-inbox lists it"
	w.assertRefusals(t, []refusal{{
		"one of two", remove("ana"),
		refusalError(parley.BadInput, parley.Conflict, "ana"+speaks, "remove the agent from the bridge first: parley bridge set inbox-inbox --agents ben"),
	}})
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, "inbox-inbox", parley.BridgeChange{Agents: &[]string{"ben"}}))
	w.NoError(remove("ana")())
	w.assertRefusals(t, []refusal{{
		"the last", remove("ben"),
		refusalError(parley.BadInput, parley.Conflict, "ben"+speaks, "the bridge lists no other agent, so remove the bridge first: parley bridge remove inbox-inbox"),
	}})
}

// TestAPausedBridgeHasNoTrouble: nothing keeps it from what it is not to do.
func TestAPausedBridgeHasNoTrouble(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	tree := joinInboxTree(w)
	w.NoError(tree.NoteBridge(ctx, tree.view.ID, parley.BridgeStatus{Running: true, Trouble: "no space left"}))
	trouble := func() string { return resultOf[[]parley.BridgeView](w)(w.Bridges(ctx, user))[0].Status.Trouble }
	same(t, "running", trouble(), "no space left")
	w.pauseBridge(tree.view.ID, true)
	same(t, "paused", trouble(), "")
	same(t, "shown", resultOf[parley.BridgeView](w)(tree.Bridge(ctx, tree.view.ID)).Status.Trouble, "")
}

func TestBridgeRefusals(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("ana", "gone")
	w.AddPerson("tess", parley.AccessOwner)
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	w.joinBridge(parley.NewBridge{ID: "tree", Layout: parley.LayoutInbox, Root: "/srv/tree", Agents: []string{"ana"}})
	add := func(caller string, n parley.NewBridge) func() error {
		return func() error {
			_, err := w.AddBridge(ctx, as(caller), n)
			return err
		}
	}
	valid := func(change func(*parley.NewBridge)) parley.NewBridge {
		n := parley.NewBridge{Layout: parley.LayoutAgentOS, Root: "/srv/other", Agents: []string{"ana"}}
		change(&n)
		return n
	}
	bad := func(sentence, hint string) *parley.Error { return refusalError(parley.BadInput, "", sentence, hint) }
	w.assertRefusals(t, []refusal{
		{
			"by an agent", add("ana", valid(func(*parley.NewBridge) {})),
			refusalError(parley.NotPermitted, "", "only an owner may change bridges", "ask an owner of this hub"),
		},
		{
			"layout", add("user", valid(func(n *parley.NewBridge) { n.Layout = "maildir" })),
			bad(`unknown layout "maildir"`, "use agentos, blackboard or inbox"),
		},
		{
			"relative", add("user", valid(func(n *parley.NewBridge) { n.Root = "tree" })),
			bad(`the directory "tree" is not absolute`, "give a path that begins with /: the hub does not know your current directory"),
		},
		{
			"everything", add("user", valid(func(n *parley.NewBridge) { n.Root = "/srv/.." })),
			bad("/ cannot be the root of a bridge", "give the root directory of the tree"),
		},
		{
			"nobody speaks", add("user", valid(func(n *parley.NewBridge) { n.Agents = nil })),
			bad("the bridge has no agents that may send through it", "name the agents of the tree, as in --agents claude,codex"),
		},
		{
			"a person speaks", add("user", valid(func(n *parley.NewBridge) { n.Agents = []string{"tess"} })),
			bad("tess is not an agent", "files can be from agents only, not from people or the hub"),
		},
		{
			"the hub speaks", add("user", valid(func(n *parley.NewBridge) { n.Agents = []string{"parley"} })),
			bad("parley is not an agent", "files can be from agents only, not from people or the hub"),
		},
		{
			"one that was removed speaks", add("user", valid(func(n *parley.NewBridge) { n.Agents = []string{"gone"} })),
			refusalError(parley.Unavailable, parley.Gone, "gone was removed", "name another agent: the names of removed agents stay reserved"),
		},
		{
			"a name that can be nobody's", add("user", valid(func(n *parley.NewBridge) { n.Agents = []string{"all"} })),
			bad(`the name "all" is reserved`, "choose another name"),
		},
		{
			"channels of inboxes", add("user", valid(func(n *parley.NewBridge) { n.Layout, n.Channels = parley.LayoutInbox, []string{"x"} })),
			bad("only the layout agentos has channels", "leave channels out"),
		},
		{
			"a channel", add("user", valid(func(n *parley.NewBridge) { n.Channels = []string{"Not One"} })),
			bad(`"Not One" is not a channel name`, "a channel name is 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit"),
		},
		{
			"a queue of channels", add("user", valid(func(n *parley.NewBridge) { n.QueueAgent = "ana" })),
			bad("only the layout blackboard has requests without a recipient", "leave the queue agent out"),
		},
		{
			"a queue of nobody", add("user", valid(func(n *parley.NewBridge) { n.Layout, n.QueueAgent = parley.LayoutBlackboard, "nobody" })),
			notFoundError("agent", "nobody", listAgents),
		},
		{
			"the same id", add("user", valid(func(n *parley.NewBridge) { n.ID = "tree" })),
			refusalError(parley.BadInput, parley.Conflict, "the hub already has a bridge tree", "choose another id with --name"),
		},
		{
			"the same tree", add("user", valid(func(n *parley.NewBridge) { n.Layout, n.Root = parley.LayoutInbox, "/srv/x/../tree" })),
			refusalError(parley.BadInput, parley.Conflict, "/srv/tree is already connected by the bridge tree", hintJoined),
		},
		{
			"the same tree and id", add("user", valid(func(n *parley.NewBridge) { n.ID, n.Layout, n.Root = "tree", parley.LayoutInbox, "/srv/tree" })),
			refusalError(parley.BadInput, parley.Conflict, "/srv/tree is already connected by the bridge tree", hintJoined),
		},
		{
			"the same tree in another layout", add("user", valid(func(n *parley.NewBridge) { n.Root = "/srv/tree" })),
			refusalError(parley.BadInput, parley.Conflict, "/srv/tree is already connected by the bridge tree", hintJoined),
		},
		{
			"listed by an agent", func() error { _, err := w.Bridges(ctx, as("ana")); return err },
			refusalError(parley.NotPermitted, "", "only an owner may see bridges", "ask an owner of this hub"),
		},
		{
			"used by an agent", func() error { _, err := w.BridgeAt(as("ana")).Bridge(ctx, "tree"); return err },
			refusalError(parley.NotPermitted, "", "only an owner may use a bridge", "ask an owner of this hub"),
		},
		{
			"arrivals by an agent", func() error { _, err := w.BridgeAt(as("ana")).Arrive(ctx, "tree", nil); return err },
			refusalError(parley.NotPermitted, "", "only an owner may use a bridge", "ask an owner of this hub"),
		},
		{"one that there is not", func() error { return w.RemoveBridge(ctx, user, "none") }, notFoundError("bridge", "none", listBridges)},
		{"one that there nearly is", func() error { return w.RemoveBridge(ctx, user, "tre") }, notFoundError("bridge", "tre", "did you mean tree? L"+listBridges[1:])},
		{"changed channels", func() error {
			_, err := w.ChangeBridge(ctx, user, "tree", parley.BridgeChange{Channels: &[]string{"x"}})
			return err
		}, bad("only the layout agentos has channels", "leave channels out")},
	})
}

func TestChangeAndRemoveBridge(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	since := w.LastEventNumber()
	paused := true
	view := resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, b.view.ID, parley.BridgeChange{
		Agents: &[]string{"ana", "codex"}, Channels: &[]string{"general"}, Paused: &paused,
	}))
	same(t, "agents", view.Agents, []string{"ana", "codex"})
	same(t, "channels", view.Channels, []string{"general"})
	same(t, "paused", view.Paused, true)
	same(t, "notices", view.Notices, []string{"codex was added: it lives in the tree"})
	b.arriveRefused(b.document("ben", "", "hello"), parley.NotPermitted)
	again := resultOf[parley.BridgeView](w)(b.Bridge(ctx, b.view.ID))
	view.Notices = nil
	same(t, "kept", again, view)
	w.NoError(w.RemoveBridge(ctx, user, b.view.ID))
	_, err := b.Bridge(ctx, b.view.ID)
	w.assertNotFound("the bridge", err)
	same(t, "events", kindsAfter(w, since), []parley.EventKind{parley.EventAgentAdded, parley.EventBridgeChanged, parley.EventBridgeRemoved})
}

func TestBridgeStatusIsShown(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	status := parley.BridgeStatus{Running: true, Imported: 3, Trouble: "the disk is full"}
	w.NoError(b.NoteBridge(ctx, b.view.ID, status))
	same(t, "shown", resultOf[[]parley.BridgeView](w)(w.Bridges(ctx, user))[0].Status, status)
	w.assertNotFound("of another", b.NoteBridge(ctx, "other", status))
}

// TestAnAgentThatDoesNotLiveInTheTreeIsSaidSo: the hub runs it, and files in its name are all that the bridge takes from there.
func TestAnAgentThatDoesNotLiveInTheTreeIsSaidSo(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutInbox, Agents: []string{"ned", "ana"}})
	if got := b.view.Notices; len(got) != 2 || !strings.HasPrefix(got[0], "ned does not live in the tree: its runtime is ") || got[1] != "ana was added: it lives in the tree" {
		t.Errorf("notices when it is added: %q", got)
	}
	resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "poller"}))
	agents := []string{"ana", "poller"}
	polls := resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, b.view.ID, parley.BridgeChange{Agents: &agents}))
	same(t, "an agent without a runtime", polls.Notices, []string{
		"poller does not live in the tree: it polls its own inbox; scripts may send as this agent, and messages to it stay in the hub",
	})
	agents = []string{"ana", "ned"}
	changed := resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, b.view.ID, parley.BridgeChange{Agents: &agents}))
	if got := changed.Notices; len(got) != 1 || !strings.HasPrefix(got[0], "ned does not live in the tree") {
		t.Errorf("notices when it is changed: %q", got)
	}
}

// Presence files say whether somebody is there; where there are none, anything that it does says so for a while.
func TestPresenceFilesAndDocumentsShowAnAgentAsOnline(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	status := func(id string) string { return resultOf[parley.AgentView](w)(w.AgentView(ctx, user, id)).Status }
	beat := func(state parley.State, at time.Time) {
		w.NoError(b.Beat(ctx, b.view.ID, []parley.Beat{{Agent: "ana", State: state, At: at}, {Agent: "user", State: state, At: at}}))
	}
	same(t, "at first", status("ana"), parley.StatusOffline)
	b.arriveMessage(b.document("ana", "", "hello"))
	same(t, "after a post", status("ana"), parley.StatusOffline)
	beat(parley.Awake, w.Clock.Now().Add(-2*parley.PresenceInterval))
	same(t, "after an old beat", status("ana"), parley.StatusOffline)
	beat(parley.Awake, w.Clock.Now().Add(time.Hour))
	same(t, "after a beat", status("ana"), parley.StatusIdle)
	w.Clock.Advance(2*parley.PresenceInterval - time.Second)
	same(t, "within twice its interval", status("ana"), parley.StatusIdle)
	w.Clock.Advance(time.Second)
	same(t, "after a silence", status("ana"), parley.StatusOffline)
	beat(parley.Awake, w.Clock.Now())
	beat(parley.Offline, w.Clock.Now())
	same(t, "after it has left", status("ana"), parley.StatusOffline)

	inboxes := w.joinBridge(parley.NewBridge{Layout: parley.LayoutInbox, Agents: []string{"cora"}})
	w.AddScriptAgents("ned")
	inboxes.arriveMessage(inboxes.document("cora", "ned", "hello"))
	w.Clock.Advance(30*time.Minute - time.Second)
	same(t, "after a document", status("cora"), parley.StatusIdle)
	w.Clock.Advance(time.Second)
	same(t, "long after it", status("cora"), parley.StatusOffline)
}

// TestPresenceFileSetsTheStatusOfItsAgent: an agent that says it works is working, until it says otherwise or is silent for twice
// the interval that it names. Those who follow the events see each change.
func TestPresenceFileSetsTheStatusOfItsAgent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	view := func() parley.AgentView { return resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "ana")) }
	beat := func(s parley.Substate, interval int64) {
		w.NoError(b.Beat(ctx, b.view.ID, []parley.Beat{{Agent: "ana", State: parley.Awake, Substate: s, At: w.Clock.Now(), Interval: interval}}))
	}
	seen := func() []string {
		newest := w.LastEventNumber()
		w.NoError(w.SweepAttendance(ctx))
		var kinds []string
		for _, k := range kindsAfter(w, newest) {
			kinds = append(kinds, string(k))
		}
		return kinds
	}
	beat(parley.Working, 0)
	same(t, "it works", []string{view().Status, string(view().Substate)}, []string{parley.StatusWorking, string(parley.Working)})
	same(t, "events", seen(), []string{"agent.presence"})
	beat(parley.Working, 0)
	same(t, "no news", seen(), []string(nil))
	beat(parley.Idle, 0)
	same(t, "it is idle", view().Status, parley.StatusIdle)
	same(t, "events", seen(), []string{"agent.presence"})
	w.Clock.Advance(time.Hour)
	beat(parley.Working, 10)
	w.Clock.Advance(19 * time.Second)
	same(t, "within twice its own interval", view().Status, parley.StatusWorking)
	w.Clock.Advance(time.Second)
	same(t, "after it", []string{view().Status, view().Reason}, []string{parley.StatusOffline, parley.ReasonAway})
	beat(parley.Working, 0)
	w.NoError(b.Beat(ctx, b.view.ID, []parley.Beat{{Agent: "ana", State: parley.Offline, At: w.Clock.Now()}}))
	beat("", 0)
	same(t, "it came back and says nothing", view().Status, parley.StatusIdle)
}

func TestBridgeTasks(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned", "gm")
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"ana"}})
	work := func(from, to string) string {
		return w.PostAs(from, parley.Draft{Direct: []string{to}, Type: parley.TypeTask, Content: text("work")}).Message.Task
	}
	ids := func(after int64) (list []string, upTo int64) {
		found := resultOf[parley.BridgeTasks](w)(b.BridgeTasks(ctx, b.view.ID, after))
		for _, task := range found.Tasks {
			list = append(list, task.ID)
		}
		return list, found.UpTo
	}
	assigned, foreign, queued := work("user", "ana"), work("user", "ned"), work("user", "gm")
	requested := b.arriveMessage(forWork(b.document("ana", "ned", "please"))).Task
	list, upTo := ids(0)
	same(t, "all", list, []string{assigned, queued, requested})
	list, next := ids(upTo)
	same(t, "none since", list, []string{})
	w.EndRun(w.StartRun("ned"), "done")
	w.EndRun(w.StartRun("ned"), "done")
	list, _ = ids(next)
	same(t, "what has changed", list, []string{requested})
	same(t, "what is others'", w.TaskByID(foreign).Status, parley.TaskCompleted)
}

// TestFailedRunsOfATreeOfChannels: a bridge learns which runs have failed for what was said in its channels, and for nothing else.
func TestFailedRunsOfATreeOfChannels(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	look := func(after int64) parley.BridgeTasks {
		return resultOf[parley.BridgeTasks](w)(b.BridgeTasks(ctx, b.view.ID, after))
	}
	a := b.document("ana", "ned", "before")
	b.arriveMessage(a)
	w.FailRunWith(w.StartRun("ned"), parley.FailureFinal)
	first := look(0)
	same(t, "what has failed before", len(first.FailedRuns), 0)
	a = b.document("ana", "ned", "hello")
	b.arriveMessage(a)
	run := w.FailRunWith(w.StartRun("ned"), parley.FailureFinal)
	w.PostAs("user", parley.Draft{Direct: []string{"ned"}, Content: text("in private")})
	w.FailRunWith(w.StartRun("ned"), parley.FailureFinal)
	found := look(first.UpTo)
	if len(found.FailedRuns) != 1 {
		t.Fatalf("failed: %+v", found.FailedRuns)
	}
	got := found.FailedRuns[0]
	same(t, "the run", []string{got.Run, got.Agent, got.Channel, got.Name}, []string{run.ShortName(), "ned", "general", a.Name})
	if got.Error == nil || !strings.Contains(got.Error.Message, "it broke") || got.Attempt != 1 || got.At.IsZero() {
		t.Errorf("why: %+v", got)
	}
	same(t, "afterwards", len(look(found.UpTo).FailedRuns), 0)
}

func forWork(a parley.Arrival) parley.Arrival {
	a.Draft.Type = parley.TypeTask
	return a
}

// That a bridge has been at its tree is kept, until an owner lets it go on with whatever is there.
func TestABridgeHasReachedItsTree(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinInboxTree(w)
	reached := func() bool { return resultOf[parley.BridgeView](w)(b.Bridge(ctx, b.view.ID)).Reached }
	now := w.Clock.Now()
	w.NoError(b.NoteBridge(ctx, b.view.ID, parley.BridgeStatus{Running: true, Trouble: "the directory is gone"}))
	same(t, "before it has looked", reached(), false)
	w.NoError(b.NoteBridge(ctx, b.view.ID, parley.BridgeStatus{Running: true, ScannedAt: &now}))
	same(t, "when it has looked", reached(), true)
	w.pauseBridge(b.view.ID, false)
	same(t, "not paused", reached(), true)
	w.pauseBridge(b.view.ID, true)
	w.NoError(b.NoteBridge(ctx, b.view.ID, parley.BridgeStatus{ScannedAt: &now}))
	same(t, "paused", reached(), true)
	w.pauseBridge(b.view.ID, false)
	same(t, "resumed", reached(), false)
}
