package parley

import (
	"slices"
	"time"
)

// Delivery is one message on its way to one recipient.
type Delivery struct {
	Message    string        `json:"message"`
	Recipient  string        `json:"recipient"`
	State      DeliveryState `json:"state"`
	Waking     bool          `json:"waking"`
	PairSeq    int64         `json:"pair_seq"` // 1-based count from this sender to this recipient
	Attempt    int           `json:"attempt"`
	AcceptedAt time.Time     `json:"accepted_at"`
}

// Reach is what a message means for one participant: a delivery, and whether it wakes.
type Reach struct {
	Agent string
	Wakes bool
}

// Reaches says who a message is for, in the order of the members. A plain post in a channel is
// for nobody in particular and only makes the channel unread.
func (m Message) Reaches(c Conversation, members []string, fromHuman bool) []Reach {
	everyone := m.To == All
	direct := c.FixedMembers() // DM, ephemeral, implicit group
	calls := slices.Contains(m.Mentions, All)
	var reached []Reach
	for _, agent := range members {
		if agent == m.From || agent == System {
			continue
		}
		named := m.To == agent || calls || slices.Contains(m.Mentions, agent)
		if !named && !everyone && !direct {
			continue
		}
		wakes := named || direct && !everyone && (c.Kind != Group || fromHuman)
		reached = append(reached, Reach{agent, wakes && m.Type.Wakes()})
	}
	return reached
}
