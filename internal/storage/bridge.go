package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// DepartureRow is a departure as it is stored.
type DepartureRow struct {
	Bridge    string
	Message   string // none: it is gone, or its conversation is
	Recipient string // none in a channel
	Folder    string // names are unique in it: a channel, or a recipient
	Name      string
	State     parley.DepartureState
	At        time.Time
	Num       int64 // its place in the order of departures, by which it is reported on
}

// FileRow is a file that has arrived, or was refused for good, as it is stored.
type FileRow struct {
	Bridge  string
	File    parley.BridgeFile
	Name    string // its id in the dialect
	From    string // who wrote it
	Message string // none: it was refused, or the message or its conversation is gone
	At      time.Time
}

// BridgeStore keeps bridges, the files that arrived through them, and the departures of messages into their trees. Files outlive
// their messages: a file is imported once, even if its message was erased. Every method returns ErrNotFound if the bridge does not
// exist.
type BridgeStore interface {
	BridgeTable
	DepartureCursor
	ArrivedFiles
	DepartureTable
	DepartureNames
}

// BridgeTable holds the rows of bridges. The packages bridges and departures use it.
type BridgeTable interface {
	// Insert adds a bridge, with what was kept of a removed one with the same root and layout. ErrTaken if its id is in use, or its
	// root is in use by another bridge with the same layout.
	Insert(parley.Bridge) error
	// Get returns one bridge.
	Get(id string) (parley.Bridge, error)
	// List returns all bridges by their ids, or an empty list.
	List() ([]parley.Bridge, error)
	// Put replaces what may change of a bridge: its agents and channels, whether it is paused, and whether its tree was reached.
	Put(parley.Bridge) error
	// Remove removes a bridge. Its files and departures are kept.
	Remove(id string, at time.Time) error
}

// DepartureCursor holds how far a bridge has read the messages that may depart. departures uses it.
type DepartureCursor interface {
	// Cursor returns the seq up to which the bridge has read. It begins at the Since of the bridge.
	Cursor(id string) (int64, error)
	// MoveCursor moves the cursor forward.
	MoveCursor(id string, to int64) error
}

// ArrivedFiles holds the files that have arrived. trees adds them; arrivals and departures look them up.
type ArrivedFiles interface {
	// Arrived adds a file. ErrTaken if it is stored already.
	AddFile(FileRow) error
	// File returns one file. ErrNotFound if it is not stored.
	File(bridge string, f parley.BridgeFile) (FileRow, error)
	// Known returns those of the given files that are stored, in the given order.
	KnownFiles(bridge string, files []parley.BridgeFile) ([]parley.BridgeFile, error)
	// Named returns the newest file with a name in the dialect, from a sender if one is given. It returns a refused file only if there
	// is no other. ErrNotFound if there is none.
	FileNamed(bridge, name, from string) (FileRow, error)
	// Came returns the file that a message arrived by. ErrNotFound if it did not arrive by a file.
	FileOfMessage(bridge, message string) (FileRow, error)
	// LastFile returns the file with the greatest name that begins with a prefix. ErrNotFound if there is none.
	LastFile(bridge, prefix string) (FileRow, error)
}

// DepartureTable holds the departures of messages. Only the package departures writes them.
type DepartureTable interface {
	// Depart adds a departure and returns it with the Num that the store gives it. ErrTaken if the message departs there already, or
	// the name is in use in its folder.
	AddDeparture(DepartureRow) (DepartureRow, error)
	// PutDeparture replaces the state of a departure and the time of that state. ErrNotFound if there is no such departure.
	PutDeparture(DepartureRow) error
	// Departure returns a departure by its message and recipient. ErrNotFound if there is none.
	Departure(bridge, message, recipient string) (DepartureRow, error)
	// DepartureAt returns a departure by its Num. ErrNotFound if there is none.
	DepartureAt(bridge string, num int64) (DepartureRow, error)
	// Departures returns departures in a state after a Num, in the order of Num, at most limit, or an empty list.
	Departures(bridge string, state parley.DepartureState, after int64, limit int) ([]DepartureRow, error)
}

// DepartureNames finds departures by the names of their files. arrivals, departures and reading use it.
type DepartureNames interface {
	// DepartedAs returns the newest departure with a name, in a folder if one is given. ErrNotFound if there is none.
	DepartureNamed(bridge, folder, name string) (DepartureRow, error)
	// LastDeparture returns the departure with the greatest name in a folder that begins with a prefix. ErrNotFound if there is none.
	LastDeparture(bridge, folder, prefix string) (DepartureRow, error)
}

// CursorStore keeps how far those who follow the order have come, each by its name.
type CursorStore interface {
	// Get returns a cursor. ErrNotFound if there is none.
	Get(name string) (int64, error)
	// Move moves it, or makes it where from is 0. ErrTaken, and nothing is written, if it is not at from: another process has gone
	// on.
	Move(name string, from, to int64) error
}
