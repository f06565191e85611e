package store

import (
	"database/sql"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type deliveries struct{ *tx }

func (s deliveries) Insert(m parley.Message, to []parley.Reach) ([]parley.Delivery, error) {
	if !s.writable {
		return nil, errReadOnly
	}
	from, err := s.agentNamed(m.From)
	if err != nil {
		return nil, err
	}
	recipients, err := s.recipients(m, to)
	if err != nil {
		return nil, err
	}
	made := make([]parley.Delivery, 0, len(to))
	for i, recipient := range recipients {
		d := parley.Delivery{
			Message: m.ID, Recipient: recipient.agent.ID, State: parley.DeliveryAccepted,
			Waking: to[i].Wakes, AcceptedAt: m.CreatedAt,
		}
		err = s.row(`INSERT INTO pairs (sender, recipient, count) VALUES ($1, $2, 1)
			ON CONFLICT (sender, recipient) DO UPDATE SET count = pairs.count + 1 RETURNING count`,
			[]any{from.num, recipient.num}, []any{&d.PairSeq})
		if err != nil {
			return nil, err
		}
		err = s.write(`INSERT INTO deliveries (message, agent, state, waking, pair_seq, attempt, accepted_at)
			VALUES ($1, $2, $3, $4, $5, 0, $6)`,
			m.Seq, recipient.num, string(d.State), flag(d.Waking), d.PairSeq, millis(d.AcceptedAt))
		if err != nil {
			return nil, err
		}
		made = append(made, d)
	}
	return made, nil
}

// recipients finds whom a message is for, and refuses before anything is written: a count that rose
// for a refused delivery would be a gap in pair_seq.
func (s deliveries) recipients(m parley.Message, to []parley.Reach) ([]*agentRow, error) {
	taken, err := s.delivered(m)
	if err != nil {
		return nil, err
	}
	rows := make([]*agentRow, 0, len(to))
	for _, reach := range to {
		row, err := s.agentNamed(reach.Agent)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if taken[row.num] {
			return nil, parley.ErrTaken
		}
		taken[row.num] = true
	}
	return rows, nil
}

// delivered are the agents a stored message has deliveries for. ErrNotFound if it is not stored.
func (s deliveries) delivered(m parley.Message) (agents map[int64]bool, err error) {
	agents = map[int64]bool{}
	if s.undelivered == m.ID && m.ID != "" {
		s.undelivered = ""
		return agents, nil
	}
	id, err := uuid.Parse(m.ID)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	stored := false
	err = s.each(`SELECT d.agent FROM messages m LEFT JOIN deliveries d ON d.message = m.seq
		WHERE m.seq = $1 AND m.id = $2`, []any{m.Seq, id[:]}, func(r Rows) error {
		stored = true
		var agent sql.NullInt64
		err := r.Scan(&agent)
		if agent.Valid {
			agents[agent.Int64] = true
		}
		return err
	})
	if err == nil && !stored {
		err = parley.ErrNotFound
	}
	return agents, err
}

func (s deliveries) Of(message string) ([]parley.Delivery, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	var (
		list []parley.Delivery
		nums []int64
	)
	err = s.each(`SELECT d.agent, d.state, d.waking, d.pair_seq, d.attempt, d.accepted_at
		FROM deliveries d JOIN messages m ON m.seq = d.message JOIN conversations c ON c.num = m.conv
		WHERE m.id = $1 AND c.buried = 0 ORDER BY d.agent`,
		[]any{id[:]}, func(r Rows) error {
			d := parley.Delivery{Message: message}
			var (
				num, accepted int64
				state         string
				waking        int
			)
			err := r.Scan(&num, &state, &waking, &d.PairSeq, &d.Attempt, &accepted)
			d.State, d.Waking, d.AcceptedAt = parley.DeliveryState(state), waking != 0, fromMillis(accepted)
			list, nums = append(list, d), append(nums, num)
			return err
		})
	for i := range list {
		if err != nil {
			break
		}
		list[i].Recipient, err = s.agentID(nums[i])
	}
	return list, err
}

func (s deliveries) Open(conversation string) (open bool, err error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return false, err
	}
	err = s.each(`SELECT 1 FROM messages m JOIN deliveries d ON d.message = m.seq
		WHERE m.conv = $1 AND d.state IN ('accepted', 'delivered', 'seen') LIMIT 1`, []any{conv.num}, func(Rows) error {
		open = true
		return nil
	})
	return open, err
}
