package trees

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// FolderOf returns the channel of a file, or the agent in whose inbox it is.
func FolderOf(file string) string {
	dir := path.Dir(file)
	if path.Base(dir) == "inbox" {
		dir = path.Dir(dir)
	}
	return path.Base(dir)
}

// maxStorableLength is the longest path, or name of a dialect, that the hub stores, in bytes.
const maxStorableLength = 1 << 10

// IsStorable reports whether every store can store all of the texts.
func IsStorable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		return len(text) > maxStorableLength || !utf8.ValidString(text) || strings.Contains(text, "\x00")
	})
}

// DocumentNote is the payload of the message by which the hub tells a sender that its document did not become a message. From the
// note, a departure gets the id of the document that the message answers.
type DocumentNote struct {
	Error    *parley.Error `json:"error,omitempty"`
	Document string        `json:"document"`       // the id of the document in the format of the tree
	File     string        `json:"file,omitempty"` // the path of the document below the root
	Final    bool          `json:"final"`
}

// TypeIncident is the message type for an error in the Multi-Agent OS format.
const TypeIncident parley.Type = "incident"

// MaxReportedIssues is how many issues of a document the hub tells its sender. The file beside the refused document lists all
// issues.
const MaxReportedIssues = 20

// ReportedIn reports whether the hub writes a message for an agent into a channel of a tree although the mail of the agent goes
// elsewhere. The hub does so with the outcome of a task that was requested in the tree.
func ReportedIn(u *unit.Unit, b parley.Bridge, message, agent string) (bool, error) {
	if b.Layout != parley.LayoutAgentOS || !b.HasAgent(agent) {
		return false, nil
	}
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	t, found, err := TaskOf(u, m)
	if err != nil || !found || m.ID != t.Callback {
		return false, err
	}
	_, err = u.Bridges().FileOfMessage(b.ID, m.InReplyTo)
	return err == nil, unit.IgnoreNotFound(err)
}

// ReportedElsewhere reports whether the hub writes a message into a channel of any tree of its recipient, as ReportedIn says, or
// has written it.
func ReportedElsewhere(u *unit.Unit, d parley.Delivery) (reported bool, err error) {
	trees, err := BridgesOf(u, d.Recipient)
	for _, b := range trees {
		if err == nil && !reported {
			reported, err = ReportedIn(u, b, d.Message, d.Recipient)
		}
		if err == nil && reported {
			reported, err = MayBeWritten(u, b, d.Message, d.Seq)
		}
	}
	return reported, err
}

// TaskOf returns the task that a message belongs to, and whether there is one.
func TaskOf(u *unit.Unit, m parley.Message) (t parley.Task, found bool, err error) {
	if m.Task == "" {
		return t, false, nil
	}
	t, err = u.Tasks().Get(m.Task)
	return t, err == nil, unit.IgnoreNotFound(err)
}

// MayBeWritten reports whether a message was written into the channels of a tree, or may still be.
func MayBeWritten(u *unit.Unit, b parley.Bridge, message string, seq int64) (bool, error) {
	_, err := u.Bridges().Departure(b.ID, message, "")
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	cursor, err := u.Bridges().Cursor(b.ID)
	return cursor < seq, err
}
