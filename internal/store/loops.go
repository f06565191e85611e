package store

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

type loops struct{ *tx }

func (s loops) Get(a, b string) (storage.Exchange, error) {
	low, high, err := s.pair(a, b)
	if err != nil {
		return storage.Exchange{}, err
	}
	list, err := s.find("e.low = $1 AND e.high = $2", low, high)
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return storage.Exchange{}, err
	}
	return list[0], nil
}

// pair returns the numbers of two agents, the smaller one first. They are the key of the agents' exchanges.
func (s loops) pair(a, b string) (low, high int64, err error) {
	one, err := s.agentNamed(a)
	if err != nil {
		return 0, 0, err
	}
	other, err := s.agentNamed(b)
	if err != nil {
		return 0, 0, err
	}
	return min(one.num, other.num), max(one.num, other.num), nil
}

func (s loops) Put(e storage.Exchange) error {
	low, high, err := s.pair(e.A, e.B)
	if err != nil {
		return err
	}
	var conv any // NULL if the conversation of the last exchange is deleted
	if e.Conversation != "" {
		key, err := s.conversationKey(e.Conversation)
		if err != nil {
			return err
		}
		conv = key.num
	}
	last, err := s.agentNamed(e.Last)
	if err != nil {
		return err
	}
	return s.write(`INSERT INTO exchanges (low, high, last, conv, count, at, open) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (low, high) DO UPDATE SET last = excluded.last, conv = excluded.conv, count = excluded.count, at = excluded.at, open = excluded.open`,
		low, high, last.num, conv, e.Count, millis(e.At), flag(e.Open))
}

func (s loops) Forget(a, b string) (bool, error) {
	low, high, err := s.pair(a, b)
	if err != nil {
		return false, err
	}
	n, err := s.exec("DELETE FROM exchanges WHERE low = $1 AND high = $2", low, high)
	return n > 0, err
}

func (s loops) ForgetIn(conversation string) ([]storage.Exchange, error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return nil, err
	}
	open, err := s.find("e.conv = $1 AND e.open = 1 ORDER BY e.low, e.high", conv.num)
	if err != nil {
		return nil, err
	}
	_, err = s.exec("DELETE FROM exchanges WHERE conv = $1", conv.num)
	return open, err
}

// find reads exchanges. It also finds exchanges whose conversation is deleted, because deleting a conversation closes no breaker.
func (s loops) find(where string, args ...any) (list []storage.Exchange, err error) {
	var agents [][3]int64
	err = s.each(`SELECT e.low, e.high, e.last, c.id, e.count, e.at, e.open FROM exchanges e
		LEFT JOIN conversations c ON c.num = e.conv AND `+notDeleted+" WHERE "+where, args, func(r Rows) error {
		var (
			e    storage.Exchange
			nums [3]int64
			conv []byte
			at   int64
			open int
		)
		err := r.Scan(&nums[0], &nums[1], &nums[2], &conv, &e.Count, &at, &open)
		if err == nil {
			e.Conversation, err = uuidText(conv)
		}
		e.At, e.Open = fromMillis(at), open != 0
		list, agents = append(list, e), append(agents, nums)
		return err
	})
	for i := range list {
		if err == nil {
			err = s.name(&list[i], agents[i])
		}
	}
	return list, err
}

// name sets the agents of an exchange in the order of their ids, and the agent that was the last to wake the other.
func (s loops) name(e *storage.Exchange, nums [3]int64) error {
	one, err := s.agentID(nums[0])
	if err != nil {
		return err
	}
	other, err := s.agentID(nums[1])
	e.A, e.B, e.Last = min(one, other), max(one, other), one
	if nums[2] == nums[1] {
		e.Last = other
	}
	return err
}
