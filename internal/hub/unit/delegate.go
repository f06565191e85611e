package unit

// TaskDetails is what is asked for, beside what a contact says.
type TaskDetails struct {
	Title    string // default: the first line of what is said
	Parent   string // default: the task of what asks
	Reason   string // for choosing the assignee
	Original string // who has asked for all of it
	Source   string
	Lenient  bool // what it depends on may be unknown
	Notices  []string
}

// Conversation is where a call comes from, or nothing if that is outside of all runs.
func (o Origin) Conversation() string {
	switch {
	case o.Run != nil:
		return o.Run.Conversation
	case o.Approved != nil:
		return o.Approved.Conversation
	default:
		return ""
	}
}
