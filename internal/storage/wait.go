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
// deletes its waits. Deleting the conversation that an ask came from empties its id in the wait. Lists are empty when nothing is
// found.
type WaitStore interface {
	WaitTable
	AskLookup
	OpenWaits
}

// WaitTable holds the rows of waits. Only the package waits writes them.
type WaitTable interface {
	// Insert adds a wait. It returns ErrTaken if its id is in use, or if it is an ask and its message has an ask already. It
	// returns ErrNotFound if its message, waiter or target does not exist.
	Insert(parley.Wait) error
	// Put replaces the wait with the same id. The message, waiter, target and depth do not change, nor whether it is an ask. It
	// returns ErrNotFound if there is none.
	Put(parley.Wait) error
	// Erase erases a wait. It returns ErrNotFound if there is none.
	Erase(id string) error
}

// AskLookup finds asks by message, task, run or participant. The packages contact, post and work use it.
type AskLookup interface {
	// Ask returns the ask of a message, ended or not. It returns ErrNotFound if the message is no ask.
	Ask(message string) (parley.Wait, error)
	// ParkedAs returns the ask that has become a task, ended or not. It returns ErrNotFound if there is none.
	ParkedAs(task string) (parley.Wait, error)
	// Parked returns the asks to a participant that have become a task and have not ended, in the order of their ids. It returns
	// ErrNotFound if there is no such participant.
	Parked(target string) ([]parley.Wait, error)
	// AsksOfRun returns the asks of a run in the states waiting and late, in the order of their ids.
	AsksOfRun(run string) ([]parley.Wait, error)
	// Asks returns the asks from and to a participant, or all asks if participant is empty, the newest question first. It returns
	// ErrNotFound if there is no such participant.
	Asks(participant string, f parley.AskFilter) ([]ListedAsk, error)
}

// OpenWaits lists waits that have not ended. The package work ends them; turns ends those whose time is over.
type OpenWaits interface {
	// InConversation returns all waits for answers to messages of a conversation that have not ended, including late and
	// abandoned waits. They are in the order of the messages, then of their ids. The list is empty if there is no such
	// conversation.
	InConversation(conversation string) ([]parley.Wait, error)
	// OfRun returns the waits of a run that are in the state waiting, in the order of their ids.
	OfRun(run string) ([]parley.Wait, error)
	// OfWaiter returns the waits of a participant, outside of runs, that are in the state waiting, in the order of their ids. It
	// returns ErrNotFound if there is no such participant.
	OfWaiter(waiter string) ([]parley.Wait, error)
	// OfNode returns the waits in the state waiting whose waiter is connected to the hub process with this name, in the order of
	// their ids.
	OfNode(node string) ([]parley.Wait, error)
	// Due returns asks in the state waiting whose Until has come, the longest due first, at most limit.
	Due(now time.Time, limit int) ([]parley.Wait, error)
}
