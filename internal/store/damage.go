package store

import (
	"errors"
	"sync"

	"github.com/parley-hub/parley"
)

// ErrCorrupt is in the chain of every error by which a database reports that its own pages are damaged.
var ErrCorrupt = errors.New("is damaged")

// maxDamages limits how much damage the store remembers. The deep check lists everything.
const maxDamages = 1000

// damages collects the damage that reads find, each damaged row once.
type damages struct {
	mu         sync.Mutex
	known      map[parley.Damage]bool
	unreported []parley.Damage
	found      chan struct{}
}

func newDamages() *damages {
	return &damages{known: map[parley.Damage]bool{}, found: make(chan struct{}, 1)}
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
	d.unreported = append(d.unreported, one)
	select {
	case d.found <- struct{}{}:
	default:
	}
}

// Damaged implements storage.DamageSource.
func (s *Store) Damaged() <-chan struct{} { return s.damages.found }

// Damages implements storage.DamageSource.
func (s *Store) Damages() []parley.Damage {
	s.damages.mu.Lock()
	defer s.damages.mu.Unlock()
	fresh := s.damages.unreported
	s.damages.unreported = nil
	return fresh
}

// damagedMessage notes that a message is damaged and returns the message that stands for it.
func (t *tx) damagedMessage(seq int64, id, conversation, why string) parley.Message {
	damage := parley.Damage{What: "message", Seq: seq, ID: id, Why: why}
	t.damages.add(damage)
	return parley.DamagedMessage(damage, conversation)
}

// resumeAfterDamage reports whether a query of a view failed because a page of the database is damaged. If so, it clears the
// error, so that the view can run other queries. An update cannot continue after such an error.
func (t *tx) resumeAfterDamage(err error) bool {
	if err == nil || t.writable || !errors.Is(err, ErrCorrupt) {
		return false
	}
	t.broken = nil
	return true
}

// readOneByOne reads messages one by one. The query returns their numbers from an index. For a message that cannot be read, it
// returns a message that stands for it.
func (s messages) readOneByOne(query string, args []any, conv string) (list []parley.Message, err error) {
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
		if s.resumeAfterDamage(err) {
			one, err = []parley.Message{s.damagedMessage(seq, "", conv, "its page cannot be read")}, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, one...)
		for _, m := range one {
			size += m.Size()
		}
		if size > maxPageBytes {
			break
		}
	}
	return list, nil
}
