package cli

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tasktree"
)

// taskInWords describes an event about a task.
func taskInWords(e parley.Event, step string) string {
	var data struct {
		Task     string               `json:"task"`
		Title    string               `json:"title"`
		Progress *parley.TaskProgress `json:"progress"`
		Error    *parley.Error        `json:"error"`
	}
	_ = json.Unmarshal(e.Data, &data)
	words := data.Task + ` "` + data.Title + `" (` + e.Agent + ")"
	switch {
	case e.Kind == parley.EventTaskProgress && data.Progress != nil:
		text := tasktree.ProgressText(*data.Progress)
		if blockers := data.Progress.Blockers; len(blockers) > 0 {
			text = "blocked: " + strings.Join(blockers, ", ")
		}
		return words + ": " + text
	case data.Error != nil:
		return words + " is " + step + ": " + data.Error.Error()
	default:
		return words + " is " + step
	}
}

// approvalInWords describes an event about an approval.
func approvalInWords(e parley.Event, step string) string {
	var data struct {
		Approval string        `json:"approval"`
		Number   int64         `json:"number"`
		Target   string        `json:"target"`
		Tool     string        `json:"tool"`
		Decider  string        `json:"decider"`
		By       string        `json:"decided_by"`
		Failure  *parley.Error `json:"failure"`
	}
	_ = json.Unmarshal(e.Data, &data)
	words := strings.TrimSpace(e.Agent+": "+data.Tool+" "+data.Target) + " is " + step
	switch {
	case step == string(parley.ApprovalPending):
		words += ", " + cmp.Or(data.Decider, "an owner") + " decides"
	case data.Failure != nil:
		words += ": " + data.Failure.Error()
	case data.By != "":
		words += " by " + data.By
	}
	return words + " (" + parley.Approval{ID: data.Approval, Number: data.Number}.ShortName() + ")"
}
