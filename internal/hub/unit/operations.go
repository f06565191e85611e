package unit

import (
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
)

// Operation is what the hub demands of the caller of a use case.
type Operation struct {
	ID      string
	Scope   parley.Scope // the scope that the credential needs; empty: any credential
	Callers Callers
	Changes bool
	Kind    CallKind
	Held    Holding // when a call of an agent needs an approval; empty where agents may not call it
	Act     string  // the operation in words, for the error "only an owner may …"
}

// Callers says which participants may call an operation. Before a use case the hub checks the rules that depend on the caller
// alone. The use case checks a rule that depends on the subject of the call.
type Callers string

// The rules.
const (
	Anyone         Callers = "anyone"            // even without a credential
	Everyone       Callers = "every participant" // each sees only what it may read
	Owner          Callers = "owners"
	LocalOwner     Callers = "owners, by the local socket"
	People         Callers = "owners, and people for themselves"
	SelfOrOwner    Callers = "its holder, and owners"
	ManagerOrOwner Callers = "the agent itself, its manager, and owners"
	MemberOrOwner  Callers = "those who take part, and owners"
	SessionOnly    Callers = "people who have signed in with a browser"
	Itself         Callers = "the hub itself"

	Self            Callers = "the agent itself"
	SuperiorOrOwner Callers = "the agent's manager, and owners"
	RunnerOrOwner   Callers = "the agent whose run it is, and owners"

	AgentOrOwner     Callers = "the agent itself, and owners"
	ConcernedOrOwner Callers = "those who asked for the task or for one it is part of, its assignee, and owners"
	AssigneeOrOwner  Callers = "the task's assignee, and owners"
	RequesterOrOwner Callers = "those who asked for the task or for one it is part of, and owners"
	CallerOrDecider  Callers = "the agent whose call it is, its manager, and owners"
	Decider          Callers = "the manager of the agent whose call it is, and owners; never the agent itself"
)

// Known reports whether the rule exists.
func (w Callers) Known() bool {
	return slices.Contains([]Callers{
		Anyone, Everyone, Owner, LocalOwner, People, SelfOrOwner, ManagerOrOwner, MemberOrOwner, SessionOnly, Itself, Self, SuperiorOrOwner,
		RunnerOrOwner, AgentOrOwner, ConcernedOrOwner, AssigneeOrOwner, RequesterOrOwner, CallerOrDecider, Decider,
	}, w)
}

// Holding says in which modes of an agent a call of an operation needs an approval.
type Holding string

// When a call needs an approval.
const (
	NeverHeld      Holding = "never"
	HeldStrict     Holding = "strict"
	HeldSupervised Holding = "supervised and strict"
)

// Admits returns why the credential of a caller does not allow the operation, or nil.
func (o Operation) Admits(caller Caller) error {
	switch {
	case o.Callers == Itself:
		if caller.Agent != parley.System || !caller.InProcess() {
			return parley.Errorf(parley.NotPermitted, "only the hub itself may do this").Suggest("leave it to the hub")
		}
	case caller.InProcess():
	case o.Scope != "" && !caller.Scopes.Has(o.Scope):
		return parley.Errorf(parley.NotPermitted, "this needs a credential with the scope %s", o.Scope).
			Suggest("ask an owner of this hub for a token with this scope")
	case o.Callers == SessionOnly && caller.Kind != parley.TokenSession:
		return parley.Errorf(parley.NotPermitted, "only people who have signed in with a browser can do this").
			Suggest("to end a token, run parley token revoke")
	case o.Callers == LocalOwner && !caller.Local:
		return parley.Errorf(parley.NotPermitted, "only callers on the hub's own machine can do this").
			Suggest("use parley on the machine of the hub, without PARLEY_URL")
	}
	return nil
}

// The operations. HTTP routes have the same names.
const (
	OpPostMessage   Op = "post-message"
	OpShowMessage   Op = "show-message"
	OpReadThread    Op = "read-thread"
	OpRedactMessage Op = "redact-message"
	OpReadTrace     Op = "read-trace"
	OpSearch        Op = "search"

	OpPeekInbox Op = "peek-inbox"
	OpTake      Op = "take"
	OpAck       Op = "ack"
	OpMarkShown Op = "mark-shown"
	OpNack      Op = "nack"
	OpExtend    Op = "extend"
	OpSee       Op = "see"
	OpSettle    Op = "settle"
	OpListDead  Op = "list-dead"
	OpRetryDead Op = "retry-dead"
	OpDropDead  Op = "drop-dead"

	OpListConversations  Op = "list-conversations"
	OpMakeConversation   Op = "make-conversation"
	OpShowConversation   Op = "show-conversation"
	OpChangeConversation Op = "change-conversation"
	OpDeleteConversation Op = "delete-conversation"
	OpJoin               Op = "join"
	OpLeave              Op = "leave"
	OpAddMember          Op = "add-member"
	OpRemoveMember       Op = "remove-member"
	OpListMessages       Op = "list-messages"
	OpReadContext        Op = "read-context"
	OpMarkRead           Op = "mark-read"
	opExportConversation Op = "export-conversation"

	OpRemember   Op = "remember"
	OpRecall     Op = "recall"
	OpForget     Op = "forget"
	OpRedactNote Op = "redact-note"

	opWhoami        Op = "whoami"
	OpWho           Op = "who"
	OpReadNames     Op = "read-names"
	OpListSessions  Op = "list-sessions"
	OpOpenSession   Op = "open-session"
	OpListProtocols Op = "list-protocols"
	OpListAgents    Op = "list-agents"
	OpAddAgent      Op = "add-agent"
	OpShowAgent     Op = "show-agent"
	OpChangeAgent   Op = "change-agent"
	OpRemoveAgent   Op = "remove-agent"
	OpSleep         Op = "sleep"
	OpWake          Op = "wake"

	// The endpoint of MCP. Each call of a tool is an operation of its own besides.
	opCallMCP   Op = "call-mcp"
	opFollowMCP Op = "follow-mcp"
	opEndMCP    Op = "end-mcp"

	OpContact      Op = "contact"
	OpAwaitOutcome Op = "await-outcome"
	OpListTasks    Op = "list-tasks"
	OpListAsks     Op = "list-asks"
	OpMakeTask     Op = "make-task"
	OpShowTask     Op = "show-task"
	OpReadTree     Op = "read-tree"
	OpUpdateTask   Op = "update-task"
	OpCancelTask   Op = "cancel-task"
	OpRetryTask    Op = "retry-task"
	OpReassignTask Op = "reassign-task"

	OpListApprovals   Op = "list-approvals"
	OpShowApproval    Op = "show-approval"
	OpDecideApproval  Op = "decide-approval"
	OpRequestToolUse  Op = "request-tool-use"
	OpListPermissions Op = "list-permissions"
	OpPermit          Op = "permit"
	OpUnpermit        Op = "unpermit"
	OpCheckPermission Op = "check-permission"

	OpStoreArtifact  Op = "store-artifact"
	OpFetchArtifact  Op = "fetch-artifact"
	OpCountArtifacts Op = "count-artifacts"

	OpListTokens  Op = "list-tokens"
	OpMakeToken   Op = "make-token"
	OpRevokeToken Op = "revoke-token"
	OpMakeLink    Op = "make-link"
	OpEndSession  Op = "end-session"

	OpFollowEvents Op = "follow-events"
	OpStatus       Op = "status"
	OpAttention    Op = "attention"
	OpExportHub    Op = "export-hub"
	OpImportHub    Op = "import-hub"
	OpMakeBackup   Op = "make-backup"
	OpCheck        Op = "check"
	OpListAudit    Op = "list-audit"
	OpVerifyAudit  Op = "verify-audit"

	OpListBridges      Op = "list-bridges"
	OpAddBridge        Op = "add-bridge"
	OpShowBridge       Op = "show-bridge"
	OpChangeBridge     Op = "change-bridge"
	OpRemoveBridge     Op = "remove-bridge"
	OpUnknownFiles     Op = "unknown-files"
	OpArrive           Op = "arrive"
	OpListDepartures   Op = "list-departures"
	OpReportDepartures Op = "report-departures"
	OpBeat             Op = "beat"
	OpNoteBridge       Op = "note-bridge"
	OpListBridgeTasks  Op = "list-bridge-tasks"

	opCommand      Op = "command"
	OpReportHealth Op = "report-health"
	OpResumePair   Op = "resume-pair"
	OpListRuns     Op = "list-runs"
	OpShowRun      Op = "show-run"
	OpReadOutput   Op = "read-output"
	OpCancelRun    Op = "cancel-run"

	OpReadLog Op = "read-log"
	OpMetrics Op = "metrics"

	// What no route is for.
	OpIdentify Op = "identify" // find the caller; a part of every other operation
	OpActAs    Op = "act-as"
	opPage     Op = "page" // the web pages of people who signed in
	OpSignIn   Op = "sign-in"
	OpItself   Op = "itself" // the hub's own work
)

// Op names an operation of the hub. Every use case passes one to Update, Write or View, which check in the table of
// operations whether the caller may do it. A use case without an operation does not compile.
type Op string

// operationTable is the table: what each operation demands of its caller.
var operationTable = map[Op]Operation{
	// Messages.
	OpPostMessage:   {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpShowMessage:   {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpReadThread:    {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpRedactMessage: {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "redact a message"},
	OpReadTrace:     {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpSearch:        {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},

	// Inbox and dead letters.
	OpPeekInbox: {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpTake:      {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpAck:       {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpMarkShown: {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpNack:      {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpExtend:    {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpSee:       {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpSettle:    {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpListDead:  {Scope: parley.ScopeAdmin, Callers: Owner, Act: "see dead letters"},
	OpRetryDead: {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "handle dead letters"},
	OpDropDead:  {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "handle dead letters"},

	// Conversations.
	OpListConversations:  {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpMakeConversation:   {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpShowConversation:   {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpChangeConversation: {Scope: parley.ScopeSend, Callers: MemberOrOwner, Changes: true, Held: HeldSupervised},
	OpDeleteConversation: {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "delete a conversation"},
	OpJoin:               {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpLeave:              {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpAddMember:          {Scope: parley.ScopeSend, Callers: MemberOrOwner, Changes: true, Held: HeldSupervised},
	OpRemoveMember:       {Scope: parley.ScopeSend, Callers: MemberOrOwner, Changes: true, Held: HeldSupervised},
	OpListMessages:       {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpReadContext:        {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpMarkRead:           {Scope: parley.ScopeSend, Callers: MemberOrOwner, Changes: true, Held: NeverHeld},
	opExportConversation: {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},

	// Notes. A write to the caller's own memory is held only for strict agents.
	OpRemember:   {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpRecall:     {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpForget:     {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpRedactNote: {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "redact a note"},

	// Participants.
	opWhoami:        {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpWho:           {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpReadNames:     {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpListSessions:  {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpOpenSession:   {Scope: parley.ScopeRead, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpListProtocols: {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpListAgents:    {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpAddAgent:      {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "add an agent"},
	OpShowAgent:     {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpChangeAgent:   {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "change an agent"},
	OpRemoveAgent:   {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "remove an agent"},
	OpSleep:         {Scope: parley.ScopeSend, Callers: ManagerOrOwner, Changes: true, Held: NeverHeld},
	OpWake:          {Scope: parley.ScopeSend, Callers: ManagerOrOwner, Changes: true, Held: NeverHeld},

	// MCP.
	opCallMCP:   {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	opFollowMCP: {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	opEndMCP:    {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},

	// Contacts and tasks.
	OpContact:      {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpAwaitOutcome: {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpListTasks:    {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpListAsks:     {Scope: parley.ScopeRead, Callers: Everyone, Held: HeldStrict},
	OpMakeTask:     {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: HeldSupervised},
	OpShowTask:     {Scope: parley.ScopeRead, Callers: ConcernedOrOwner, Held: HeldStrict},
	OpReadTree:     {Scope: parley.ScopeRead, Callers: ConcernedOrOwner, Held: HeldStrict},
	OpUpdateTask:   {Scope: parley.ScopeSend, Callers: AssigneeOrOwner, Changes: true, Held: NeverHeld},
	OpCancelTask:   {Scope: parley.ScopeSend, Callers: RequesterOrOwner, Changes: true, Held: HeldSupervised},
	OpRetryTask:    {Scope: parley.ScopeSend, Callers: RequesterOrOwner, Changes: true, Held: HeldSupervised},
	OpReassignTask: {Scope: parley.ScopeSend, Callers: RequesterOrOwner, Changes: true, Held: HeldSupervised},

	// Approvals and rules.
	OpListApprovals:   {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpShowApproval:    {Scope: parley.ScopeRead, Callers: CallerOrDecider, Held: NeverHeld},
	OpDecideApproval:  {Scope: parley.ScopeDecide, Callers: Decider, Changes: true, Held: NeverHeld},
	OpRequestToolUse:  {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpListPermissions: {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpPermit:          {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "make rules"},
	OpUnpermit:        {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "remove rules"},
	OpCheckPermission: {Scope: parley.ScopeRead, Callers: AgentOrOwner, Held: NeverHeld},

	// Artifacts.
	OpStoreArtifact:  {Scope: parley.ScopeSend, Callers: Everyone, Changes: true, Held: NeverHeld},
	OpFetchArtifact:  {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpCountArtifacts: {Scope: parley.ScopeAdmin, Callers: Owner, Act: "see what is stored"},

	// Credentials.
	OpListTokens:  {Scope: parley.ScopeRead, Callers: SelfOrOwner, Held: NeverHeld},
	OpMakeToken:   {Scope: parley.ScopeAdmin, Callers: People, Changes: true},
	OpRevokeToken: {Scope: parley.ScopeSend, Callers: SelfOrOwner, Changes: true, Held: NeverHeld},
	OpMakeLink:    {Scope: parley.ScopeAdmin, Callers: People, Changes: true},
	OpEndSession:  {Scope: parley.ScopeRead, Callers: SessionOnly, Changes: true},

	// The hub as a whole.
	OpFollowEvents: {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpStatus:       {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpAttention:    {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpExportHub:    {Scope: parley.ScopeAdmin, Callers: Owner, Act: "export the hub"},
	OpImportHub:    {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "import a hub"},
	OpMakeBackup:   {Scope: parley.ScopeAdmin, Callers: LocalOwner, Changes: true, Act: "make a backup"},
	OpCheck:        {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "check what is stored"},
	OpListAudit:    {Scope: parley.ScopeAdmin, Callers: Owner, Act: "read the audit log"},
	OpVerifyAudit:  {Scope: parley.ScopeAdmin, Callers: Owner, Act: "verify the audit log"},

	// Bridges.
	OpListBridges:      {Scope: parley.ScopeAdmin, Callers: Owner, Act: "see bridges"},
	OpAddBridge:        {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "change bridges"},
	OpShowBridge:       {Scope: parley.ScopeAdmin, Callers: Owner, Act: "use a bridge"},
	OpChangeBridge:     {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "change bridges"},
	OpRemoveBridge:     {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "change bridges"},
	OpUnknownFiles:     {Scope: parley.ScopeAdmin, Callers: Owner, Act: "use a bridge"},
	OpArrive:           {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "use a bridge"},
	OpListDepartures:   {Scope: parley.ScopeAdmin, Callers: Owner, Act: "use a bridge"},
	OpReportDepartures: {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "use a bridge"},
	OpBeat:             {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "use a bridge"},
	OpNoteBridge:       {Scope: parley.ScopeAdmin, Callers: Owner, Changes: true, Act: "use a bridge"},
	OpListBridgeTasks:  {Scope: parley.ScopeAdmin, Callers: Owner, Act: "use a bridge"},

	// Commands and runs.
	opCommand:      {Scope: parley.ScopeSend, Callers: SuperiorOrOwner, Changes: true, Held: NeverHeld},
	OpReportHealth: {Scope: parley.ScopeSend, Callers: Self, Changes: true, Held: NeverHeld},
	OpResumePair:   {Scope: parley.ScopeSend, Callers: SuperiorOrOwner, Changes: true, Held: NeverHeld},
	OpListRuns:     {Scope: parley.ScopeRead, Callers: Everyone, Held: NeverHeld},
	OpShowRun:      {Scope: parley.ScopeRead, Callers: RunnerOrOwner, Held: NeverHeld},
	OpReadOutput:   {Scope: parley.ScopeRead, Callers: RunnerOrOwner, Held: NeverHeld},
	OpCancelRun:    {Scope: parley.ScopeSend, Callers: ManagerOrOwner, Changes: true, Held: NeverHeld},

	// Observing.
	OpReadLog: {Scope: parley.ScopeAdmin, Callers: Owner, Act: "read the message log"},
	OpMetrics: {Scope: parley.ScopeRead, Callers: Owner, Act: "read the metrics"},

	// What no route is for.
	OpIdentify: {Callers: Everyone, Held: NeverHeld},
	opPage:     {Scope: parley.ScopeRead, Callers: SessionOnly},
	OpActAs:    {Callers: Owner, Changes: true, Act: "act as another participant"},
	OpSignIn:   {Callers: Anyone, Changes: true},
	OpItself:   {Callers: Itself, Changes: true},
}

// Rule returns the operation's row in the table. It panics if there is none, because that is a mistake in the program.
func (o Op) Rule() Operation {
	rule, known := operationTable[o]
	if !known {
		panic(fmt.Sprintf("hub: the operation %q has no rule", string(o)))
	}
	rule.ID, rule.Kind = string(o), o.kind()
	return rule
}

// Operations returns the table of operations by name.
func Operations() map[string]Operation {
	list := map[string]Operation{}
	for o := range operationTable {
		list[string(o)] = o.Rule()
	}
	return list
}
