package parley

import "time"

// Notice is a notification to a person outside of the hub. The hub sends one notice for each person and key, by all configured
// notifiers of the person.
type Notice struct {
	ID        string    `json:"id"`
	Person    string    `json:"person"`
	Key       string    `json:"key"`  // the subject: approval/<id>, dead/<message>/<recipient>, budget/<agent>/<day> …
	Kind      string    `json:"kind"` // approval, dead_letter, budget, alert
	Title     string    `json:"title"`
	Text      string    `json:"text"`
	Approval  string    `json:"approval,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	Attempt   int       `json:"attempt"`
	NextAt    time.Time `json:"next_at"` // the next attempt; during an attempt: when that attempt has taken too long
	Sent      []string  `json:"sent,omitempty"`
	Failure   string    `json:"failure,omitempty"`
	Done      bool      `json:"done"`
}

// The kinds of notice.
const (
	NoticeApproval   = "approval"
	NoticeDeadLetter = "dead_letter"
	NoticeBudget     = "budget"
	NoticeAlert      = "alert"
)
