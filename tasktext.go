package parley

import (
	"strings"
	"unicode/utf8"
)

// TitleOf is the title of a task that a text asks for: its first line, cut to what a title may have. Of a request
// by which one agent turns to another it is the first line of what was said.
func TitleOf(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[Agent Request from ") {
		text = afterParagraph(text)
		if strings.HasPrefix(text, "Context: ") {
			text = afterParagraph(text)
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	return cutTo(strings.TrimSpace(line), MaxTaskTitle)
}

func afterParagraph(text string) string {
	_, rest, _ := strings.Cut(text, "\n\n")
	return strings.TrimSpace(rest)
}

// cutTo is a text of at most so many characters, marked where it was cut.
func cutTo(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// CallbackText is what the requester of an ended task is told. The assignee is named as people call it.
func (t Task) CallbackText(assignee string) string { return t.CallbackWording(assignee).Text }

// CallbackWording is that text with the parts that others wrote: the result is the assignee's, the reason may be anybody's.
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

// Words is a result as a text.
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
