package departures

import (
	"encoding/json"
	"regexp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// documentNames says of the layouts in which a document has the name of its id under what name a message keeps the document that it was,
// and which ids can be names of files there.
var documentNames = map[parley.Layout]struct {
	dialect, id string
	form        *regexp.Regexp
}{
	parley.LayoutBlackboard: {"clawos", "id", regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)},
	parley.LayoutInbox:      {"routing", "msg_id", regexp.MustCompile(`^msg_[0-9a-f]{8}$`)},
}

// documentName returns the id of the document that a message was in the format of a layout, or "".
func documentName(l parley.Layout, m parley.Message) string {
	own, ok := documentNames[l]
	if !ok || len(m.Metadata) == 0 {
		return ""
	}
	var kept map[string]json.RawMessage
	var document map[string]json.RawMessage
	var id string
	if json.Unmarshal(m.Metadata, &kept) != nil || json.Unmarshal(kept[own.dialect], &document) != nil || json.Unmarshal(document[own.id], &id) != nil {
		return ""
	}
	if !own.form.MatchString(id) {
		return ""
	}
	return id
}

// ownDocumentName returns the id of a message's own document as its file name, because the sender expects replies to that
// id. It returns "" if another message has the name, or another sender wrote a file with it.
func (d *Search) ownDocumentName(m parley.Message, folder string) (string, error) {
	name := documentName(d.Bridge.Layout, m)
	if name == "" {
		return "", nil
	}
	row, err := d.Bridges().DepartedAs(d.BridgeID, folder, name)
	if err == nil && row.Message != m.ID {
		return "", nil
	}
	if err = unit.IgnoreNotFound(err); err != nil {
		return "", err
	}
	file, err := d.Bridges().Named(d.BridgeID, name, "")
	if err == nil && file.From != m.From && trees.FolderOf(file.File.Path) == folder {
		return "", nil
	}
	return name, unit.IgnoreNotFound(err)
}

// FindOwn reports whether the hub itself writes the file with this name in this folder. If the name is the id of the
// sender's own document, it also returns the message: then only the sender tells whether the file is that document.
func FindOwn(u *unit.Unit, b parley.Bridge, folder, name string) (own bool, of parley.Message, err error) {
	if folder == "" || !trees.Keepable(folder, name) {
		return false, of, nil
	}
	row, err := u.Bridges().DepartedAs(b.ID, folder, name)
	if err != nil {
		return false, of, unit.IgnoreNotFound(err)
	}
	m, err := u.Messages().Get(row.Message)
	if err != nil || documentName(b.Layout, m) != name {
		return true, of, unit.IgnoreNotFound(err)
	}
	return true, m, nil
}
