package storage

import (
	"time"

	"github.com/parley-hub/parley"
)

// ListedAsk is an ask with the seq of its question, by which asks are listed.
type ListedAsk struct {
	parley.Wait
	Seq int64
}

// WaitStore keeps the waits of participants for answers. An ask is a wait for the answer to one message. Deleting a message
// deletes its waits. The id of the conversation that an ask came from is empty once that conversation is deleted. Lists are empty
// when nothing is found.
type WaitStore interface {
	WaitTable
	AskLookup
	OpenWaits
}

// WaitTable holds the rows of waits. Only the package waits writes them.
type WaitTable interface {
	// Insert adds a wait. ErrTaken if its id is in use, or it is an ask and its message has one. ErrNotFound if
	// its message, waiter or target does not exist.
	Insert(parley.Wait) error
	// Put replaces the wait with the same id; its message, waiter, target and depth stay, and whether it is an ask.
	// ErrNotFound if there is none.
	Put(parley.Wait) error
	// Erase erases a wait. ErrNotFound if there is none.
	Erase(id string) error
}

// AskLookup finds asks by message, task, run or participant. contact, post and work use it.
type AskLookup interface {
	// Ask returns the ask of a message, ended or not. ErrNotFound if the message is no ask.
	Ask(message string) (parley.Wait, error)
	// Working returns the ask whose Work is a task, ended or not. ErrNotFound if there is none.
	ParkedAs(task string) (parley.Wait, error)
	// Parked returns the asks to a participant that have become a task and have not ended, by their ids. ErrNotFound if there
	// is no such participant.
	Parked(target string) ([]parley.Wait, error)
	// AskedBy returns the asks of a run in the states waiting and late, by their ids.
	AsksOfRun(run string) ([]parley.Wait, error)
	// Asks returns the asks that a participant made or was asked, or all asks if none is named, the newest question first.
	// ErrNotFound if there is no such participant.
	Asks(of string, f parley.AskFilter) ([]ListedAsk, error)
}

// OpenWaits lists waits that have not ended. work ends them; turns ends those whose time is over.
type OpenWaits interface {
	// In returns all waits for answers to messages of a conversation that have not ended, the late and the abandoned
	// among them, by the order of the messages, then by their ids. It returns none for an id that is no conversation.
	InConversation(conversation string) ([]parley.Wait, error)
	// Of returns the waits of a run that are in the state waiting, by their ids.
	OfRun(run string) ([]parley.Wait, error)
	// By returns the waits of a participant, outside of runs, that are in the state waiting, by their ids. ErrNotFound if there is no
	// such participant.
	OfWaiter(waiter string) ([]parley.Wait, error)
	// At returns the waits in the state waiting whose waiter is connected to a process of the hub, by their ids.
	OfNode(node string) ([]parley.Wait, error)
	// Due returns asks in the state waiting whose Until has come, those due longest first, at most limit.
	Due(now time.Time, limit int) ([]parley.Wait, error)
}
