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

// maxKeptLength is how many bytes a path or a name in a dialect has at most.
const maxKeptLength = 1 << 10

// Keepable reports whether every store can keep some texts.
func Keepable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool {
		return len(text) > maxKeptLength || !utf8.ValidString(text) || strings.Contains(text, "\x00")
	})
}

// DocumentNote is the payload of the message by which the hub tells the sender of a document that it became no message. A
// departure reads from it which document the message answers.
type DocumentNote struct {
	Error    *parley.Error `json:"error,omitempty"`
	Document string        `json:"document"`       // its id in the format of the tree
	File     string        `json:"file,omitempty"` // its path below the root
	Final    bool          `json:"final"`
}

// TypeIncident is the message type for an error in the Multi-Agent OS format.
const TypeIncident parley.Type = "incident"

// MaxReportedIssues is how many issues of a document the hub tells its sender. The file beside the refused document lists all of
// them.
const MaxReportedIssues = 20

// ReportedIn reports whether the hub writes a message for an agent into a channel of a tree although the agent's mail goes
// elsewhere. That is so for the outcome of a task that was requested in the tree.
func ReportedIn(u *unit.Unit, b parley.Bridge, message, agent string) (bool, error) {
	if b.Layout != parley.LayoutAgentOS || !b.Speaks(agent) {
		return false, nil
	}
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	t, found, err := BelongsTo(u, m)
	if err != nil || !found || m.ID != t.Callback {
		return false, err
	}
	_, err = u.Bridges().FileOfMessage(b.ID, m.InReplyTo)
	return err == nil, unit.IgnoreNotFound(err)
}

// ReportedElsewhere reports whether such a message is written, or will be, into any tree of its recipient.
func ReportedElsewhere(u *unit.Unit, d parley.Delivery) (told bool, err error) {
	trees, err := Homes(u, d.Recipient)
	for _, b := range trees {
		if err == nil && !told {
			told, err = ReportedIn(u, b, d.Message, d.Recipient)
		}
		if err == nil && told {
			told, err = MayCome(u, b, d.Message, d.Seq)
		}
	}
	return told, err
}

// BelongsTo returns the task that a message belongs to, and whether there is one.
func BelongsTo(u *unit.Unit, m parley.Message) (t parley.Task, found bool, err error) {
	if m.Task == "" {
		return t, false, nil
	}
	t, err = u.Tasks().Get(m.Task)
	return t, err == nil, unit.IgnoreNotFound(err)
}

// MayCome reports whether a message was written into the channels of a tree, or may still be.
func MayCome(u *unit.Unit, b parley.Bridge, message string, seq int64) (bool, error) {
	_, err := u.Bridges().Departure(b.ID, message, "")
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	cursor, err := u.Bridges().Cursor(b.ID)
	return cursor < seq, err
}
