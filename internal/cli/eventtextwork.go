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
	var news struct {
		Task     string               `json:"task"`
		Title    string               `json:"title"`
		Progress *parley.TaskProgress `json:"progress"`
		Error    *parley.Error        `json:"error"`
	}
	_ = json.Unmarshal(e.Data, &news)
	words := news.Task + ` "` + news.Title + `" (` + e.Agent + ")"
	switch {
	case e.Kind == parley.EventTaskProgress && news.Progress != nil:
		far := tasktree.ProgressText(*news.Progress)
		if blockers := news.Progress.Blockers; len(blockers) > 0 {
			far = "blocked: " + strings.Join(blockers, ", ")
		}
		return words + ": " + far
	case news.Error != nil:
		return words + " is " + step + ": " + news.Error.Error()
	default:
		return words + " is " + step
	}
}

// approvalInWords describes an event about an approval.
func approvalInWords(e parley.Event, step string) string {
	var news struct {
		Approval string        `json:"approval"`
		Number   int64         `json:"number"`
		Target   string        `json:"target"`
		Tool     string        `json:"tool"`
		Decider  string        `json:"decider"`
		By       string        `json:"decided_by"`
		Failure  *parley.Error `json:"failure"`
	}
	_ = json.Unmarshal(e.Data, &news)
	words := strings.TrimSpace(e.Agent+": "+news.Tool+" "+news.Target) + " is " + step
	switch {
	case step == string(parley.ApprovalPending):
		words += ", " + cmp.Or(news.Decider, "an owner") + " decides"
	case news.Failure != nil:
		words += ": " + news.Failure.Error()
	case news.By != "":
		words += " by " + news.By
	}
	return words + " (" + parley.Approval{ID: news.Approval, Number: news.Number}.ShortName() + ")"
}
