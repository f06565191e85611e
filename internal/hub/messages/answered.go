package messages

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Answered returns the short names of the messages that some messages answer and that are not among them. The reader of an answer may know
// the place of the question in the order of the hub, even if it may not read the question.
func Answered(u *unit.Unit, list []parley.Message) (parley.ShortNames, error) {
	shown, asked := map[string]bool{}, []string{}
	for _, m := range list {
		shown[m.ID] = true
	}
	for _, m := range list {
		if m.InReplyTo != "" && !shown[m.InReplyTo] {
			shown[m.InReplyTo] = true
			asked = append(asked, m.InReplyTo)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	seqs, err := u.Messages().Seqs(asked)
	names := parley.ShortNames{}
	for id, seq := range seqs {
		names[id] = (&parley.Message{ID: id, Seq: seq}).ShortName()
	}
	return names, err
}
