package policy

// TaskArgs are what somebody does to a task that is not its own to speak of.
type TaskArgs struct {
	Task     string `json:"task"`
	Act      string `json:"act"`
	Reason   string `json:"reason,omitempty"`
	Assignee string `json:"assignee,omitempty"`
}

// The acts.
const (
	CancelsTask   = "cancel"
	RetriesTask   = "retry"
	ReassignsTask = "reassign"
)
