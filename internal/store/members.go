package store

import (
	"github.com/parley-hub/parley"
)

type members struct{ *tx }

func (s members) Get(conversation, agent string) (parley.Member, error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return parley.Member{}, err
	}
	member, err := s.agentNamed(agent)
	if err != nil {
		return parley.Member{}, err
	}
	m := parley.Member{Conversation: conv.id, Agent: member.agent.ID}
	var joined int64
	err = s.row("SELECT joined_at, read_seq FROM participants WHERE conv = $1 AND agent = $2",
		[]any{conv.num, member.num}, []any{&joined, &m.ReadSeq})
	m.JoinedAt = fromMillis(joined)
	return m, err
}

func (s members) List(conversation string) ([]parley.Member, error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return nil, err
	}
	var (
		list []parley.Member
		nums []int64
	)
	err = s.each("SELECT agent, joined_at, read_seq FROM participants WHERE conv = $1 ORDER BY joined_at, agent",
		[]any{conv.num}, func(r Rows) error {
			m := parley.Member{Conversation: conv.id}
			var num, joined int64
			err := r.Scan(&num, &joined, &m.ReadSeq)
			m.JoinedAt = fromMillis(joined)
			list, nums = append(list, m), append(nums, num)
			return err
		})
	for i := range list {
		if err != nil {
			break
		}
		list[i].Agent, err = s.agentID(nums[i])
	}
	return list, err
}

func (s members) Put(m parley.Member) error {
	conv, err := s.conversationKey(m.Conversation)
	if err != nil {
		return err
	}
	member, err := s.agentNamed(m.Agent)
	if err != nil {
		return err
	}
	err = s.write(`INSERT INTO participants (conv, agent, joined_at, read_seq) VALUES ($1, $2, $3, $4)
		ON CONFLICT (conv, agent) DO UPDATE SET joined_at = excluded.joined_at, read_seq = excluded.read_seq`,
		conv.num, member.num, millis(m.JoinedAt), m.ReadSeq)
	return err
}

func (s members) Remove(conversation, agent string) error {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return err
	}
	member, err := s.agentNamed(agent)
	if err != nil {
		return err
	}
	n, err := s.exec("DELETE FROM participants WHERE conv = $1 AND agent = $2", conv.num, member.num)
	return requireRow(n, err, parley.ErrNotFound)
}

func (s members) Unread(m parley.Member, limit int) (n int, err error) {
	conv, err := s.conversationKey(m.Conversation)
	if err != nil {
		return 0, err
	}
	member, err := s.agentNamed(m.Agent)
	if err != nil {
		return 0, err
	}
	err = s.row(`SELECT count(*) FROM (SELECT 1 AS one FROM messages WHERE conv = $1 AND seq > $2 AND sender <> $3 LIMIT 0 + $4) AS u`,
		[]any{conv.num, m.ReadSeq, member.num, limit}, []any{&n})
	return n, err
}

type cursors struct{ *tx }

func (s cursors) Get(name string) (num int64, err error) {
	err = s.row("SELECT num FROM cursors WHERE name = $1", []any{name}, []any{&num})
	return num, err
}

func (s cursors) Move(name string, from, to int64) error {
	statement, args := "UPDATE cursors SET num = $2 WHERE name = $1 AND num = $3", []any{name, to, from}
	if from == 0 {
		statement, args = `INSERT INTO cursors (name, num) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET num = excluded.num WHERE cursors.num = 0`, []any{name, to}
	}
	n, err := s.exec(statement, args...)
	return requireRow(n, err, parley.ErrTaken)
}
