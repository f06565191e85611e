package parley

import (
	"strings"
	"unicode/utf8"
)

// TitleOf returns a title for a task with a text: the first line, cut to MaxTaskTitle characters. For the message of a contact,
// it is the first line after the header and the context.
func TitleOf(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[Agent Request from ") {
		text = afterParagraph(text)
		if strings.HasPrefix(text, "Context: ") {
			text = afterParagraph(text)
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	return cutToLine(strings.TrimSpace(line))
}

func afterParagraph(text string) string {
	_, rest, _ := strings.Cut(text, "\n\n")
	return strings.TrimSpace(rest)
}

// cutToLine returns a text of at most MaxTaskTitle characters. If it cuts the text, the last character is ….
func cutToLine(text string) string {
	if utf8.RuneCountInString(text) <= MaxTaskTitle {
		return text
	}
	return string([]rune(text)[:MaxTaskTitle-1]) + "…"
}

// CallbackText returns the text that tells the requester that the task ended. assignee is the assignee's display name.
func (t Task) CallbackText(assignee string) string { return t.CallbackWording(assignee).Text }

// CallbackWording returns the text of CallbackText, with marks for the parts that participants wrote. The assignee wrote the
// result; any participant may have written the reason.
func (t Task) CallbackWording(assignee string) Wording {
	if t.Status == TaskCompleted {
		head := Own("[Delegation Result from ").Name(t.Assignee, assignee).Own(" | " + t.ID)
		if t.Outcome == OutcomePartial {
			head = head.Own(" | partial")
		}
		return head.Own("]\n").Quote(t.Assignee, t.Result.Words())
	}
	reason := Own("no reason was given")
	if t.Error != nil && t.Error.Message != "" {
		reason = Wording{}.Quote("", t.Error.Message)
	}
	return Own("[Delegation Failed | ").Name(t.Assignee, assignee).Own(" | "+t.ID+"]\nError: ").
		Name(t.Assignee, assignee).Own(FailedToComplete).Join(reason)
}

// Words returns the result as a text, or "" if there is no result.
func (r *TaskResult) Words() string {
	if r == nil {
		return ""
	}
	var parts []string
	if r.Text != "" {
		parts = append(parts, r.Text)
	}
	for _, list := range []struct {
		name  string
		items []string
	}{{"Deliverables", r.Deliverables}, {"Issues", r.Issues}, {"Next steps", r.NextSteps}} {
		if len(list.items) > 0 {
			parts = append(parts, list.name+":\n- "+strings.Join(list.items, "\n- "))
		}
	}
	return strings.Join(parts, "\n\n")
}
