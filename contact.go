package parley

import (
	"context"
	"strings"
	"time"
)

// Pattern is how an agent contacts another one.
type Pattern string

// The patterns.
const (
	PatternAsk      Pattern = "ask"      // wait for the answer
	PatternDelegate Pattern = "delegate" // hand over work; the result comes back as a callback
	PatternNotify   Pattern = "notify"   // leave a message that wakes nobody
)

// Contact is a call by which one participant contacts another. An approval of the call covers every field.
type Contact struct {
	Pattern        Pattern    `json:"action" doc:"ask waits for the answer, delegate hands over work, notify wakes nobody."`
	Agent          string     `json:"agent" doc:"The same as agentId. One of the two is needed."`
	Message        string     `json:"message" doc:"The question, the work or the notice."`
	Context        string     `json:"context,omitempty" doc:"What the recipient must know. It does not see the caller's conversation."`
	Priority       Priority   `json:"priority,omitzero"` // delegate only
	Deadline       *time.Time `json:"deadline,omitempty" doc:"When the answer or the result is due."`
	After          []string   `json:"after,omitempty" doc:"With delegate: tasks or messages that must be completed first."`
	Artifacts      []Artifact `json:"artifacts,omitempty" doc:"Files that belong to it."`
	IdempotencyKey string     `json:"idempotency_key,omitempty" doc:"The same key from the same caller within 24 hours does nothing and returns the outcome of the first call."`

	// Session is the key of a live client session of the target. Only that session can take the ask. If the session ends first, the
	// ask fails. Agent may be empty if only one participant has a session with this key.
	Session string `json:"session,omitempty" doc:"With ask: the key of a live session of the agent. Only that session can take the question. agentId can be left out if the key is unique."`

	// Wait is how long an ask waits for the answer, and a delegation for the result. The default is AskWait for an ask, and no wait
	// for a delegation. A later answer or result comes as a callback.
	Wait time.Duration `json:"-"`
}

// callKeyStart begins the idempotency keys that clients generate.
const callKeyStart = "call-"

// CallKey makes an idempotency key for one call from a random word. A client that loses its connection repeats the call with the
// same key. When the hub compares the call with an approved call, or with a call of an earlier attempt of a run, it ignores such
// a key, because each attempt generates a new one.
func CallKey(random string) string { return callKeyStart + random }

// WithoutCallKey returns the contact without a key that a client has generated.
func (c Contact) WithoutCallKey() Contact {
	if strings.HasPrefix(c.IdempotencyKey, callKeyStart) {
		c.IdempotencyKey = ""
	}
	return c
}

// ContactTool is the name of the tool by which an agent contacts another.
const ContactTool = "contact_agent"

// ContactTarget returns the agent that a call of ContactTool names. The arguments agentID and agent mean the same. ContactTarget
// returns E003 if tool names another tool, or if agentID and agent differ.
func ContactTarget(tool, agentID, agent string) (string, error) {
	switch {
	case tool != "" && tool != ContactTool:
		return "", Errorf(BadInput, "the tool is %q, and only %s can be called here", clipped(tool), ContactTool).
			Suggest("leave tool out, or write %s", ContactTool)
	case agentID != "" && agent != "" && agentID != agent:
		return "", Errorf(BadInput, "agentId and agent differ").Suggest("give only agentId")
	case agentID != "":
		return agentID, nil
	default:
		return agent, nil
	}
}

// clipped returns a text, or its first 80 characters and … if it is longer.
func clipped(text string) string {
	if runes := []rune(text); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return text
}

// AskWait is how long an ask waits for its answer, unless the call or the configuration sets another time.
const AskWait = 120 * time.Second

// ContactOutcome says how far a contact has come when the call returns.
type ContactOutcome string

// The outcomes.
const (
	ContactAnswered  ContactOutcome = "answered"
	ContactDelegated ContactOutcome = "delegated"
	ContactNotified  ContactOutcome = "notified"
	ContactWaiting   ContactOutcome = "waiting" // the request is stored, and the caller waits for the answer
	ContactLate      ContactOutcome = "late"    // the time to wait is over; the answer will come as a callback
)

// Contacted is the result of a contact.
type Contacted struct {
	Text         string         `json:"text" doc:"The outcome in words."`
	Quotes       []Quote        `json:"quotes,omitempty" doc:"The parts of text that the other participant wrote, in order. A heading inside such a part is not the hub's."`
	Outcome      ContactOutcome `json:"outcome" doc:"The outcome. late: the time is up, and the answer follows as a message."`
	Agent        string         `json:"agent" doc:"The participant that was contacted."`
	Conversation string         `json:"conversation" doc:"The direct conversation of the two participants."`
	Message      string         `json:"message" doc:"The request."`
	Seq          int64          `json:"seq,omitempty" doc:"The seq of the request, whose short name is m and this number."`
	Answer       string         `json:"answer,omitempty" doc:"The message that answered it."`
	Task         string         `json:"task,omitempty" doc:"The task that was delegated."`
	Duplicate    bool           `json:"duplicate,omitempty" doc:"The same call was made before; this is its outcome."`
	Notices      []string       `json:"notices,omitempty" doc:"What the sender must know about the names in the text."`

	// UnknownMentions are the names that the text mentions and no participant has. A notice names each, with the nearest names.
	UnknownMentions []string `json:"unknown_mentions,omitempty" doc:"The names that the text mentions and no participant has. A notice names each, with the nearest names."`
}

// Answered returns the result of the contact with the answer of the participant by.
func (c Contacted) Answered(by Agent, text string) Contacted {
	w := Own("Response from ").Name(by.ID, by.Name).Own(": ").Quote(by.ID, text)
	c.Outcome, c.Text, c.Quotes = ContactAnswered, w.Text, w.Quotes
	return c
}

// Wording returns the text, with marks for the parts that the other participant wrote. If the result has no valid marks, Wording
// finds the parts with Framed.
func (c Contacted) Wording() Wording {
	if len(c.Quotes) == 0 || !validQuotes(c.Quotes, c.Text) {
		return Framed(c.Agent, c.Text)
	}
	return Wording{Text: c.Text, Quotes: c.Quotes}
}

// Contacts has the calls by which a participant contacts others, reports on its tasks and decides on approvals.
//
// Each call returns E001 if the participant may not make it, E002 if the hub cannot make it at present, and E003 (NotFound) if it
// names something that does not exist or that the participant may not see.
type Contacts interface {
	// Contact asks another participant, delegates work to it, or notifies it. It returns *Held if the call needs an approval first.
	Contact(ctx context.Context, c Contact) (Contacted, error)
	// ContactTelling is Contact for a caller that wants to know the stored request before the call waits. If the call waits, it
	// calls onStored once, with the request.
	ContactTelling(ctx context.Context, c Contact, onStored func(Contacted)) (Contacted, error)
	// Tasks returns the tasks that the caller may see and that the filter selects. The list is empty if there are none. It returns
	// *Held if the call needs an approval first.
	Tasks(ctx context.Context, f TaskFilter) ([]TaskView, error)
	// Task returns one task. It returns *Held if the call needs an approval first.
	Task(ctx context.Context, id string) (TaskView, error)
	// UpdateTask reports the progress or the end of a task. An empty id means the task of the caller's run. It returns E001 if the
	// caller is neither the assignee nor an owner.
	UpdateTask(ctx context.Context, id string, c TaskChange) (TaskView, error)
	// Approvals returns the approvals that the caller has requested or may decide, as far as the filter selects them. The list is
	// empty if there are none.
	Approvals(ctx context.Context, f ApprovalFilter) ([]Approval, error)
	// DecideApproval approves or denies a held call of another participant. It returns E001 if the caller may not decide on it.
	DecideApproval(ctx context.Context, id string, d Decision) (Approval, error)
}

// Header returns the first line of the message that makes the contact. It contains the display name of the calling agent, which
// the agent has chosen.
func (c Contact) Header(from Agent, task string) Wording {
	if c.Pattern == PatternNotify {
		return Own("[Agent Notification from ").Name(from.ID, from.Name).Own("]")
	}
	header := Own("[Agent Request from ").Name(from.ID, from.Name).Own(" | Pattern: " + string(c.Pattern))
	if c.Pattern == PatternDelegate {
		header = header.Own(" | Priority: " + c.Priority.Class() + " | Task: " + task)
	}
	return header.Own("]")
}

// SourceContact is the source of messages that make contacts.
const SourceContact = "agent_contact"

// Unheaded returns the text of a message as its sender wrote it, without the header that the hub adds to a contact.
func (m Message) Unheaded() string {
	head, rest, found := strings.Cut(m.Content.Text, "\n\n")
	if m.Source != SourceContact || !found || !strings.HasPrefix(head, "[Agent Request from ") && !strings.HasPrefix(head, "[Agent Notification from ") {
		return m.Content.Text
	}
	return rest
}

// Request returns the text of the message that makes the contact.
func (c Contact) Request(from Agent, task string) string {
	return c.Header(from, task).Text + "\n\n" + c.RequestBody()
}

// RequestBody returns the text of the message that makes the contact, without its header.
func (c Contact) RequestBody() string {
	if c.Context == "" {
		return c.Message
	}
	return "Context: " + c.Context + "\n\n" + c.Message
}
