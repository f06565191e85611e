package hub

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// readingPause is the time in which the same reading in another's name is written once.
const readingPause = time.Minute

// ActAs lets an owner go on as an agent, or as a person who is no owner. It is audited before anything
// is done; act is what the door is asked for.
func (h *Hub) ActAs(ctx context.Context, caller Caller, agent, act string) (Caller, error) {
	return h.auditedAs(ctx, caller, agent, actDetail{Act: act})
}

// ReadAs is ActAs for what changes nothing. Of the same act in the same name one a minute is audited: who
// looks at a conversation asks again and again. The next entry says how many were left out. Where it cannot be written
// because the disk is full, E002 StorageFull.
func (h *Hub) ReadAs(ctx context.Context, caller Caller, agent, act string) (acting Caller, err error) {
	err = h.view(ctx, caller, opActAs, func(s *scene) error {
		acting, err = s.inNameOf(caller, agent)
		return err
	})
	if err != nil {
		return Caller{}, err
	}
	key, now := reading{acting.By, acting.Agent, act}, h.now()
	leftOut, due := h.readings.count(key, now)
	if !due {
		return acting, nil
	}
	as := acting.Agent
	if acting, err = h.auditedAs(ctx, caller, agent, actDetail{act, leftOut}); err != nil {
		return Caller{}, unaudited(err, as)
	}
	h.readings.written(key, now, leftOut)
	return acting, nil
}

// unaudited is why nobody may read in another's name while the disk is full: reading alone would go on, but nobody would
// learn of it.
func unaudited(err error, agent string) error {
	e := parley.AsError(err)
	if e.Reason != parley.StorageFull {
		return err
	}
	return parley.Errorf(e.Code, "reading as %s must be written to the audit log first, which is not possible: %s", agent, e.Message).
		Because(e.Reason).Retryable(0).Suggest("make room on the disk of the hub, or read in your own name, which needs no entry").From(err)
}

type actDetail struct {
	Act     string `json:"act"`
	LeftOut int    `json:"left_out,omitempty"` // the same, since it was last written
}

func (h *Hub) auditedAs(ctx context.Context, caller Caller, agent string, detail actDetail) (acting Caller, err error) {
	err = h.update(ctx, caller, opActAs, func(s *scene) error {
		if acting, err = s.inNameOf(caller, agent); err != nil {
			return err
		}
		return s.audit("as", acting.Agent, detail)
	})
	if err != nil {
		return Caller{}, err
	}
	return acting, nil
}

// inNameOf is the caller, who must own the hub, as somebody else.
func (s *scene) inNameOf(caller Caller, agent string) (Caller, error) {
	other, err := s.agent(agent)
	if err != nil {
		return Caller{}, err
	}
	if other.Kind == parley.KindSystem || other.Access == parley.AccessOwner {
		return Caller{}, parley.Errorf(parley.NotPermitted, "nobody may act as %s", other.ID).
			Suggest("name an agent, or a person who is no owner")
	}
	caller.By, caller.Agent, caller.uuid = s.me.ID, other.ID, other.UUID
	return caller, nil
}

// readings counts what owners have read in the name of others. There are as many as owners, others and acts
// that read.
type readings struct {
	mu    sync.Mutex
	known map[reading]*knownReading
}

type reading struct{ owner, agent, act string }

// knownReading is when a reading was last written, and how often it was left out since.
type knownReading struct {
	at      time.Time
	leftOut int
}

func newReadings() *readings { return &readings{known: map[reading]*knownReading{}} }

// count says whether a reading is to be written, with how many that were left out. Else it counts it.
func (r *readings) count(key reading, now time.Time) (leftOut int, due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.known[key]
	if one == nil {
		return 0, true
	}
	if now.Before(one.at.Add(readingPause)) {
		one.leftOut++
		return 0, false
	}
	return one.leftOut, true
}

// written notes that a reading is in the audit log. What was not written is due again.
func (r *readings) written(key reading, now time.Time, leftOut int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one := r.known[key]
	if one == nil {
		one = &knownReading{}
		r.known[key] = one
	}
	one.at = now
	one.leftOut = max(0, one.leftOut-leftOut) // another may have been written meanwhile
}
