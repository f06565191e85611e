package departures

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// insertDeparture stores the departure of a message and fixes its name, which is unique in its folder.
func (d *Search) insertDeparture(m parley.Message, recipient, folder string) (storage.DepartureRow, error) {
	row := storage.DepartureRow{
		Bridge: d.BridgeID, Message: m.ID, Recipient: recipient, Folder: folder, Name: m.ID, State: parley.DepartureDue, At: d.Now,
	}
	kept, err := d.ownDocumentName(m, folder)
	switch {
	case err != nil:
	case kept != "":
		row.Name = kept
	case d.Bridge.Layout == parley.LayoutAgentOS:
		row.Name, err = d.postName(m, folder)
	case d.Bridge.Layout == parley.LayoutInbox:
		row.Name, err = d.mailName(m, recipient)
	}
	if err != nil {
		return row, err
	}
	return d.Bridges().AddDeparture(row)
}

// namesPerSecond is how many names exist for the messages of one agent in one channel and one second.
const namesPerSecond = 1 << 16

// postName returns a name in the Multi-Agent OS form: the second, the sender, and a number. The number is higher than that
// of any earlier file of the same second and sender.
func (d *Search) postName(m parley.Message, channel string) (string, error) {
	prefix := fmt.Sprintf("msg-%s-%s-", m.CreatedAt.UTC().Format("20060102-150405"), m.From)
	departed, err := d.Bridges().LastDeparture(d.BridgeID, channel, prefix)
	if err = unit.IgnoreNotFound(err); err != nil {
		return "", err
	}
	arrived, err := d.Bridges().LastFile(d.BridgeID, prefix)
	if err = unit.IgnoreNotFound(err); err != nil {
		return "", err
	}
	next := max(numberIn(departed.Name, prefix), numberIn(arrived.Name, prefix)) + 1
	for offset := range namesPerSecond { // if the number is taken, use the next free one
		name := fmt.Sprintf("%s%04x", prefix, (next+offset)%namesPerSecond)
		if taken, err := d.nameTaken(m, channel, channel, name); err != nil || !taken {
			return name, err
		}
	}
	return "", parley.Errorf(parley.Unavailable, "%s posted %d messages in #%s within a second", m.From, namesPerSecond, channel).
		Suggest("post more slowly")
}

// numberIn returns the number after a prefix in a name, or -1 if the name has another form.
func numberIn(name, prefix string) int {
	rest, found := strings.CutPrefix(name, prefix)
	number, err := strconv.ParseUint(rest, 16, 16)
	if !found || err != nil {
		return -1
	}
	return int(number)
}

// mailName returns a name in the Routing Protocol form, made from the last eight digits of the message's id. If another
// message has that name, it counts up.
func (d *Search) mailName(m parley.Message, recipient string) (string, error) {
	number, err := strconv.ParseUint(m.ID[max(0, len(m.ID)-8):], 16, 32)
	if err != nil {
		return "", fmt.Errorf("the id of message %s: %w", m.ID, err)
	}
	for {
		name := fmt.Sprintf("msg_%08x", uint32(number)) //nolint:gosec // it wraps
		if taken, err := d.nameTaken(m, "", recipient, name); err != nil || !taken {
			return name, err
		}
		number++
	}
}

// nameTaken reports whether another message has a name in a folder. A refused file of the same sender there counts as this
// message: an earlier bridge wrote it.
func (d *Search) nameTaken(m parley.Message, folder, recipient, name string) (bool, error) {
	row, err := d.Bridges().DepartureNamed(d.BridgeID, folder, name)
	if err == nil && row.Message != m.ID {
		return true, nil
	}
	if err = unit.IgnoreNotFound(err); err != nil {
		return false, err
	}
	file, err := d.Bridges().FileNamed(d.BridgeID, name, "")
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	own := file.Message == "" && file.From == m.From && trees.FolderOf(file.File.Path) == recipient
	return err == nil && !own, err
}

// documentNames has an entry for each layout in which the id of a document is its file name. An entry names the member of a
// message's metadata that keeps the original document, the member of the document that has the id, and the form of ids that can
// be file names.
var documentNames = map[parley.Layout]struct {
	dialect, id string
	form        *regexp.Regexp
}{
	parley.LayoutBlackboard: {"clawos", "id", regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)},
	parley.LayoutInbox:      {"routing", "msg_id", regexp.MustCompile(`^msg_[0-9a-f]{8}$`)},
}

// documentName returns the id of the document that a message came from in the format of a layout, or "".
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
// id. It returns "" if another message has the name, or if another sender wrote a file with that name.
func (d *Search) ownDocumentName(m parley.Message, folder string) (string, error) {
	name := documentName(d.Bridge.Layout, m)
	if name == "" {
		return "", nil
	}
	row, err := d.Bridges().DepartureNamed(d.BridgeID, folder, name)
	if err == nil && row.Message != m.ID {
		return "", nil
	}
	if err = unit.IgnoreNotFound(err); err != nil {
		return "", err
	}
	file, err := d.Bridges().FileNamed(d.BridgeID, name, "")
	if err == nil && file.From != m.From && trees.FolderOf(file.File.Path) == folder {
		return "", nil
	}
	return name, unit.IgnoreNotFound(err)
}

// FindOwn reports whether the hub itself writes the file with this name in this folder. If the name is the id of a sender's own
// document, it also returns the message. The sender may then have written the same file, so the caller compares the senders.
func FindOwn(u *unit.Unit, b parley.Bridge, folder, name string) (own bool, message parley.Message, err error) {
	if folder == "" || !trees.IsStorable(folder, name) {
		return false, message, nil
	}
	row, err := u.Bridges().DepartureNamed(b.ID, folder, name)
	if err != nil {
		return false, message, unit.IgnoreNotFound(err)
	}
	m, err := u.Messages().Get(row.Message)
	if err != nil || documentName(b.Layout, m) != name {
		return true, message, unit.IgnoreNotFound(err)
	}
	return true, m, nil
}
