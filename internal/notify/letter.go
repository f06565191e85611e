package notify

import (
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/plain"
)

// mostText is what all receivers take of a text, in bytes.
const mostText = 3500

// choice ends the text of a request. Where people are told there are buttons instead, or a link.
const choice = "[Approve] [Deny]"

// letter is what a person is told. Its words come from agents: nothing in them may be read as anything but words.
type letter struct {
	notice  parley.Notice
	about   *parley.Approval
	title   string
	text    string
	link    string // where the approval is shown, if one is asked for
	partial bool   // the text is not all that is said
}

func newLetter(due hub.DueNotice) letter {
	text, partial := clip(plain.Text(strings.TrimSpace(strings.TrimSuffix(due.Text, choice))), mostText)
	title, _ := clip(plain.Line(due.Title), 200)
	return letter{notice: due.Notice, about: due.About, title: title, text: text, partial: partial}
}

// asks says whether the person can answer right where they are told. Nobody should answer what they have not seen
// whole.
func (l letter) asks() bool { return l.link != "" && !l.partial }

// name is the short name of the approval, for the label of a button.
func (l letter) name() string {
	if l.about == nil {
		return ""
	}
	return " " + l.about.ShortName()
}

// whole is all of it, for where there is nothing but text.
func (l letter) whole() string {
	parts := []string{l.title, l.text}
	if l.link != "" {
		parts = append(parts, "Decide: "+l.link)
	}
	return strings.Join(parts, "\n\n")
}

// decision is what has become of an approval, in words.
func decision(a parley.Approval) string {
	switch a.State {
	case parley.ApprovalApproved, parley.ApprovalExecuted:
		return "Approved by " + a.DecidedBy + "." + noted(a)
	case parley.ApprovalDenied:
		return "Denied by " + a.DecidedBy + "." + noted(a)
	case parley.ApprovalExpired:
		return "Nobody decided in time."
	case parley.ApprovalWithdrawn:
		if a.Refused() {
			why, _ := clip(plain.Line(a.Failure.Message), 300)
			return "Approved by " + a.DecidedBy + ", but refused when it was made: " + why + "." + noted(a)
		}
		return "It is not needed any more."
	default:
		return "It waits for a decision."
	}
}

func noted(a parley.Approval) string {
	if a.Note == "" {
		return ""
	}
	note, _ := clip(plain.Line(a.Note), 300)
	return " " + note
}

// clip cuts a text to at most so many bytes, between characters.
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
