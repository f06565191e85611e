package unit

// Load bounds what one participant may have under way at once, and how often it may read. The zero value of a
// field means its default; a number below zero means no limit.
type Load struct {
	Reads     Rate // reads a second; a search counts as searchCost of them
	Reading   int  // calls that read
	Searching int  // searches and other reads that look at much
	Changing  int  // calls that change something
	Waiting   int  // calls that wait for something to come
	Streaming int  // streams of events
	Uploading int  // artifacts on their way in
	Sending   int  // artifacts and exports on their way out

	AllSearching int // of all participants together
	AllWaiting   int
	AllStreaming int

	Stored int64 // bytes of the artifacts that one agent has stored
}

// DefaultLoad are the bounds of a hub that configures none.
func DefaultLoad() Load {
	return Load{
		Reads:   Rate{PerSecond: 100, Burst: 400},
		Reading: 8, Searching: 2, Changing: 16, Waiting: 64, Streaming: 32, Uploading: 4, Sending: 8,
		AllSearching: 4, AllWaiting: 2048, AllStreaming: 2048,
		Stored: 1 << 30,
	}
}

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

// Work is a sort of call, by what it costs the hub while it is under way.
type Work int

// The sorts of calls.
const (
	Reading Work = iota
	Searching
	Changing
	Waiting
	Streaming
	Uploading
	Sending
	Works // how many there are
)

// workOf says what an operation counts as, where its row in the table does not: what reads is Reading, what changes
// something is Changing.
var workOf = map[Op]Work{
	OpSearch: Searching, OpReadTrace: Searching, OpReadThread: Searching, OpListTasks: Searching, OpListAsks: Searching,
	OpReadTree: Searching, OpVerifyAudit: Searching,
	OpFollowEvents: Streaming, OpReadLog: Streaming,
	OpStoreArtifact: Uploading, OpImportHub: Uploading,
	OpFetchArtifact: Sending, opExportConversation: Sending, OpExportHub: Sending, OpReadOutput: Sending,
}

func (o Op) work() Work {
	if work, ok := workOf[o]; ok {
		return work
	}
	if operationTable[o].Changes {
		return Changing
	}
	return Reading
}

// WorkNames say what a participant has too many of.
var WorkNames = [Works]string{
	"calls that read", "searches", "changes", "waiting calls", "event streams", "uploads", "downloads",
}

// WorkKeys are the settings that raise the bounds.
var WorkKeys = [Works]string{
	"calls.reads", "calls.searches", "calls.changes", "calls.waits", "calls.streams", "calls.uploads", "calls.downloads",
}

// Brief reports whether a call is so short that the next call of its participant can wait for it.
func (w Work) Brief() bool { return w == Reading || w == Searching || w == Changing }

// Underway is a call that is counted.
type Underway struct {
	Caller     Caller // whose use cases are part of the call, and are not counted once more
	found, end func()
}

func NewUnderway(caller Caller, found, end func()) Underway {
	return Underway{Caller: caller, found: found, end: end}
}

// Found says that the hub has done its work and only the answer is left to send. From here on the call holds a slot only of
// its own participant, so a slow reader does not hold up others.
func (u Underway) Found() { u.found() }

// End says that the call is over, answer included.
func (u Underway) End() { u.end() }
