package access

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// readingPause is the time in which the same read in another participant's name is audited once.
const readingPause = time.Minute

// ActAs lets an owner call as an agent, or as a person who is not an owner. The hub audits it before the call does anything.
// act names the call.
func (s *Service) ActAs(ctx context.Context, caller unit.Caller, agent, act string) (unit.Caller, error) {
	return auditedAs(ctx, s.Core, caller, agent, actDetail{Act: act})
}

// ReadAs is ActAs for calls that change nothing. The hub audits the same act in the same name once a minute, because a
// client that shows a conversation repeats the call. The next entry says how many calls it leaves out. ReadAs returns E002
// StorageFull if the entry cannot be written because the disk is full.
func (s *Service) ReadAs(ctx context.Context, caller unit.Caller, agent, act string) (acting unit.Caller, err error) {
	err = s.View(ctx, caller, unit.OpActAs, func(u *unit.Unit) error {
		acting, err = actingAs(u, caller, agent)
		return err
	})
	if err != nil {
		return unit.Caller{}, err
	}
	key, now := ownerReading{acting.By, acting.Agent, act}, s.Now()
	leftOut, due := s.reads.count(key, now)
	if !due {
		return acting, nil
	}
	as := acting.Agent
	if acting, err = auditedAs(ctx, s.Core, caller, agent, actDetail{act, leftOut}); err != nil {
		return unit.Caller{}, unaudited(err, as)
	}
	s.reads.written(key, now, leftOut)
	return acting, nil
}

// unaudited returns the error for a read that cannot be audited because the disk is full. The hub refuses such a read,
// because nobody would learn of it.
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
	LeftOut int    `json:"left_out,omitempty"` // the same, since the last entry
}

// auditedAs writes the audit entry of an act in another participant's name, and returns the caller for it.
func auditedAs(ctx context.Context, core *unit.Core, caller unit.Caller, agent string, detail actDetail) (acting unit.Caller, err error) {
	err = core.Update(ctx, caller, unit.OpActAs, func(u *unit.Unit) error {
		if acting, err = actingAs(u, caller, agent); err != nil {
			return err
		}
		return Audit(u, "as", acting.Agent, detail)
	})
	if err != nil {
		return unit.Caller{}, err
	}
	return acting, nil
}

// actingAs returns the caller, which must be an owner, in the name of another participant.
func actingAs(u *unit.Unit, caller unit.Caller, agent string) (unit.Caller, error) {
	other, err := agents.Agent(u, agent)
	if err != nil {
		return unit.Caller{}, err
	}
	if other.Kind == parley.KindSystem || other.Access == parley.AccessOwner {
		return unit.Caller{}, parley.Errorf(parley.NotPermitted, "nobody may act as %s", other.ID).
			Suggest("name an agent, or a person who is no owner")
	}
	caller.By, caller.Agent, caller.AgentUUID = u.Me.ID, other.ID, other.UUID
	return caller, nil
}

// ownerReads counts what owners read in the name of other participants. It has at most one entry for each owner, participant
// and act.
type ownerReads struct {
	mu    sync.Mutex
	known map[ownerReading]*knownReading
}

type ownerReading struct{ owner, agent, act string }

// knownReading is when a read was last audited, and how often it was left out since.
type knownReading struct {
	at      time.Time
	leftOut int
}

func newReadings() *ownerReads { return &ownerReads{known: map[ownerReading]*knownReading{}} }

// count reports whether a read must be audited, and how many reads the entry leaves out. Otherwise it counts the read as
// left out.
func (r *ownerReads) count(key ownerReading, now time.Time) (leftOut int, due bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.known[key]
	if entry == nil {
		return 0, true
	}
	if now.Before(entry.at.Add(readingPause)) {
		entry.leftOut++
		return 0, false
	}
	return entry.leftOut, true
}

// written notes that the audit log has the entry of a read.
func (r *ownerReads) written(key ownerReading, now time.Time, leftOut int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.known[key]
	if entry == nil {
		entry = &knownReading{}
		r.known[key] = entry
	}
	entry.at = now
	entry.leftOut = max(0, entry.leftOut-leftOut) // another call may have written an entry meanwhile
}
