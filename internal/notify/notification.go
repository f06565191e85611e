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
	truncated bool   // text is only the beginning of the notice
}

func newNotification(due hub.DueNotice) notification {
	text, partial := shorten(plain.Text(strings.TrimSpace(strings.TrimSuffix(due.Text, buttonsText))), maxTextLength)
	title, _ := shorten(plain.Line(due.Title), 200)
	return notification{notice: due.Notice, about: due.About, title: title, text: text, truncated: partial}
}

// canDecideHere reports whether the notification may have buttons. A truncated notification may not: the person must read the
// whole request before deciding.
func (n notification) canDecideHere() bool { return n.link != "" && !n.truncated }

// approvalLabel returns the short name of the approval with a leading space, for the label of a button, or "".
func (n notification) approvalLabel() string {
	if n.about == nil {
		return ""
	}
	return " " + n.about.ShortName()
}

// fullText returns title, text and link as one text.
func (n notification) fullText() string {
	parts := []string{n.title, n.text}
	if n.link != "" {
		parts = append(parts, "Decide: "+n.link)
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
			why, _ := shorten(plain.Line(a.Failure.Message), 300)
			return "Approved by " + a.DecidedBy + ", but the hub then refused the call: " + why + "." + noteOf(a)
		}
		return "The call is no longer needed."
	default:
		return "It waits for a decision."
	}
}

func noteOf(a parley.Approval) string {
	if a.Note == "" {
		return ""
	}
	note, _ := shorten(plain.Line(a.Note), 300)
	return " " + note
}

// shorten cuts a text to at most limit bytes, between characters, and reports whether it cut.
func shorten(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	end := limit
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…", true
}
