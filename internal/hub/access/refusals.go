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
	refusalPause    = time.Minute // the time in which the same refusal is written once
	refusalsKnown   = 1024        // how many different refusals are remembered for that
	refusalsQueue   = 256         // how many refusals may wait to be written
	maxReasonLength = 500         // how many bytes of a sentence, which may quote the caller, are written
)

// refusals writes refused calls to the audit log, in the background. Of the same refusal it writes one a minute, and it
// limits the total. It counts the others, and the next entry holds the count.
type refusals struct {
	hub  *Service
	head *headSaver
	rate *limiter
	wake chan struct{}

	mu      sync.Mutex
	known   map[refusalKey]*knownRefusal
	waiting []parley.AuditEntry
	missed  int // left out, because there were too many refusals
}

type refusalKey struct{ actor, sentence string }

// knownRefusal is when a refusal was last written, and how often it was left out since.
type knownRefusal struct {
	at      time.Time
	leftOut int
}

func newRefusals(h *Service, head *headSaver) *refusals {
	return &refusals{
		hub: h, head: head, rate: newLimiter(unit.Rate{PerSecond: 1, Burst: 60}), wake: make(chan struct{}, 1),
		known: map[refusalKey]*knownRefusal{},
	}
}

// NoteRefusal notes that the hub refused a use case.
func NoteRefusal(s *Service, caller unit.Caller, err error) { s.refusals.note(caller, "hub", err) }

// Refused notes that the HTTP API refused a known caller. act is what the caller wanted.
func (s *Service) Refused(caller unit.Caller, act string, err error) {
	s.refusals.note(caller, act, err)
}

// note queues the audit entry of a refusal. It ignores other errors, and callers without a good token.
func (r *refusals) note(caller unit.Caller, subject string, err error) {
	e := parley.AsError(err)
	if e == nil || e.Code != parley.NotPermitted || e.Reason == parley.Unauthenticated && !errors.Is(err, unit.ErrMisuse) {
		return
	}
	now, sentence := r.hub.Now(), e.Message
	if len(sentence) > maxReasonLength {
		sentence = strings.ToValidUTF8(sentence[:maxReasonLength], "") + "…"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	leftOut, write := r.count(refusalKey{caller.Agent, sentence}, now)
	if !write {
		return
	}
	detail, err := json.Marshal(refusalDetail{sentence, caller.Source, caller.By, leftOut, r.missed})
	if err != nil {
		return // cannot happen: strings and numbers always can be encoded
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
	LeftOut  int    `json:"left_out,omitempty"` // the same, since the last entry
	Missed   int    `json:"missed,omitempty"`   // refusals of any kind that no entry holds
}

// count reports whether a refusal is written, and how often the same one was left out before. The caller holds r.mu.
func (r *refusals) count(key refusalKey, now time.Time) (leftOut int, write bool) {
	k := r.known[key]
	if k != nil && now.Before(k.at.Add(refusalPause)) {
		k.leftOut++
		return 0, false
	}
	if k == nil && !r.makeRoom(now) || len(r.waiting) >= refusalsQueue || r.rate.take(key.actor, now) > 0 {
		r.missed++
		return 0, false
	}
	if k != nil {
		leftOut = k.leftOut
	}
	r.known[key] = &knownRefusal{at: now}
	return leftOut, true
}

// makeRoom reports whether one more refusal can be remembered, after forgetting old ones. The caller holds r.mu.
func (r *refusals) makeRoom(now time.Time) bool {
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
			r.write(context.WithoutCancel(ctx)) // the entries that are still queued
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
			if err := tx.Log().AppendAudit(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		r.head.poke()
		return
	}
	r.hub.Config.Log.Error("cannot write refusals to the audit log; retrying with the next refusal", "refusals", len(list), "error", err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed += len(list)
}
