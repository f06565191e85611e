package departures

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
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
	return d.Bridges().Depart(row)
}

// namesPerSecond is how many names a second has for the messages of one agent in one channel.
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
	for tried := range namesPerSecond { // where the last number is taken, the first that is free
		name := fmt.Sprintf("%s%04x", prefix, (next+tried)%namesPerSecond)
		if taken, err := d.nameTaken(m, channel, channel, name); err != nil || !taken {
			return name, err
		}
	}
	return "", parley.Errorf(parley.Unavailable, "%s has posted %d messages in #%s within a second", m.From, namesPerSecond, channel).
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
	row, err := d.Bridges().DepartedAs(d.BridgeID, folder, name)
	if err == nil && row.Message != m.ID {
		return true, nil
	}
	if err = unit.IgnoreNotFound(err); err != nil {
		return false, err
	}
	file, err := d.Bridges().Named(d.BridgeID, name, "")
	if errors.Is(err, parley.ErrNotFound) {
		return false, nil
	}
	own := file.Message == "" && file.From == m.From && trees.FolderOf(file.File.Path) == recipient
	return err == nil && !own, err
}
