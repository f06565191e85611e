package hub_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// scoped returns a caller whose credential has some scopes, or all scopes if none is given.
func scoped(id string, scopes ...parley.Scope) hub.Caller {
	c := as(id)
	if c.Scopes = scopes; len(scopes) == 0 {
		c.Scopes = parley.AllScopes()
	}
	return c
}

func ending(c hub.Caller, until time.Time) hub.Caller {
	c.Until = &until
	return c
}

func (w *fixture) tokenIDsOf(by, holder string) (list []string) {
	w.T.Helper()
	tokens, _, err := w.Tokens(ctx, as(by), parley.TokenFilter{Agent: holder})
	w.NoError(err)
	for _, t := range tokens {
		list = append(list, t.ID)
	}
	return list
}

var (
	notKnown = refusalError(parley.NotPermitted, parley.Unauthenticated, "this hub does not know the token", "ask an owner of this hub for a new token")
	expired  = refusalError(parley.NotPermitted, parley.Unauthenticated, "the token has expired", "ask an owner of this hub for a new token")
)

func TestTokenIsMadeAuditedAndAnnounced(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddAgents("arya")
	before := w.LastEventNumber()
	made, err := w.NewToken(ctx, scoped("user"), parley.NewToken{Agent: "ARYA", Label: "laptop", For: time.Hour})
	w.NoError(err)
	until := began.Add(time.Hour)
	want := parley.Token{
		ID: made.ID, Agent: "arya", Kind: parley.TokenPlain, Label: "laptop", Scopes: parley.Scopes{parley.ScopeRead, parley.ScopeSend},
		CreatedBy: "user", CreatedAt: began, ExpiresAt: &until,
	}
	same(t, "made", made.Token, want)
	list, next, err := w.Tokens(ctx, as("arya"), parley.TokenFilter{})
	w.NoError(err)
	same(t, "listed", []any{list, next}, []any{[]parley.Token{want}, ""})
	data := json.RawMessage(fmt.Sprintf(`{"token":"%s"}`, made.ID))
	same(t, "events", eventsAfter(w, before), []parley.Event{
		{Num: before + 1, At: began, Kind: parley.EventTokenCreated, Agent: "arya", By: "user", Data: data},
	})
	last := w.AuditEntries()[len(w.AuditEntries())-1]
	same(t, "audit", []string{last.Actor, last.Act, last.Subject, string(last.Detail)}, []string{
		"user", "token.new", made.ID, `{"agent":"arya","expires_at":"2026-03-01T10:00:00Z","label":"laptop","scopes":["read","send"]}`,
	})
	caller, err := w.Identify(ctx, made.Secret)
	w.NoError(err)
	same(t, "its caller", caller, hub.Caller{Agent: "arya", Token: made.ID, Kind: parley.TokenPlain, Scopes: want.Scopes, Until: &until})
	w.AssertConsistent()
}

func TestIdentifyRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gone")
	good, revoked, removed := w.MakeToken("arya"), w.MakeToken("arya"), w.MakeToken("gone")
	link, _, err := w.NewLink(ctx, scoped("user"), "user")
	w.NoError(err)
	short, err := w.NewToken(ctx, scoped("user"), parley.NewToken{Agent: "arya", For: time.Second})
	w.NoError(err)
	w.NoError(w.RevokeToken(ctx, user, revoked.ID))
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	w.Clock.Advance(time.Second)
	identify := func(secret string) func() error {
		return func() error {
			caller, err := w.Identify(ctx, secret)
			same(t, "the caller", caller, hub.Caller{})
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"nothing", identify(""), notKnown},
		{"a word", identify("arya"), notKnown},
		{"its id", identify(good.ID), notKnown},
		{"a good one with a line end", identify(good.Secret + "\n"), notKnown},
		{"another one", identify(parley.NewSecret()), notKnown},
		{"a revoked one", identify(revoked.Secret), notKnown},
		{"that of a removed agent", identify(removed.Secret), notKnown},
		{"a sign-in link", identify(link), notKnown},
		{"an expired one", identify(short.Secret), expired},
	})
	_, err = w.Identify(ctx, good.Secret)
	w.NoError(err)
}

func TestNewTokenRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.AddPerson("sansa", parley.AccessMember)
	w.AddPerson("jon", parley.AccessOwner)
	make := func(by hub.Caller, n parley.NewToken) func() error {
		return func() error {
			made, err := w.NewToken(ctx, by, n)
			same(t, "made", made, parley.MadeToken{})
			return err
		}
	}
	beyond := func(scopes string) *parley.Error {
		return refusalError(parley.NotPermitted, "", "your credential cannot create a token with the scopes "+scopes+": it does not have these scopes",
			"leave these scopes out, or use another credential")
	}
	outlives := refusalError(parley.NotPermitted, "", "the token would be valid longer than your credential", "choose an end before 2026-03-01T10:00:00Z")
	lasts := func(d string) *parley.Error {
		return refusalError(parley.BadInput, "", "a token cannot be valid for "+d, "use 1s to 10 years, or leave the time out: the token is then valid until somebody revokes it")
	}
	anHour := began.Add(time.Hour)
	w.assertRefusals(t, []refusal{
		{"by an agent for itself", make(scoped("arya"), parley.NewToken{Agent: "arya"}), refusalError(parley.NotPermitted, "", "agents cannot create tokens", "ask an owner of this hub")},
		{"by a member for an agent", make(scoped("sansa"), parley.NewToken{Agent: "arya"}), refusalError(parley.NotPermitted, "",
			"only an owner may create a token for another participant", "ask an owner of this hub")},
		{"for the system", make(scoped("user"), parley.NewToken{Agent: "parley"}), refusalError(parley.NotPermitted, "", "parley is the hub itself and cannot have tokens", "name an agent or a person")},
		{"for nobody", make(scoped("user"), parley.NewToken{Agent: "daenerys"}), notFoundError("agent", "daenerys", listAgents)},
		{"scopes beyond", make(scoped("jon", parley.ScopeAdmin), parley.NewToken{Agent: "jon", Scopes: parley.AllScopes()}), beyond("read, send, decide")},
		{"without the scope admin", make(scoped("jon", parley.ScopeSend), parley.NewToken{Agent: "jon"}), refusalError(parley.NotPermitted, "",
			"this needs a credential with the scope admin", "ask an owner of this hub for a token with this scope")},
		{"default scopes beyond", make(scoped("jon", parley.ScopeAdmin), parley.NewToken{Agent: "jon"}), beyond("read, send")},
		{"without scopes of its own", make(user, parley.NewToken{Agent: "arya", Scopes: parley.Scopes{parley.ScopeRead}}), beyond("read")},
		{"an unknown scope", make(scoped("user"), parley.NewToken{Agent: "arya", Scopes: parley.Scopes{"root"}}), refusalError(parley.BadInput, "",
			`unknown scope "root"`, "use read, send, decide and admin")},
		{"without end by one that ends", make(ending(scoped("jon"), anHour), parley.NewToken{Agent: "jon"}), outlives},
		{"with a later end", make(ending(scoped("jon"), anHour), parley.NewToken{Agent: "jon", For: time.Hour + time.Millisecond}), outlives},
		{"too short", make(scoped("user"), parley.NewToken{Agent: "arya", For: time.Second - 1}), lasts("999.999999ms")},
		{"too long", make(scoped("user"), parley.NewToken{Agent: "arya", For: 87600*time.Hour + 1}), lasts("87600h0m0.000000001s")},
		{"in the past", make(scoped("user"), parley.NewToken{Agent: "arya", For: -time.Hour}), lasts("-1h0m0s")},
	})
	for name, made := range map[string]func() error{
		"a member for itself": func() error { _, err := w.NewToken(ctx, scoped("sansa"), parley.NewToken{Agent: "sansa"}); return err },
		"for who asks":        func() error { _, err := w.NewToken(ctx, scoped("sansa"), parley.NewToken{}); return err },
		"one that ends with its maker": func() error {
			_, err := w.NewToken(ctx, ending(scoped("jon"), anHour), parley.NewToken{Agent: "arya", For: time.Hour})
			return err
		},
	} {
		if err := made(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokensAreListedForTheirHolderAndOwners(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	a, n := w.MakeToken("arya").ID, w.MakeToken("ned").ID
	same(t, "own", w.tokenIDsOf("arya", ""), []string{a})
	same(t, "own, by name", w.tokenIDsOf("arya", "ARYA"), []string{a})
	same(t, "all", w.tokenIDsOf("user", ""), []string{n, a})
	same(t, "another's, for an owner", w.tokenIDsOf("user", "ned"), []string{n})
	list, next, err := w.Tokens(ctx, user, parley.TokenFilter{Limit: 1})
	w.NoError(err)
	same(t, "first page", []any{list[0].ID, next}, []any{n, n})
	list, _, err = w.Tokens(ctx, user, parley.TokenFilter{Limit: 1, Before: next})
	w.NoError(err)
	same(t, "second page", list[0].ID, a)
	tokens := func(by, of string) func() error {
		return func() error {
			list, _, err := w.Tokens(ctx, as(by), parley.TokenFilter{Agent: of})
			same(t, "list", len(list), 0)
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"another's", tokens("arya", "ned"), onlyOwner("see the tokens of others")},
		{"nobody's", tokens("user", "daenerys"), notFoundError("agent", "daenerys", listAgents)},
	})
}

func TestRevokedTokenIsRefusedFromTheNextCall(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for by, made := range map[string]parley.MadeToken{"arya": w.MakeToken("arya"), "user": w.MakeToken("arya")} {
		before := w.LastEventNumber()
		w.NoError(w.RevokeToken(ctx, as(by), made.ID))
		_, err := w.Identify(ctx, made.Secret)
		wantError(t, err, notKnown)
		events := eventsAfter(w, before)
		same(t, "event", []any{len(events), events[0].Kind, events[0].Agent, events[0].By}, []any{1, parley.EventTokenRevoked, "arya", by})
		last := w.AuditEntries()[len(w.AuditEntries())-1]
		same(t, "audit", []string{last.Actor, last.Act, last.Subject}, []string{by, "token.revoke", made.ID})
		state := w.storeSnapshot()
		w.NoError(w.RevokeToken(ctx, as(by), made.ID))
		same(t, "after a second time", w.storeSnapshot(), state)
	}
	other := w.MakeToken("arya").ID
	revoke := func(by, id string) func() error { return func() error { return w.RevokeToken(ctx, as(by), id) } }
	w.assertRefusals(t, []refusal{
		{"another's", revoke("ned", other), notFoundError("token", other, checkName)},
		{"none", revoke("user", "x"), notFoundError("token", "x", checkName)},
	})
}

// A call that begins after a revocation has returned never goes through, however many run beside it.
func TestNoCallIsIdentifiedAfterARevocation(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for range 10 {
		made := w.MakeToken("arya")
		revoked := make(chan struct{})
		ended := make(chan error, 4)
		for range cap(ended) {
			go func() {
				for {
					after := isClosed(revoked)
					_, err := w.Identify(ctx, made.Secret)
					if err == nil && after {
						ended <- fmt.Errorf("identified by a revoked token")
						return
					}
					if err != nil {
						ended <- nil
						return
					}
				}
			}()
		}
		w.NoError(w.RevokeToken(ctx, user, made.ID))
		close(revoked)
		for range cap(ended) {
			w.NoError(<-ended)
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestRemovingAnAgentRevokesItsTokens(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for range 101 { // more than are looked at at once
		w.MakeToken("arya")
	}
	kept := w.MakeToken("ned")
	w.NoError(w.RemoveAgent(ctx, user, "arya"))
	list, _, err := w.Tokens(ctx, user, parley.TokenFilter{Limit: 1000})
	w.NoError(err)
	same(t, "tokens", len(list), 102)
	for _, token := range list {
		if revoked := token.RevokedAt != nil; revoked == (token.ID == kept.ID) {
			t.Errorf("token %s of %s: revoked is %v", token.ID, token.Agent, revoked)
		}
	}
}

func TestEventsOfTokensAreSeenByOwnersAndTheirHolder(t *testing.T) {
	t.Parallel()
	w := newStartedHub(t)
	w.AddAgents("arya", "ned")
	w.AddPerson("jon", parley.AccessOwner)
	before := w.LastEventNumber()
	w.NoError(w.RevokeToken(ctx, user, w.MakeToken("arya").ID))
	last := w.CreateChannel("user", "end").ID
	for who, want := range map[string]int{"arya": 2, "ned": 0, "jon": 2} {
		got := 0
		for _, e := range follow(t, w.Hub, as(who), before, w.LastEventNumber()) {
			if e.Kind == parley.EventTokenCreated || e.Kind == parley.EventTokenRevoked {
				got++
			}
		}
		same(t, who+" sees, before "+last, got, want)
	}
}

func TestEndedTokensAreForgotten(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	good, revoked := w.MakeToken("arya").ID, w.MakeToken("arya").ID
	short, err := w.NewToken(ctx, scoped("user"), parley.NewToken{Agent: "arya", For: time.Hour})
	w.NoError(err)
	w.NoError(w.RevokeToken(ctx, user, revoked))
	days := func(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
	for _, step := range []struct {
		advance time.Duration
		left    []string
	}{
		{days(30), []string{short.ID, revoked, good}},
		{time.Millisecond, []string{short.ID, good}},
		{time.Hour, []string{good}},
		{days(4000), []string{good}},
	} {
		w.Clock.Advance(step.advance)
		w.NoError(w.Sweep(ctx))
		same(t, "left", w.tokenIDsOf("user", ""), step.left)
	}
	w.AssertConsistent()
}
