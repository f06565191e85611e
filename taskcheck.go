package parley

import (
	"encoding/json"
	"math"
)

const (
	maxTaskText     = 4 << 10 // bytes of each short text: title, reason, message of progress, blocker, deliverable
	maxDependencies = 64      // tasks that a task may depend on
)

// Check returns what is wrong with a new task, or nil. It does not check whether the assignee and the other tasks exist.
func (n NewTask) Check(limits Limits) error {
	if err := checkText("text", n.Text, limits.Body); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"title": n.Title, "assignee": n.Assignee, "parent": n.Parent, "delegation_reason": n.DelegationReason,
	} {
		if err := checkText(name, text, maxTaskText); err != nil {
			return err
		}
	}
	if err := checkText("idempotency_key", n.IdempotencyKey, maxKeyBytes); err != nil {
		return err
	}
	if n.Title == "" && TitleOf(n.Text) == "" {
		return Errorf(BadInput, "the task has no text and no title").Suggest("give it a text, or a title")
	}
	return CheckNeeded(n.DependsOn)
}

// CheckNeeded returns why a task cannot depend on these tasks or messages, or nil.
func CheckNeeded(refs []string) error {
	if len(refs) > maxDependencies {
		return tooLargeError("depends_on", len(refs), maxDependencies, "entries")
	}
	for _, ref := range refs {
		if err := checkText("depends_on", ref, maxAddress); err != nil {
			return err
		}
	}
	return nil
}

// Check returns what is wrong with a report on a task, or nil.
func (c TaskChange) Check(limits Limits) error {
	switch c.Status {
	case "", TaskCompleted, TaskFailed:
	default:
		return Errorf(BadInput, "a task cannot be set to %q", clip(string(c.Status))).
			Suggest("use completed or failed; the requester can cancel, retry or reassign the task")
	}
	switch {
	case c.Outcome != "" && c.Outcome != OutcomeSuccess && c.Outcome != OutcomePartial:
		return Errorf(BadInput, "%q is not an outcome", clip(string(c.Outcome))).Suggest("use success or partial")
	case c.Outcome != "" && c.Status != TaskCompleted:
		return Errorf(BadInput, "only a completed task has an outcome").Suggest("set the status to completed, or leave the outcome out")
	case c.Status == "" && c.Progress == nil && c.Result == nil:
		return Errorf(BadInput, "the report has no progress, no result and no status").Suggest("give the task's progress, its result or its status")
	}
	if err := checkText("reason", c.Reason, maxTaskText); err != nil {
		return err
	}
	if c.Progress != nil {
		if err := c.Progress.Check(); err != nil {
			return err
		}
	}
	if c.Result != nil {
		return c.Result.check(limits)
	}
	return nil
}

// Check returns what is wrong with a progress report, or nil.
func (p TaskProgress) Check() error {
	for name, part := range map[string]*float64{"fraction": p.Fraction, "confidence": p.Confidence} {
		if part != nil && !(*part >= 0 && *part <= 1) {
			return Errorf(BadInput, "%s is %v", name, *part).Suggest("give a number from 0 to 1")
		}
	}
	switch {
	case p.Current != nil && *p.Current < 0, p.Total != nil && *p.Total < 0:
		return Errorf(BadInput, "a progress count is negative").Suggest("use 0 or more")
	case p.Current != nil && p.Total != nil && *p.Current > *p.Total:
		return Errorf(BadInput, "progress is %d of %d parts", *p.Current, *p.Total).Suggest("use a total that is not smaller than current")
	}
	if err := checkText("message", p.Message, maxTaskText); err != nil {
		return err
	}
	return checkItems("blockers", p.Blockers, MaxBlockers)
}

func checkItems(name string, items []string, limit int) error {
	if len(items) > limit {
		return tooLargeError(name, len(items), limit, "entries")
	}
	for _, item := range items {
		if err := checkText(name, item, maxTaskText); err != nil {
			return err
		}
	}
	return nil
}

func (r TaskResult) check(limits Limits) error {
	if err := checkText("result", r.Text, limits.Body); err != nil {
		return err
	}
	for name, items := range map[string][]string{"deliverables": r.Deliverables, "issues": r.Issues, "next_steps": r.NextSteps} {
		if err := checkItems(name, items, maxResultItems); err != nil {
			return err
		}
	}
	if len(r.Metrics) > maxResultItems {
		return tooLargeError("metrics", len(r.Metrics), maxResultItems, "entries")
	}
	for name, value := range r.Metrics {
		if err := checkText("metrics", name, maxAddress); err != nil {
			return err
		}
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return Errorf(BadInput, "the metric %q is not a number", clip(name)).Suggest("use a number, or leave the metric out")
		}
	}
	if _, err := CompactObject("payload", r.Payload, Limits{Body: limits.Body, Depth: DefaultLimits().Depth}); err != nil {
		return err
	}
	if raw, err := json.Marshal(r); err != nil || len(raw) > limits.Body {
		return tooLargeError("result", len(raw), limits.Body, "bytes")
	}
	return nil
}
