package reports

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// EndDocument makes the callback to somebody who lives in a tree what scripts there expect: one document from whoever has done
// the task, which answers the one that asked for it, in the words of S3's result and S1's response.
func EndDocument(u *unit.Unit, t parley.Task, c Callback) (Callback, error) {
	words := newEndWords(t)
	c.from, c.Task, c.Hops, c.Text = t.Assignee, t.ID, c.Hops+1, parley.Own(words.text)
	first, err := FirstRequest(u, t)
	if err != nil {
		return c, err
	}
	if first.Conversation == c.Conversation {
		c.InReplyTo = first.ID
	}
	c.Payload, err = words.payload(t.Result)
	return c, err
}

// payload is what the document says: the words of the end, and what else its assignee has said, as it was said.
func (w endWords) payload(r *parley.TaskResult) (json.RawMessage, error) {
	raw, err := json.Marshal(w)
	if err != nil || r == nil || len(r.Payload) == 0 {
		return raw, err
	}
	var all, said map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(raw, &all), json.Unmarshal(r.Payload, &said)); err != nil {
		return nil, err
	}
	for key, value := range said {
		if _, ours := all[key]; !ours || w.overrides(key, value) {
			all[key] = value
		}
	}
	return json.Marshal(all)
}

// overrides says whether the words of the assignee stand for those of the hub: of files and figures the hub knows less, and of an error
// only the words, if it is the assignee's. How the task has ended is the hub's to say.
func (w endWords) overrides(key string, said json.RawMessage) bool {
	switch key {
	case "deliverables", "metrics":
		return true
	case "error":
		return w.Error.Message == unit.Clipped(unit.AsWords(said))
	default:
		return false
	}
}

// endWords is how S3 and S1 say that a task has ended.
type endWords struct {
	Status       string             `json:"status"` // success, partial, failure
	Deliverables *endFiles          `json:"deliverables,omitempty"`
	Metrics      map[string]float64 `json:"metrics,omitempty"`
	Issues       []string           `json:"issues,omitempty"`
	NextSteps    []string           `json:"next_steps,omitempty"`
	Error        *parley.Error      `json:"error,omitempty"`

	text string
}

// endFiles are S3's lists of files. Which of them a file belongs to, a task does not know.
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
