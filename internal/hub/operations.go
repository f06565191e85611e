package hub

import (
	"fmt"

	"github.com/parley-hub/parley"
)

// op names an operation of the hub. Every use case passes one to update, write or view, which ask the table of
// operations whether the caller may do it. A use case without an operation does not compile.
type op string

// The operations. HTTP routes have the same names.
const (
	opPostMessage   op = "post-message"
	opShowMessage   op = "show-message"
	opReadThread    op = "read-thread"
	opRedactMessage op = "redact-message"
	opReadTrace     op = "read-trace"
	opSearch        op = "search"

	opPeekInbox op = "peek-inbox"
	opTake      op = "take"
	opAck       op = "ack"
	opMarkShown op = "mark-shown"
	opNack      op = "nack"
	opExtend    op = "extend"
	opSee       op = "see"
	opSettle    op = "settle"
	opListDead  op = "list-dead"
	opRetryDead op = "retry-dead"
	opDropDead  op = "drop-dead"

	opListConversations  op = "list-conversations"
	opMakeConversation   op = "make-conversation"
	opShowConversation   op = "show-conversation"
	opChangeConversation op = "change-conversation"
	opDeleteConversation op = "delete-conversation"
	opJoin               op = "join"
	opLeave              op = "leave"
	opAddMember          op = "add-member"
	opRemoveMember       op = "remove-member"
	opListMessages       op = "list-messages"
	opReadContext        op = "read-context"
	opMarkRead           op = "mark-read"
	opExportConversation op = "export-conversation"

	opWhoami        op = "whoami"
	opWho           op = "who"
	opListProtocols op = "list-protocols"
	opListAgents    op = "list-agents"
	opAddAgent      op = "add-agent"
	opShowAgent     op = "show-agent"
	opChangeAgent   op = "change-agent"
	opRemoveAgent   op = "remove-agent"
	opSleep         op = "sleep"
	opWake          op = "wake"

	opContact      op = "contact"
	opAwaitOutcome op = "await-outcome"
	opListTasks    op = "list-tasks"
	opListAsks     op = "list-asks"
	opMakeTask     op = "make-task"
	opShowTask     op = "show-task"
	opReadTree     op = "read-tree"
	opUpdateTask   op = "update-task"
	opCancelTask   op = "cancel-task"
	opRetryTask    op = "retry-task"
	opReassignTask op = "reassign-task"

	opListApprovals   op = "list-approvals"
	opShowApproval    op = "show-approval"
	opDecideApproval  op = "decide-approval"
	opListPermissions op = "list-permissions"
	opPermit          op = "permit"
	opUnpermit        op = "unpermit"
	opCheckPermission op = "check-permission"

	opStoreArtifact  op = "store-artifact"
	opFetchArtifact  op = "fetch-artifact"
	opCountArtifacts op = "count-artifacts"

	opListTokens  op = "list-tokens"
	opMakeToken   op = "make-token"
	opRevokeToken op = "revoke-token"
	opMakeLink    op = "make-link"
	opEndSession  op = "end-session"

	opFollowEvents op = "follow-events"
	opStatus       op = "status"
	opAttention    op = "attention"
	opExportHub    op = "export-hub"
	opImportHub    op = "import-hub"
	opMakeBackup   op = "make-backup"
	opCheck        op = "check"
	opListAudit    op = "list-audit"
	opVerifyAudit  op = "verify-audit"

	opListBridges      op = "list-bridges"
	opAddBridge        op = "add-bridge"
	opShowBridge       op = "show-bridge"
	opChangeBridge     op = "change-bridge"
	opRemoveBridge     op = "remove-bridge"
	opUnknownFiles     op = "unknown-files"
	opArrive           op = "arrive"
	opListDepartures   op = "list-departures"
	opReportDepartures op = "report-departures"
	opBeat             op = "beat"
	opNoteBridge       op = "note-bridge"
	opListBridgeTasks  op = "list-bridge-tasks"

	opCommand      op = "command"
	opReportHealth op = "report-health"
	opResumePair   op = "resume-pair"
	opListRuns     op = "list-runs"
	opShowRun      op = "show-run"
	opReadOutput   op = "read-output"
	opCancelRun    op = "cancel-run"

	opReadLog op = "read-log"
	opMetrics op = "metrics"

	// What no route is for.
	opIdentify op = "identify" // find out who calls; a part of every other operation
	opActAs    op = "act-as"
	opPage     op = "page" // the pages of people who have signed in
	opSignIn   op = "sign-in"
	opItself   op = "itself" // work that the hub does by itself
)

// operations is the table: what each operation demands of its caller.
var operations = map[op]Operation{
	// Messages.
	opPostMessage:   {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: HeldSupervised},
	opShowMessage:   {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opReadThread:    {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opRedactMessage: {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "redact a message"},
	opReadTrace:     {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opSearch:        {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},

	// Inbox and dead letters.
	opPeekInbox: {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opTake:      {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opAck:       {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opMarkShown: {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opNack:      {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opExtend:    {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opSee:       {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opSettle:    {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opListDead:  {Scope: parley.ScopeAdmin, Who: Owner, Act: "see dead letters"},
	opRetryDead: {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "handle dead letters"},
	opDropDead:  {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "handle dead letters"},

	// Conversations.
	opListConversations:  {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opMakeConversation:   {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: HeldSupervised},
	opShowConversation:   {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opChangeConversation: {Scope: parley.ScopeSend, Who: MemberOrOwner, Changes: true, Held: HeldSupervised},
	opDeleteConversation: {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "delete a conversation"},
	opJoin:               {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: HeldSupervised},
	opLeave:              {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: HeldSupervised},
	opAddMember:          {Scope: parley.ScopeSend, Who: MemberOrOwner, Changes: true, Held: HeldSupervised},
	opRemoveMember:       {Scope: parley.ScopeSend, Who: MemberOrOwner, Changes: true, Held: HeldSupervised},
	opListMessages:       {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opReadContext:        {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opMarkRead:           {Scope: parley.ScopeSend, Who: MemberOrOwner, Changes: true, Held: NeverHeld},
	opExportConversation: {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},

	// Participants.
	opWhoami:        {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opWho:           {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opListProtocols: {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opListAgents:    {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opAddAgent:      {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "add an agent"},
	opShowAgent:     {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opChangeAgent:   {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "change an agent"},
	opRemoveAgent:   {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "remove an agent"},
	opSleep:         {Scope: parley.ScopeSend, Who: ManagerOrOwner, Changes: true, Held: NeverHeld},
	opWake:          {Scope: parley.ScopeSend, Who: ManagerOrOwner, Changes: true, Held: NeverHeld},

	// Contacts and tasks.
	opContact:      {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: HeldSupervised},
	opAwaitOutcome: {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opListTasks:    {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opListAsks:     {Scope: parley.ScopeRead, Who: Everyone, Held: HeldStrict},
	opMakeTask:     {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: HeldSupervised},
	opShowTask:     {Scope: parley.ScopeRead, Who: ConcernedOrOwner, Held: HeldStrict},
	opReadTree:     {Scope: parley.ScopeRead, Who: ConcernedOrOwner, Held: HeldStrict},
	opUpdateTask:   {Scope: parley.ScopeSend, Who: AssigneeOrOwner, Changes: true, Held: NeverHeld},
	opCancelTask:   {Scope: parley.ScopeSend, Who: RequesterOrOwner, Changes: true, Held: HeldSupervised},
	opRetryTask:    {Scope: parley.ScopeSend, Who: RequesterOrOwner, Changes: true, Held: HeldSupervised},
	opReassignTask: {Scope: parley.ScopeSend, Who: RequesterOrOwner, Changes: true, Held: HeldSupervised},

	// Approvals and rules.
	opListApprovals:   {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opShowApproval:    {Scope: parley.ScopeRead, Who: CallerOrDecider, Held: NeverHeld},
	opDecideApproval:  {Scope: parley.ScopeDecide, Who: Decider, Changes: true, Held: NeverHeld},
	opListPermissions: {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opPermit:          {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "make rules"},
	opUnpermit:        {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "remove rules"},
	opCheckPermission: {Scope: parley.ScopeRead, Who: AgentOrOwner, Held: NeverHeld},

	// Artifacts.
	opStoreArtifact:  {Scope: parley.ScopeSend, Who: Everyone, Changes: true, Held: NeverHeld},
	opFetchArtifact:  {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opCountArtifacts: {Scope: parley.ScopeAdmin, Who: Owner, Act: "see what is stored"},

	// Credentials.
	opListTokens:  {Scope: parley.ScopeRead, Who: SelfOrOwner, Held: NeverHeld},
	opMakeToken:   {Scope: parley.ScopeAdmin, Who: People, Changes: true},
	opRevokeToken: {Scope: parley.ScopeSend, Who: SelfOrOwner, Changes: true, Held: NeverHeld},
	opMakeLink:    {Scope: parley.ScopeAdmin, Who: People, Changes: true},
	opEndSession:  {Scope: parley.ScopeRead, Who: SessionOnly, Changes: true},

	// The hub as a whole.
	opFollowEvents: {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opStatus:       {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opAttention:    {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opExportHub:    {Scope: parley.ScopeAdmin, Who: Owner, Act: "export the hub"},
	opImportHub:    {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "import a hub"},
	opMakeBackup:   {Scope: parley.ScopeAdmin, Who: LocalOwner, Changes: true, Act: "make a backup"},
	opCheck:        {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "check what is stored"},
	opListAudit:    {Scope: parley.ScopeAdmin, Who: Owner, Act: "read the audit log"},
	opVerifyAudit:  {Scope: parley.ScopeAdmin, Who: Owner, Act: "verify the audit log"},

	// Bridges.
	opListBridges:      {Scope: parley.ScopeAdmin, Who: Owner, Act: "see bridges"},
	opAddBridge:        {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "change bridges"},
	opShowBridge:       {Scope: parley.ScopeAdmin, Who: Owner, Act: "use a bridge"},
	opChangeBridge:     {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "change bridges"},
	opRemoveBridge:     {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "change bridges"},
	opUnknownFiles:     {Scope: parley.ScopeAdmin, Who: Owner, Act: "use a bridge"},
	opArrive:           {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "use a bridge"},
	opListDepartures:   {Scope: parley.ScopeAdmin, Who: Owner, Act: "use a bridge"},
	opReportDepartures: {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "use a bridge"},
	opBeat:             {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "use a bridge"},
	opNoteBridge:       {Scope: parley.ScopeAdmin, Who: Owner, Changes: true, Act: "use a bridge"},
	opListBridgeTasks:  {Scope: parley.ScopeAdmin, Who: Owner, Act: "use a bridge"},

	// Commands and runs.
	opCommand:      {Scope: parley.ScopeSend, Who: SuperiorOrOwner, Changes: true, Held: NeverHeld},
	opReportHealth: {Scope: parley.ScopeSend, Who: Self, Changes: true, Held: NeverHeld},
	opResumePair:   {Scope: parley.ScopeSend, Who: SuperiorOrOwner, Changes: true, Held: NeverHeld},
	opListRuns:     {Scope: parley.ScopeRead, Who: Everyone, Held: NeverHeld},
	opShowRun:      {Scope: parley.ScopeRead, Who: RunnerOrOwner, Held: NeverHeld},
	opReadOutput:   {Scope: parley.ScopeRead, Who: RunnerOrOwner, Held: NeverHeld},
	opCancelRun:    {Scope: parley.ScopeSend, Who: ManagerOrOwner, Changes: true, Held: NeverHeld},

	// Observing.
	opReadLog: {Scope: parley.ScopeAdmin, Who: Owner, Act: "read the message log"},
	opMetrics: {Scope: parley.ScopeRead, Who: Owner, Act: "read the metrics"},

	// What no route is for.
	opIdentify: {Who: Everyone, Held: NeverHeld},
	opPage:     {Scope: parley.ScopeRead, Who: SessionOnly},
	opActAs:    {Who: Owner, Changes: true, Act: "act as somebody else"},
	opSignIn:   {Who: Anyone, Changes: true},
	opItself:   {Who: Itself, Changes: true},
}

// rule is the operation's row in the table. An operation without one is a mistake in the program.
func (o op) rule() Operation {
	rule, known := operations[o]
	if !known {
		panic(fmt.Sprintf("hub: the operation %q has no rule", string(o)))
	}
	rule.ID, rule.Work = string(o), o.work()
	return rule
}

// Operations returns the table of operations: what each demands of its caller, by its name.
func Operations() map[string]Operation {
	list := map[string]Operation{}
	for o := range operations {
		list[string(o)] = o.rule()
	}
	return list
}
