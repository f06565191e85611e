package reports

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// MakeEndDocument turns the callback to an agent in a directory tree into the document that scripts there expect: one document
// from the assignee, in reply to the request, with the fields of a result of the Routing Protocol and of a response of ClawOS.
func MakeEndDocument(u *unit.Unit, t parley.Task, c Callback) (Callback, error) {
	words := newEndWords(t)
	c.from, c.Task, c.Hops, c.Text = t.Assignee, t.ID, c.Hops+1, parley.Own(words.text)
	first, err := FindFirstRequest(u, t)
	if err != nil {
		return c, err
	}
	if first.Conversation == c.Conversation {
		c.InReplyTo = first.ID
	}
	c.Payload, err = words.payload(t.Result)
	return c, err
}

// payload returns the payload of the document: the fields of the hub, and the additional keys of the assignee's own payload.
func (w endWords) payload(r *parley.TaskResult) (json.RawMessage, error) {
	raw, err := json.Marshal(w)
	if err != nil || r == nil || len(r.Payload) == 0 {
		return raw, err
	}
	var all, own map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &all), json.Unmarshal(r.Payload, &own)); err != nil {
		return nil, err
	}
	for key, value := range own {
		if _, taken := all[key]; !taken || w.overrides(key, value) {
			all[key] = value
		}
	}
	return json.Marshal(all)
}

// overrides reports whether a value of the assignee replaces the value of the hub. The assignee knows more about files and
// figures, and about its own error. The hub decides how the task has ended.
func (w endWords) overrides(key string, own json.RawMessage) bool {
	switch key {
	case "deliverables", "metrics":
		return true
	case "error":
		return w.Error.Message == unit.Clipped(unit.AsWords(own))
	default:
		return false
	}
}

// endWords is the payload by which the Routing Protocol and ClawOS report the end of a task.
type endWords struct {
	Status       string             `json:"status"` // success, partial, failure
	Deliverables *endFiles          `json:"deliverables,omitempty"`
	Metrics      map[string]float64 `json:"metrics,omitempty"`
	Issues       []string           `json:"issues,omitempty"`
	NextSteps    []string           `json:"next_steps,omitempty"`
	Error        *parley.Error      `json:"error,omitempty"`

	text string
}

// endFiles are the lists of files of the Routing Protocol. A task does not know which list a file belongs to.
type endFiles struct {
	Modified  []string `json:"files_modified"`
	Tests     []string `json:"tests_added"`
	Artifacts []string `json:"artifacts"`
}

func newEndWords(t parley.Task) endWords {
	words := endWords{Status: "failure", Error: t.Error}
	if t.Status == parley.TaskCompleted {
		words.Status = string(cmp.Or(t.Outcome, parley.OutcomeSuccess))
	}
	if r := t.Result; r != nil {
		words.Metrics, words.Issues, words.NextSteps, words.text = r.Metrics, r.Issues, r.NextSteps, r.Text
		if len(r.Deliverables) > 0 {
			words.Deliverables = &endFiles{[]string{}, []string{}, r.Deliverables}
		}
	}
	if t.Status != parley.TaskCompleted && t.Error != nil {
		words.text = cmp.Or(words.text, t.Error.Message)
		if len(words.Issues) == 0 {
			words.Issues = []string{t.Error.Message}
		}
	}
	return words
}
