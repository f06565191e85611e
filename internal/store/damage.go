package store

import (
	"errors"
	"sync"

	"github.com/parley-hub/parley"
)

// ErrCorrupt is in the chain of every error by which a database reports that its own pages are damaged.
var ErrCorrupt = errors.New("is damaged")

// maxDamages bounds what is remembered of damage. The deep check lists everything.
const maxDamages = 1000

// damages collects what readers find damaged, each thing once.
type damages struct {
	mu    sync.Mutex
	known map[parley.Damage]bool
	fresh []parley.Damage
	come  chan struct{}
}

func newDamages() *damages {
	return &damages{known: map[parley.Damage]bool{}, come: make(chan struct{}, 1)}
}

func (d *damages) add(one parley.Damage) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known[one] || len(d.known) >= maxDamages {
		return
	}
	d.known[one] = true
	d.fresh = append(d.fresh, one)
	select {
	case d.come <- struct{}{}:
	default:
	}
}

// Damaged implements parley.DamageSource.
func (s *Store) Damaged() <-chan struct{} { return s.damages.come }

// Damages implements parley.DamageSource.
func (s *Store) Damages() []parley.Damage {
	s.damages.mu.Lock()
	defer s.damages.mu.Unlock()
	fresh := s.damages.fresh
	s.damages.fresh = nil
	return fresh
}

// distrust notes that a message is damaged and returns its stand-in.
func (t *tx) distrust(seq int64, id, conversation, why string) parley.Message {
	damage := parley.Damage{What: "message", Seq: seq, ID: id, Why: why}
	t.damages.add(damage)
	return parley.DamagedMessage(damage, conversation)
}

// mayGoOn reports whether a query failed because a page of the database is damaged and other queries may still work. None
// works in an update, or after the database has ended the transaction.
func (t *tx) mayGoOn(err error) bool {
	if err == nil || t.writable || !errors.Is(err, ErrCorrupt) {
		return false
	}
	t.broken = nil
	return true
}

// oneByOne reads messages by their numbers, which a query finds in an index. It returns a stand-in for each message that
// cannot be read.
func (s messages) oneByOne(query string, args []any, conv string) (list []parley.Message, err error) {
	var seqs []int64
	err = s.each(query, args, func(r Rows) error {
		var seq int64
		err := r.Scan(&seq)
		seqs = append(seqs, seq)
		return err
	})
	if err != nil {
		return nil, err
	}
	size := 0
	for _, seq := range seqs {
		one, err := s.list("WHERE m.seq = $1", seq)
		if s.mayGoOn(err) {
			one, err = []parley.Message{s.distrust(seq, "", conv, "its page cannot be read")}, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, one...)
		for _, m := range one {
			size += m.Size()
		}
		if size > maxPage {
			break
		}
	}
	return list, nil
}
