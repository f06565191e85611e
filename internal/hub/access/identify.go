package access

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Connection is the connection that a call came over. The token of a run works only over some connections.
type Connection struct {
	Socket bool   // the hub's own unix socket
	TCP    bool   // the hub's HTTP address
	Agent  string // on the socket: the agent whose process calls
	Run    string // on the socket: the run that the calling process descends from, if any

	// Client is the process of a connected client that the calling process descends from, on the socket, and AgentUUID the agent that
	// this client connected as. They are empty if there is no such client.
	Client    parley.ClientProcess
	AgentUUID string
}

// Identify is IdentifyAt for an unknown connection, over which no token of a run works.
func (s *Service) Identify(ctx context.Context, secret string) (unit.Caller, error) {
	return s.IdentifyAt(ctx, secret, Connection{})
}

// IdentifyAt returns the caller with a secret, and what the secret allows over a connection. It returns E001 with the reason
// unauthenticated if no token has this secret, or if the token does not work over the connection. The hub audits the latter.
func (s *Service) IdentifyAt(ctx context.Context, secret string, at Connection) (caller unit.Caller, err error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return caller, s.UnknownCallers.Refuse(s.Config.Log, ErrNotKnown())
	}
	var t parley.Token
	err = s.Store.View(ctx, func(tx storage.Tx) error {
		t, err = GoodToken(tx, hash, s.Now())
		if err == nil {
			err = checkConnection(t, at)
		}
		if err == nil {
			caller, err = callerWith(tx, t)
		}
		return err
	})
	if err != nil {
		s.auditMisuse(at, t, err)
		return unit.Caller{}, s.UnknownCallers.Refuse(s.Config.Log, s.Explain(ctx, unit.Caller{}, err))
	}
	return caller, nil
}

// checkConnection returns why a token does not work over a connection, or nil.
func checkConnection(t parley.Token, at Connection) error {
	switch t.Kind {
	case parley.TokenPlain, parley.TokenSession:
		return nil
	case parley.TokenRun, parley.TokenBearer:
		if at.Socket && at.Run == t.ID || at.TCP && t.Kind == parley.TokenBearer {
			return nil
		}
		return errNotOfRun(t)
	case parley.TokenReply:
		if at.Socket || at.TCP {
			return nil
		}
		return unit.ErrReplyOnly()
	default:
		return ErrNotKnown()
	}
}

// callerWith returns the caller with a token. It checks each time whether the agent of a run may decide.
func callerWith(tx storage.Tx, t parley.Token) (unit.Caller, error) {
	holder, err := tx.Agents().Find(t.Agent)
	if err != nil {
		return unit.Caller{}, err
	}
	c := unit.Caller{Agent: t.Agent, Token: t.ID, Kind: t.Kind, Scopes: t.Scopes, Until: t.ExpiresAt, AgentUUID: holder.UUID}
	if !t.Kind.OfRun() {
		return c, nil
	}
	c.Run = t.ID
	allowed, err := agentScopes(tx, t.Agent)
	c.Scopes = slices.DeleteFunc(slices.Clone(t.Scopes), func(one parley.Scope) bool { return !allowed.Has(one) })
	return c, err
}

// agentScopes returns the scopes of an agent without a token of its own. The agent may decide only if another agent reports
// to it.
func agentScopes(tx storage.Tx, agent string) (parley.Scopes, error) {
	scopes := parley.Scopes{parley.ScopeRead, parley.ScopeSend}
	decides, err := tx.Agents().HasReports(agent)
	if decides {
		scopes = append(scopes, parley.ScopeDecide)
	}
	return scopes, err
}

// Local returns the caller on the socket without a token: the local owner, or the agent whose process calls. A process of a
// run calls as the run's token does. Local returns E001 with the reason unauthenticated if the run ended.
func (s *Service) Local(ctx context.Context, at Connection) (caller unit.Caller, err error) {
	if at.Agent == parley.Owner {
		return unit.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}, nil
	}
	err = s.Store.View(ctx, func(tx storage.Tx) error {
		if at.Run == "" {
			caller, err = callerOfProcess(tx, at)
			return err
		}
		t, err := tx.Tokens().Get(at.Run)
		if errors.Is(err, parley.ErrNotFound) {
			err = ErrNotKnown()
		}
		if err == nil {
			err = errors.Join(Usable(tx, t, s.Now()), checkConnection(t, at))
		}
		if err == nil {
			caller, err = callerWith(tx, t)
		}
		return err
	})
	if err != nil {
		return unit.Caller{}, s.Explain(ctx, unit.Caller{}, err)
	}
	return caller, nil
}

// callerOfProcess returns the agent of a process that belongs to no run. It returns E001 with the reason unauthenticated if the client
// connected as an agent that was removed since, even if another agent has its name now.
func callerOfProcess(tx storage.Tx, at Connection) (unit.Caller, error) {
	caller := unit.Caller{Agent: at.Agent}
	a, err := tx.Agents().Find(at.Agent)
	if err == nil {
		caller.AgentUUID = a.UUID
	}
	if at.AgentUUID != "" && (err != nil || a.UUID != at.AgentUUID || a.RemovedAt != nil) {
		return unit.Caller{}, parley.Errorf(parley.NotPermitted, "process %d connected as %s, which was removed since", at.Client.PID, at.Agent).
			Because(parley.Unauthenticated).Suggest("end that client, or use a token: set PARLEY_TOKEN")
	}
	caller.Scopes, err = agentScopes(tx, at.Agent)
	return caller, err
}

func errNotOfRun(t parley.Token) error {
	return parley.Errorf(parley.NotPermitted, "the token of run %s works only for processes of that run, on the hub's socket", t.ID).
		Because(parley.Unauthenticated).From(unit.ErrMisuse).
		Suggest("call from the run itself, with PARLEY_URL; if its sandbox cannot use sockets, set run_token: bearer for its runtime in config.yaml")
}

// auditMisuse audits that a token was used where it does not work.
func (s *Service) auditMisuse(at Connection, t parley.Token, err error) {
	actor := at.Agent
	if actor == "" {
		actor = parley.System // the caller is unknown
	}
	source := "tcp"
	if at.Socket {
		source = "socket"
	}
	s.refusals.note(unit.Caller{Agent: actor, Source: source}, "token of "+t.Agent, err)
}

// GoodToken returns the token of a secret if its holder can use it. It returns ErrNotKnown or ErrExpired if not.
func GoodToken(tx storage.Tx, hash parley.TokenHash, now time.Time) (parley.Token, error) {
	t, err := tx.Tokens().Find(hash)
	if errors.Is(err, parley.ErrNotFound) {
		return t, ErrNotKnown()
	}
	if err != nil {
		return t, err
	}
	return t, Usable(tx, t, now)
}

// Usable returns why the holder of a token cannot use it, or nil.
func Usable(tx storage.Tx, t parley.Token, now time.Time) error {
	holder, err := tx.Agents().Find(t.Agent)
	switch {
	case err != nil:
		return err
	case holder.RemovedAt == nil && KeptReply(t):
		return nil // it may repeat its answer
	case holder.RemovedAt != nil || t.RevokedAt != nil:
		return ErrNotKnown()
	case !t.Valid(now):
		return ErrExpired()
	}
	return nil
}

// ErrNotKnown returns the same error for a token that never existed and one that was revoked.
func ErrNotKnown() error {
	return parley.Errorf(parley.NotPermitted, "this hub does not know the token").Because(parley.Unauthenticated).
		Suggest("ask an owner of this hub for a new token")
}

// ErrExpired returns the error for a token that has expired.
func ErrExpired() error {
	return parley.Errorf(parley.NotPermitted, "the token has expired").Because(parley.Unauthenticated).
		Suggest("ask an owner of this hub for a new token")
}

// UnknownCallers counts refused calls without a good token, and logs them at most once a minute, so that many calls do not fill
// the log.
type UnknownCallers struct {
	sometimes rate.Sometimes
	calls     atomic.Int64 // not yet logged
}

func newUnknownCallers() *UnknownCallers {
	return &UnknownCallers{sometimes: rate.Sometimes{Interval: time.Minute}}
}

// Refuse counts and returns the error of a call without a good token. It returns any other error unchanged.
func (s *UnknownCallers) Refuse(log *slog.Logger, err error) error {
	if e := parley.AsError(err); e.Reason == parley.Unauthenticated {
		s.calls.Add(1)
		s.sometimes.Do(func() {
			log.Warn("the hub refused calls with invalid tokens", "calls", s.calls.Swap(0), "last", e.Message)
		})
	}
	return err
}

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
	return parley.Errorf(e.Code, "cannot read as %s, because the hub cannot write that to the audit log: %s", agent, e.Message).
		Because(e.Reason).Retryable(0).Suggest("free space on the disk of the hub, or read as yourself, which needs no audit entry").From(err)
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
		return unit.Caller{}, parley.Errorf(parley.NotPermitted, "no caller may act as %s", other.ID).
			Suggest("name an agent, or a person who is not an owner")
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
