package parley

import "time"

// Wait says that a participant is blocked until another one answers a message: an ask, or any message whose answer it waits for.
// It is an edge of the wait graph, from the waiter to the participant that must answer. The hub keeps the wait of an ask after
// its end.
type Wait struct {
	ID         string     `json:"id"`
	Message    string     `json:"message"` // the request
	Waiter     string     `json:"waiter"`
	Run        string     `json:"run,omitempty"` // the blocked run; empty: the waiter's session
	Target     string     `json:"target"`
	Ask        bool       `json:"ask"`
	Depth      int        `json:"depth"` // of an ask: how many asks it is nested in
	State      WaitState  `json:"state"`
	Since      time.Time  `json:"since"`
	Until      time.Time  `json:"until"`              // when an ask becomes late
	Approval   string     `json:"approval,omitempty"` // the approval whose call made the ask
	Answer     string     `json:"answer,omitempty"`
	Failure    *Error     `json:"failure,omitempty"`
	Callback   string     `json:"callback,omitempty"` // the message that brought a late answer to the waiter
	AnswerTask string     `json:"work,omitempty"`     // the task whose end answers the ask, if there is one; such an ask is parked
	EndedAt    *time.Time `json:"ended_at,omitempty"`

	// Conversation and Task say where the question came from. A late answer goes there.
	Conversation string `json:"conversation"`
	Task         string `json:"task,omitempty"`

	Node string `json:"-"` // the hub process that the waiter is connected to; empty: it is not connected
}

// WaitState is the state of a wait.
type WaitState string

// The states of a wait. Answered and failed are final.
const (
	WaitWaiting   WaitState = "waiting"
	WaitLate      WaitState = "late" // the waiter no longer waits; the hub will deliver the answer
	WaitAnswered  WaitState = "answered"
	WaitFailed    WaitState = "failed"
	WaitAbandoned WaitState = "abandoned" // the waiter has ended and gets no answer
)

var waitSteps = steps[WaitState]{
	WaitWaiting:   {WaitLate, WaitAnswered, WaitFailed, WaitAbandoned},
	WaitLate:      {WaitWaiting, WaitAnswered, WaitFailed, WaitAbandoned}, // a caller that repeats the call waits again
	WaitAbandoned: {WaitWaiting, WaitAnswered, WaitFailed},
	WaitAnswered:  {},
	WaitFailed:    {},
}

// May reports whether a wait may change from this state to next.
func (s WaitState) May(next WaitState) bool { return waitSteps.allow(s, next) }

// Known reports whether this is one of the states.
func (s WaitState) Known() bool { return waitSteps.known(s) }

// Ended reports whether the wait is answered or failed.
func (s WaitState) Ended() bool { return s.Known() && len(waitSteps[s]) == 0 }

// AskFilter selects asks. The zero value selects all asks that the caller may see.
type AskFilter struct {
	Open   bool  // only asks that have not ended
	Before int64 // only asks whose question has a smaller seq; 0: from the newest
	Limit  int
}

// AskState is the state of an ask.
type AskState struct {
	State   WaitState  `json:"state" doc:"waiting, late (the caller stopped waiting and gets the answer as a message), answered, failed, or abandoned (the caller has ended and gets no answer)."`
	Since   time.Time  `json:"since" doc:"When the caller began to wait."`
	Until   time.Time  `json:"until" doc:"When the ask becomes late, or became late."`
	EndedAt *time.Time `json:"ended_at,omitempty" doc:"When it was answered, or failed."`
	Task    string     `json:"task,omitempty" doc:"The task whose end answers the ask, if there is one."`
}

// AskView is an ask as a list shows it.
type AskView struct {
	Message      string `json:"message" doc:"The question."`
	Seq          int64  `json:"seq" doc:"The number of the question."`
	Conversation string `json:"conversation" doc:"The direct conversation of the two participants."`
	From         string `json:"from" doc:"The caller's id."`
	FromName     string `json:"from_name" doc:"The display name of the caller."`
	To           string `json:"to" doc:"The id of the participant that was asked."`
	ToName       string `json:"to_name" doc:"The display name of the asked participant."`
	Question     string `json:"question" doc:"The first line of the question, of at most 80 characters."`
	Source       string `json:"source" doc:"Always agent_ask."`
	AskState
}

// MaxQuestion is how many characters of a question a list of asks shows.
const MaxQuestion = MaxTaskTitle

// QuestionOf returns the first line of a question, cut to MaxQuestion characters.
func QuestionOf(text string) string { return TitleOf(text) }
