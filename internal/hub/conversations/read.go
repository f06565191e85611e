package conversations

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

func MoveCursor(u *unit.Unit, m parley.Member) error {
	data, err := json.Marshal(map[string]int64{"read_seq": m.ReadSeq})
	if err != nil {
		return err
	}
	u.Note(parley.Event{Kind: parley.EventCursorMoved, Conversation: m.Conversation, Agent: m.Agent, Data: data})
	return SaveMember(u.Tx, m)
}
