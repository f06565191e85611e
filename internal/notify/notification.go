package notify

import (
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/plain"
)

// maxTextLength is how many bytes of a text all receivers accept.
const maxTextLength = 3500

// buttonsText ends the text of a request for approval. Notifications have buttons or a link instead.
const buttonsText = "[Approve] [Deny]"

// notification is the content that a person gets. Agents wrote its text, so no receiver may interpret it as markup.
type notification struct {
	notice    parley.Notice
	about     *parley.Approval
	title     string
	text      string
	link      string // to the page of the approval; "" if there is nothing to decide
	truncated bool   // the text is not all that is said
}

func newNotification(due hub.DueNotice) notification {
	text, partial := clip(plain.Text(strings.TrimSpace(strings.TrimSuffix(due.Text, buttonsText))), maxTextLength)
	title, _ := clip(plain.Line(due.Title), 200)
	return notification{notice: due.Notice, about: due.About, title: title, text: text, truncated: partial}
}

// canDecideHere reports whether the notification may have buttons. A truncated one may not: the person must read the whole
// request before deciding.
func (l notification) canDecideHere() bool { return l.link != "" && !l.truncated }

// approvalLabel returns the short name of the approval with a leading space, for the label of a button, or "".
func (l notification) approvalLabel() string {
	if l.about == nil {
		return ""
	}
	return " " + l.about.ShortName()
}

// fullText returns title, text and link as one text.
func (l notification) fullText() string {
	parts := []string{l.title, l.text}
	if l.link != "" {
		parts = append(parts, "Decide: "+l.link)
	}
	return strings.Join(parts, "\n\n")
}

// decisionText says in a sentence how an approval ended.
func decisionText(a parley.Approval) string {
	switch a.State {
	case parley.ApprovalApproved, parley.ApprovalExecuted:
		return "Approved by " + a.DecidedBy + "." + noteOf(a)
	case parley.ApprovalDenied:
		return "Denied by " + a.DecidedBy + "." + noteOf(a)
	case parley.ApprovalExpired:
		return "Nobody decided in time."
	case parley.ApprovalWithdrawn:
		if a.Refused() {
			why, _ := clip(plain.Line(a.Failure.Message), 300)
			return "Approved by " + a.DecidedBy + ", but refused when it was made: " + why + "." + noteOf(a)
		}
		return "It is not needed any more."
	default:
		return "It waits for a decision."
	}
}

func noteOf(a parley.Approval) string {
	if a.Note == "" {
		return ""
	}
	note, _ := clip(plain.Line(a.Note), 300)
	return " " + note
}

// clip cuts a text to at most that many bytes, between characters, and reports whether it cut.
func clip(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…", true
}
