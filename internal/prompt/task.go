package prompt

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

// task describes the task of the run, and what happens to it when the run ends.
func (b *builder) task() string {
	t := b.Task
	if t == nil {
		return ""
	}
	var lines strings.Builder
	fmt.Fprintf(&lines, "You work on %s %s, requested by %s.\n", quote.Word(t.ID), quote.Inline(t.Title), b.participants.Describe(t.Requester))
	if t.OriginalRequester != "" && t.OriginalRequester != t.Requester {
		fmt.Fprintf(&lines, "It is part of a request by %s.\n", quote.Word(t.OriginalRequester))
	}
	if t.DelegationReason != "" {
		lines.WriteString("reason for the assignment:\n" + quote.Block(t.DelegationReason))
	}
	if t.Deadline != nil {
		fmt.Fprintf(&lines, "It is due %s.\n", quote.Time(*t.Deadline))
	}
	lines.WriteString(progressText(t.Progress))
	lines.WriteString(openWorkText(t.WaitsOn))
	return lines.String()
}

// progressText returns the progress that the agent reported.
func progressText(p *parley.TaskProgress) string {
	if p == nil {
		return ""
	}
	var parts []string
	if p.Fraction != nil {
		parts = append(parts, fmt.Sprintf("%.0f %%", math.Floor(100**p.Fraction)))
	}
	if p.Current != nil && p.Total != nil {
		parts = append(parts, fmt.Sprintf("%d of %d", *p.Current, *p.Total))
	}
	if p.Message != "" {
		parts = append(parts, quote.Inline(p.Message))
	}
	for _, blocker := range p.Blockers {
		parts = append(parts, "blocked: "+quote.Inline(blocker))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Your last report of progress: " + strings.Join(parts, ", ") + ".\n"
}

// openWorkText says for which subtasks and approval the task waits, and that the agent need not act on them.
func openWorkText(w parley.WaitsOn) string {
	if len(w.Subtasks) == 0 && w.Approval == "" {
		return "Your final text is its result.\n"
	}
	var lines strings.Builder
	if len(w.Subtasks) > 0 {
		words := make([]string, 0, len(w.Subtasks))
		for _, id := range w.Subtasks {
			words = append(words, quote.Word(id))
		}
		fmt.Fprintf(&lines, "Other agents still work on %s for you.\n", strings.Join(words, ", "))
	}
	if w.Approval != "" {
		fmt.Fprintf(&lines, "A call of yours waits for the approval %s.\n", quote.Word(w.Approval))
	}
	lines.WriteString("Their outcome wakes you by itself, in this task: do not wait for it and do not ask for it. " +
		"If there is nothing else to do, end; the task stays open.\n")
	return lines.String()
}

// inputPieces returns the input of the task: the request that created the task, and the results on which it depends. It returns
// nil for a resumed session, which already has them.
func (b *builder) inputPieces() (list []piece) {
	if b.Task == nil || b.Resumed {
		return nil
	}
	if b.Request != nil {
		list = append(list, b.messagePiece(*b.Request))
	}
	for _, t := range b.Needed {
		list = append(list, resultPiece(t))
	}
	return list
}

// resultPiece returns the result of a task on which this task depends. The agent may see nothing else of that task.
func resultPiece(t parley.Task) piece {
	head, text := "result of "+quote.Word(t.ID)+":\n", ""
	if t.Result != nil {
		text = t.Result.Text
		rest := *t.Result
		if rest.Text, rest.Payload = "", nil; len(rest.Deliverables)+len(rest.Metrics)+len(rest.Issues)+len(rest.NextSteps) > 0 {
			more, _ := json.Marshal(rest) // encoding texts and numbers does not fail: the hub stores no number that JSON cannot encode
			text += "\n" + string(more)
		}
	}
	return piece{head + quote.Block(text), func(limit int) string { return head + quote.ShortBlock(text, max(1, limit-len(head))) }}
}
