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

// BridgeStore keeps bridges, what has arrived by them, and what has departed. Files outlive their messages: what was
// imported once is not imported again because it was erased. ErrNotFound if a bridge does not exist.
type BridgeStore interface {
	// Insert adds a bridge, with what was kept of a removed one with the same root and layout. ErrTaken if its id is in use, or
	// its root by another with the same layout.
	Insert(parley.Bridge) error
	// Get returns one.
	Get(id string) (parley.Bridge, error)
	// List returns all, by their ids.
	List() ([]parley.Bridge, error)
	// Put replaces what may change: agents, channels, whether it is paused, and whether its tree was reached.
	Put(parley.Bridge) error
	// Remove removes a bridge. What has come and gone by it is kept.
	Remove(id string, at time.Time) error
	// Cursor is how far the order was read for what is to depart. It begins at Since. MoveCursor moves it forward.
	Cursor(id string) (int64, error)
	MoveCursor(id string, to int64) error

	// Arrived adds a file. ErrTaken if it is there.
	Arrived(FileRow) error
	// File returns one. ErrNotFound if it is not there.
	File(bridge string, f parley.BridgeFile) (FileRow, error)
	// Known returns those of some files that are there, in the order given.
	Known(bridge string, files []parley.BridgeFile) ([]parley.BridgeFile, error)
	// Named returns the newest file with a name in the dialect, from a sender where one is given; one that was refused
	// only where there is no other. ErrNotFound if there is none.
	Named(bridge, name, from string) (FileRow, error)
	// Came returns a file that a message has come by. ErrNotFound if it did not.
	Came(bridge, message string) (FileRow, error)
	// LastFile returns the one with the greatest name that begins with a prefix. ErrNotFound if there is none.
	LastFile(bridge, prefix string) (FileRow, error)

	// Depart adds a departure. Its Num is given by the store. ErrTaken if the message departs there already, or the name is in use in its folder.
	Depart(DepartureRow) (DepartureRow, error)
	// Departure returns one by its message and recipient; DepartureAt by its Num; DepartedAs the newest by its name, in a
	// folder where one is given; LastDeparture the one with the greatest name in a folder that begins with a prefix. ErrNotFound if there is
	// none.
	Departure(bridge, message, recipient string) (DepartureRow, error)
	DepartureAt(bridge string, num int64) (DepartureRow, error)
	DepartedAs(bridge, folder, name string) (DepartureRow, error)
	LastDeparture(bridge, folder, prefix string) (DepartureRow, error)
	// Departures returns those in a state after a Num, by it, at most limit.
	Departures(bridge string, state parley.DepartureState, after int64, limit int) ([]DepartureRow, error)
	// PutDeparture replaces the state of one, and since when it has it. ErrNotFound if there is none.
	PutDeparture(DepartureRow) error
}

// CursorStore keeps how far those who follow the order have come, each by its name.
type CursorStore interface {
	// Get returns a cursor. ErrNotFound if there is none.
	Get(name string) (int64, error)
	// Move moves it, or makes it where from is 0. ErrTaken, and nothing is written, if it is not at from: another process has gone
	// on.
	Move(name string, from, to int64) error
}
