package access

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	refusalPause  = time.Minute // in which the same refusal is written once
	refusalsKnown = 1024        // refusals remembered for that
	refusalsQueue = 256         // that wait to be written
	longestReason = 500         // bytes of a sentence: it may quote what the caller has sent
)

// refusals writes down whom the hub has refused what. It does so in the background and not without end:
// what is the same within a minute, or too much, is counted only, and the next entry says how much it was.
type refusals struct {
	hub  *Service
	head *heads
	rate *limiter
	wake chan struct{}

	mu      sync.Mutex
	known   map[refusalKey]*knownRefusal
	waiting []parley.AuditEntry
	missed  int // left out because there were too many
}

type refusalKey struct{ actor, sentence string }

// knownRefusal is when a refusal was last written, and how often it was left out since.
type knownRefusal struct {
	at      time.Time
	leftOut int
}

func newRefusals(h *Service, head *heads) *refusals {
	return &refusals{
		hub: h, head: head, rate: newLimiter(unit.Rate{PerSecond: 1, Burst: 60}), wake: make(chan struct{}, 1),
		known: map[refusalKey]*knownRefusal{},
	}
}

// NoteRefusal notes that the hub has refused a use case.
func NoteRefusal(s *Service, caller unit.Caller, err error) { s.refusals.note(caller, "hub", err) }

// Refused notes that a door has refused a caller it knows. Act is what the caller wanted.
func (s *Service) Refused(caller unit.Caller, act string, err error) {
	s.refusals.note(caller, act, err)
}

func (r *refusals) note(caller unit.Caller, subject string, err error) {
	e := parley.AsError(err)
	if e == nil || e.Code != parley.NotPermitted || e.Reason == parley.Unauthenticated && !errors.Is(err, unit.ErrMisuse) {
		return
	}
	now, sentence := r.hub.Now(), e.Message
	if len(sentence) > longestReason {
		sentence = strings.ToValidUTF8(sentence[:longestReason], "") + "…"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	leftOut, write := r.count(refusalKey{caller.Agent, sentence}, now)
	if !write {
		return
	}
	detail, err := json.Marshal(refusalDetail{sentence, caller.Source, caller.By, leftOut, r.missed})
	if err != nil {
		return // strings and numbers always can
	}
	r.missed = 0
	r.waiting = append(r.waiting, parley.AuditEntry{At: now, Actor: caller.Agent, Act: "refused", Subject: subject, Detail: detail})
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

type refusalDetail struct {
	Sentence string `json:"sentence"`
	Source   string `json:"source,omitempty"`
	By       string `json:"by,omitempty"`
	LeftOut  int    `json:"left_out,omitempty"` // the same, since it was last written
	Missed   int    `json:"missed,omitempty"`   // of any kind
}

// count says whether a refusal is written, and how often the same was left out before. r.mu is held.
func (r *refusals) count(key refusalKey, now time.Time) (leftOut int, write bool) {
	k := r.known[key]
	if k != nil && now.Before(k.at.Add(refusalPause)) {
		k.leftOut++
		return 0, false
	}
	if k == nil && !r.room(now) || len(r.waiting) >= refusalsQueue || r.rate.take(key.actor, now) > 0 {
		r.missed++
		return 0, false
	}
	if k != nil {
		leftOut = k.leftOut
	}
	r.known[key] = &knownRefusal{at: now}
	return leftOut, true
}

// room makes sure that one more refusal can be remembered. r.mu is held.
func (r *refusals) room(now time.Time) bool {
	if len(r.known) < refusalsKnown {
		return true
	}
	for key, k := range r.known {
		if !now.Before(k.at.Add(refusalPause)) {
			r.missed += k.leftOut
			delete(r.known, key)
		}
	}
	return len(r.known) < refusalsKnown
}

func (r *refusals) run(ctx context.Context, started func()) {
	started()
	for {
		select {
		case <-ctx.Done():
			r.write(context.WithoutCancel(ctx)) // what still waits
			return
		case <-r.wake:
			r.write(context.WithoutCancel(ctx))
		}
	}
}

func (r *refusals) write(ctx context.Context) {
	r.mu.Lock()
	list := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	if len(list) == 0 {
		return
	}
	err := r.hub.Store.Update(ctx, func(tx storage.Tx) error {
		for _, e := range list {
			if err := tx.Log().Audit(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.head.poke()
		return
	}
	r.hub.Config.Log.Error("refusals could not be written to the audit log", "refusals", len(list), "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed += len(list)
}
