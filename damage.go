package parley

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Damage describes a stored row or body that has changed since the hub stored it.
type Damage struct {
	What string `json:"what"`          // message, delivery, artifact, task, run, approval or note
	Seq  int64  `json:"seq,omitempty"` // the number of the message
	ID   string `json:"id,omitempty"`  // of a delivery: the id of the message; of an artifact: the digest
	Why  string `json:"why"`           // what is wrong, as a sentence without a full stop
}

// String returns the damage as a sentence for people.
func (d Damage) String() string {
	switch {
	case d.Seq != 0 && d.ID != "":
		return fmt.Sprintf("%s %d (%s): %s", d.What, d.Seq, d.ID, d.Why)
	case d.Seq != 0:
		return fmt.Sprintf("%s %d: %s", d.What, d.Seq, d.Why)
	default:
		return fmt.Sprintf("%s %s: %s", d.What, d.ID, d.Why)
	}
}

// Err returns the error that a reader gets in place of the damaged row or body.
func (d Damage) Err() *Error {
	e := Errorf(Internal, "%s", d).Suggest("run `parley doctor --deep` to list all damaged data, and restore a backup to recover it")
	return e.From(ErrDamagedRow)
}

// ErrDamagedRow is in the chain of every error about a damaged row.
var ErrDamagedRow = errors.New("a stored row is damaged")

// WrongChecksum is the reason for a message whose row can be read but does not match its checksum.
const WrongChecksum = "it does not match its checksum"

// DamagedLine begins the line of a Markdown export that stands for a damaged message. The message's number follows.
const DamagedLine = "Damaged: message "

// DamagedMessage returns a message that the hub shows in place of a damaged one. Its text is the hub's and says which message is
// damaged. Only the number, the id and the conversation come from the damaged row.
func DamagedMessage(d Damage, conversation string) Message {
	return Message{
		ID: d.ID, Seq: d.Seq, TraceID: d.ID, Conversation: conversation, From: System, Type: TypeError, Priority: DefaultPriority,
		CreatedAt: idTime(d.ID), Content: Content{Text: d.String()}, Source: "damage", Damage: d.Err(),
	}
}

// idTime returns the time in a UUIDv7, or 1970 if the id has none.
func idTime(id string) time.Time {
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	ms := int64(0)
	if err == nil && len(raw) == 16 && raw[6]>>4 == 7 {
		for _, b := range raw[:6] {
			ms = ms<<8 | int64(b)
		}
	}
	if ms > lastMilli {
		ms = 0
	}
	return time.UnixMilli(ms).UTC()
}

// lastMilli is the last millisecond of the year 9999. Times in JSON cannot be later.
const lastMilli = 253402300799999
