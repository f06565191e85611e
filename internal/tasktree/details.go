package tasktree

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// details returns what there is to say of a task besides its state: how it ended, what it waits for, or its progress.
func (d drawing) details(t parley.TaskView) string {
	var parts []string
	switch t.Status {
	case parley.TaskCompleted:
		parts = d.finishedDetails(t)
	case parley.TaskFailed, parley.TaskCancelled:
		parts = failedDetails(t)
	case parley.TaskQueued:
		parts = d.queuedDetails(t)
	default:
		parts = activeDetails(t)
	}
	return strings.Join(parts, "; ")
}

func (d drawing) finishedDetails(t parley.TaskView) (parts []string) {
	if t.Outcome == parley.OutcomePartial {
		parts = append(parts, string(t.Outcome))
	}
	if t.EndedAt != nil {
		parts = append(parts, "finished "+d.formatTime(*t.EndedAt))
	}
	return parts
}

func failedDetails(t parley.TaskView) []string {
	if t.Error == nil {
		return nil
	}
	why := t.Error.Message
	if rest, found := strings.CutPrefix(why, string(t.Status)); found { // the state already has that word
		why = strings.TrimPrefix(rest, ": ")
	}
	if why == "" {
		return nil
	}
	return []string{why}
}

func (d drawing) queuedDetails(t parley.TaskView) (parts []string) {
	if len(t.WaitsOn.After) > 0 {
		return []string{"waits for " + strings.Join(t.WaitsOn.After, ", ")}
	}
	if until, asleep := d.snapshot.Sleeping[t.Assignee]; asleep {
		return []string{"due when it wakes, " + d.formatTime(until)}
	}
	return nil
}

func activeDetails(t parley.TaskView) (parts []string) {
	switch {
	case t.Blocked():
		parts = append(parts, "blocked: "+strings.Join(t.Progress.Blockers, ", "))
	case t.Progress != nil:
		if progress := ProgressText(*t.Progress); progress != "" {
			parts = append(parts, progress)
		}
	}
	if t.WaitsOn.Approval != "" {
		parts = append(parts, "awaiting approval "+t.WaitsOn.Approval)
	}
	return parts
}

// ProgressText describes the progress of a task.
func ProgressText(p parley.TaskProgress) string {
	var share string
	switch {
	case p.Fraction != nil:
		share = fmt.Sprintf("%.0f %%", math.Floor(*p.Fraction*100))
	case p.Current != nil && p.Total != nil:
		share = fmt.Sprintf("%d of %d", *p.Current, *p.Total)
	case p.Current != nil:
		share = strconv.FormatInt(*p.Current, 10)
	}
	return strings.Trim(share+": "+p.Message, ": ")
}

// formatTime formats a time of the day, with its date unless that is today.
func (d drawing) formatTime(at time.Time) string {
	at, now := at.In(d.options.Zone), d.snapshot.At.In(d.options.Zone)
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// spentText returns the duration of a task so far, and its cost.
func (d drawing) spentText(t parley.TaskView) string {
	end := d.snapshot.At
	if t.EndedAt != nil {
		end = *t.EndedAt
	}
	words := max(end.Sub(t.CreatedAt), 0).Round(time.Second).String()
	if t.Cost > 0 {
		words += fmt.Sprintf(", $%.2f", t.Cost)
	}
	return words
}
