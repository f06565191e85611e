package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// DepartureRow is a departure as it is stored.
type DepartureRow struct {
	Bridge    string
	Message   string // empty: the message or its conversation is deleted
	Recipient string // empty: the message departs to a channel
	Folder    string // a channel, or a recipient. Names are unique in a folder
	Name      string
	State     parley.DepartureState
	At        time.Time
	Num       int64 // its number in the order of departures. The bridge names the departure by it
}

// FileRow is a file that has arrived, or that the hub has refused for good, as it is stored.
type FileRow struct {
	Bridge  string
	File    parley.BridgeFile
	Name    string // the id of the document in the dialect
	From    string // the sender
	Message string // empty: the hub refused the file, or the message or its conversation is deleted
	At      time.Time
}

// BridgeStore keeps bridges, the files that arrived through them, and the departures of messages into their trees. Erasing a
// message does not erase its file, so the hub imports a file only once. Every method returns ErrNotFound if the bridge does not
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
	// Insert adds a bridge. If a bridge with the same root and layout was removed, the new one takes over its files and
	// departures. It returns ErrTaken if the id is in use, or if another bridge uses the same root and layout.
	Insert(parley.Bridge) error
	// Get returns one bridge.
	Get(id string) (parley.Bridge, error)
	// List returns all bridges in the order of their ids, or an empty list.
	List() ([]parley.Bridge, error)
	// Put replaces the fields of a bridge that may change: its agents and channels, whether it is paused, and whether it has
	// reached its tree.
	Put(parley.Bridge) error
	// Remove removes a bridge. The store keeps its files and departures.
	Remove(id string, at time.Time) error
}

// DepartureCursor holds how far a bridge has read the messages that may depart. The package departures uses it.
type DepartureCursor interface {
	// Cursor returns the seq up to which the bridge has read. It begins at Bridge.Since.
	Cursor(id string) (int64, error)
	// MoveCursor moves the cursor forward. It never moves the cursor back.
	MoveCursor(id string, to int64) error
}

// ArrivedFiles holds the files that have arrived. The package trees adds them; arrivals and departures look them up.
type ArrivedFiles interface {
	// AddFile adds a file. It returns ErrTaken if the file is stored already.
	AddFile(FileRow) error
	// File returns one file. It returns ErrNotFound if it is not stored.
	File(bridge string, f parley.BridgeFile) (FileRow, error)
	// KnownFiles returns the given files that are stored, in the given order.
	KnownFiles(bridge string, files []parley.BridgeFile) ([]parley.BridgeFile, error)
	// FileNamed returns the newest file with this name in the dialect, of this sender if from is not empty. It returns a refused
	// file only if there is no other. It returns ErrNotFound if there is none.
	FileNamed(bridge, name, from string) (FileRow, error)
	// FileOfMessage returns the file in which a message arrived. It returns ErrNotFound if the message did not arrive in a file.
	FileOfMessage(bridge, message string) (FileRow, error)
	// LastFile returns the file with the greatest name that begins with a prefix. It returns ErrNotFound if there is none.
	LastFile(bridge, prefix string) (FileRow, error)
}

// DepartureTable holds the departures of messages. Only the package departures writes them.
type DepartureTable interface {
	// AddDeparture adds a departure and returns it with the Num that the store gives it. It returns ErrTaken if the message
	// already departs to the same recipient, or if the name is in use in the folder.
	AddDeparture(DepartureRow) (DepartureRow, error)
	// PutDeparture replaces the state of a departure and the time of that state. It returns ErrNotFound if there is no such
	// departure.
	PutDeparture(DepartureRow) error
	// Departure returns a departure by its message and recipient. It returns ErrNotFound if there is none.
	Departure(bridge, message, recipient string) (DepartureRow, error)
	// DepartureAt returns a departure by its Num. It returns ErrNotFound if there is none.
	DepartureAt(bridge string, num int64) (DepartureRow, error)
	// Departures returns departures in a state after a Num, in the order of Num, at most limit, or an empty list.
	Departures(bridge string, state parley.DepartureState, after int64, limit int) ([]DepartureRow, error)
}

// DepartureNames finds departures by the names of their files. The packages arrivals, departures and reading use it.
type DepartureNames interface {
	// DepartureNamed returns the newest departure with this name, in this folder if folder is not empty. It returns ErrNotFound
	// if there is none.
	DepartureNamed(bridge, folder, name string) (DepartureRow, error)
	// LastDeparture returns the departure with the greatest name in a folder that begins with a prefix. It returns ErrNotFound if
	// there is none.
	LastDeparture(bridge, folder, prefix string) (DepartureRow, error)
}

// CursorStore keeps how far each reader of the event log has come, under the name of the reader.
type CursorStore interface {
	// Get returns the cursor with this name. It returns ErrNotFound if there is none.
	Get(name string) (int64, error)
	// Move moves the cursor with this name. If from is 0, it adds the cursor if there is none. If the cursor is not at from,
	// another process has moved it: Move then writes nothing and returns ErrTaken.
	Move(name string, from, to int64) error
}
