package unit

// Load limits how many calls one participant may have under way, and how often it may read. The zero value of a field means
// its default. A number below zero means no limit.
type Load struct {
	Reads     Rate // reads a second; a search counts as access.SearchCost reads
	Reading   int  // calls that read
	Searching int  // searches and other expensive reads
	Changing  int
	Waiting   int // calls that wait for a message, an answer or an event
	Streaming int // streams of events
	Uploading int // uploads of artifacts
	Sending   int // downloads of artifacts and exports

	AllSearching int // these three: of all participants together
	AllWaiting   int
	AllStreaming int

	Stored int64 // bytes of all artifacts of one agent
}

// DefaultLoad returns the limits of a hub that configures none.
func DefaultLoad() Load {
	return Load{
		Reads:   Rate{PerSecond: 100, Burst: 400},
		Reading: 8, Searching: 2, Changing: 16, Waiting: 64, Streaming: 32, Uploading: 4, Sending: 8,
		AllSearching: 4, AllWaiting: 2048, AllStreaming: 2048,
		Stored: 1 << 30,
	}
}

// WithDefaults returns the limits with defaults in place of zero values.
func (l Load) WithDefaults() Load {
	d := DefaultLoad()
	for _, one := range []struct{ given, otherwise *int }{
		{&l.Reading, &d.Reading},
		{&l.Searching, &d.Searching},
		{&l.Changing, &d.Changing},
		{&l.Waiting, &d.Waiting},
		{&l.Streaming, &d.Streaming},
		{&l.Uploading, &d.Uploading},
		{&l.Sending, &d.Sending},
		{&l.AllSearching, &d.AllSearching},
		{&l.AllWaiting, &d.AllWaiting},
		{&l.AllStreaming, &d.AllStreaming},
	} {
		SetDefault(one.given, *one.otherwise)
	}
	SetDefault(&l.Stored, d.Stored)
	if l.Reads == (Rate{}) {
		l.Reads = d.Reads
	}
	return l
}

// CallKind is a kind of call, by what it costs the hub while it is under way.
type CallKind int

// The kinds of calls.
const (
	Reading CallKind = iota
	Searching
	Changing
	Waiting
	Streaming
	Uploading
	Sending
	CallKinds // how many kinds there are
)

// kindOf gives the kind of an operation where it does not follow from its row in the table. All others are Changing if they
// change anything, and else Reading.
var kindOf = map[Op]CallKind{
	OpSearch: Searching, OpReadTrace: Searching, OpReadThread: Searching, OpListTasks: Searching, OpListAsks: Searching,
	OpReadTree: Searching, OpVerifyAudit: Searching, OpRecall: Searching,
	OpFollowEvents: Streaming, OpReadLog: Streaming, OpOpenSession: Streaming,
	opCallMCP: Waiting, opFollowMCP: Waiting, // each call of a tool in it counts besides, unless it waits, and each session of a stream
	OpStoreArtifact: Uploading, OpImportHub: Uploading,
	OpFetchArtifact: Sending, opExportConversation: Sending, OpExportHub: Sending, OpReadOutput: Sending,
}

func (o Op) kind() CallKind {
	if work, ok := kindOf[o]; ok {
		return work
	}
	if operationTable[o].Changes {
		return Changing
	}
	return Reading
}

// CallKindNames are the kinds of calls in error texts.
var CallKindNames = [CallKinds]string{
	"calls that read", "searches", "changes", "waiting calls", "event streams", "uploads", "downloads",
}

// CallKindSettings are the settings that raise the limits.
var CallKindSettings = [CallKinds]string{
	"calls.reads", "calls.searches", "calls.changes", "calls.waits", "calls.streams", "calls.uploads", "calls.downloads",
}

// Brief reports whether a call of this kind is short enough for the participant's next call to wait for it.
func (w CallKind) Brief() bool { return w == Reading || w == Searching || w == Changing }

// Underway is a call that the hub counts while it is under way.
type Underway struct {
	Caller     Caller // the use cases of this caller are part of the call and not counted again
	found, end func()
}

// NewUnderway returns a counted call. Both functions must be safe to call twice.
func NewUnderway(caller Caller, found, end func()) Underway {
	return Underway{Caller: caller, found: found, end: end}
}

// Found ends the part of the call that does work: only the response is left to send. From then on the call takes a slot of
// its own participant only, so a slow reader does not hold up other participants.
func (u Underway) Found() { u.found() }

// End ends the call, response included.
func (u Underway) End() { u.end() }
