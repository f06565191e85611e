package hub_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

var linkUsed = refusalError(parley.NotPermitted, parley.Unauthenticated, "the sign-in link is invalid, used or expired",
	"ask for a new link: each works once, within 10 minutes")

func (w *fixture) newSignInLink(by hub.Caller, person string) string {
	w.T.Helper()
	secret, _, err := w.NewLink(ctx, by, person)
	w.NoError(err)
	return secret
}

func TestLinkOpensASession(t *testing.T) {
	t.Parallel()
	w := newHub(t, runTwice)
	w.AddPerson("sansa", parley.AccessMember)
	secret, expires, err := w.NewLink(ctx, scoped("user", parley.ScopeRead, parley.ScopeAdmin), "Sansa")
	w.NoError(err)
	same(t, "the link expires", expires, began.Add(10*time.Minute))
	same(t, "tokens listed", len(w.tokenIDsOf("user", "")), 0)
	made := resultOf[parley.MadeToken](w)(w.SignIn(ctx, secret))
	until := began.Add(30 * 24 * time.Hour)
	same(t, "the session", made.Token, parley.Token{
		ID: made.ID, Agent: "sansa", Kind: parley.TokenSession, Scopes: parley.Scopes{parley.ScopeRead, parley.ScopeAdmin},
		CreatedBy: "sansa", CreatedAt: began, ExpiresAt: &until,
	})
	caller, err := w.Identify(ctx, made.Secret)
	w.NoError(err)
	same(t, "who has it", []any{caller.Agent, caller.Token}, []any{"sansa", made.ID})
	var acts [][2]string
	for _, e := range w.AuditEntries()[1:] {
		acts = append(acts, [2]string{e.Actor, e.Act})
	}
	same(t, "audit", acts, [][2]string{{"user", "link.new"}, {"sansa", "session.new"}})
	w.Clock.Advance(30 * 24 * time.Hour)
	_, err = w.Identify(ctx, made.Secret)
	wantError(t, err, expired)
}

func TestSessionEndsWithTheCredentialItsLinkWasMadeWith(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	anHour := began.Add(time.Hour)
	made := resultOf[parley.MadeToken](w)(w.SignIn(ctx, w.newSignInLink(ending(scoped("user"), anHour), "user")))
	same(t, "it ends", *made.ExpiresAt, anHour)
}

func TestLinkWorksOnceForManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	for range 5 {
		secret := w.newSignInLink(scoped("user"), "user")
		var opened atomic.Int32
		var group sync.WaitGroup
		start := make(chan struct{})
		for range 16 {
			group.Go(func() {
				<-start
				_, err := w.SignIn(ctx, secret)
				if err == nil {
					opened.Add(1)
					return
				}
				wantError(t, err, linkUsed)
			})
		}
		close(start)
		group.Wait()
		same(t, "sessions", opened.Load(), int32(1))
	}
	same(t, "tokens", len(w.tokenIDsOf("user", "")), 5)
}

func TestLinkWorksOnceForTwoHubs(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	secret := hubs[0].newSignInLink(scoped("user"), "user")
	_, errs := atOnce(t, hubs, func(w *fixture) (parley.MadeToken, error) { return w.SignIn(ctx, secret) })
	opened := 0
	for _, err := range errs {
		if err == nil {
			opened++
		}
	}
	same(t, "sessions", opened, 1)
}

func TestSignInRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPerson("sansa", parley.AccessMember)
	w.AddPerson("gone", parley.AccessMember)
	used, removed, old := w.newSignInLink(scoped("user"), "sansa"), w.newSignInLink(scoped("user"), "gone"), w.newSignInLink(scoped("user"), "sansa")
	session := resultOf[parley.MadeToken](w)(w.SignIn(ctx, used))
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	plain := w.MakeToken("sansa")
	w.Clock.Advance(10 * time.Minute)
	signIn := func(secret string) func() error {
		return func() error {
			made, err := w.SignIn(ctx, secret)
			same(t, "made", made, parley.MadeToken{})
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"nothing", signIn(""), linkUsed},
		{"an unknown one", signIn(parley.NewSecret()), linkUsed},
		{"a used one", signIn(used), linkUsed},
		{"an old one", signIn(old), linkUsed},
		{"that of who was removed", signIn(removed), linkUsed},
		{"a token", signIn(plain.Secret), linkUsed},
		{"a session", signIn(session.Secret), linkUsed},
	})
	w.Clock.Advance(time.Millisecond)
	w.NoError(w.Sweep(ctx))
	w.AssertConsistent()
}

func TestNewLinkRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.AddPerson("sansa", parley.AccessMember)
	link := func(by hub.Caller, person string) func() error {
		return func() error {
			secret, _, err := w.NewLink(ctx, by, person)
			same(t, "the link", secret, "")
			return err
		}
	}
	w.assertRefusals(t, []refusal{
		{"by an agent", link(scoped("arya"), "arya"), refusalError(parley.NotPermitted, "", "agents cannot create tokens", "ask an owner of this hub")},
		{"by a member for another", link(scoped("sansa"), "user"), refusalError(parley.NotPermitted, "",
			"only an owner may create a token for another participant", "ask an owner of this hub")},
		{"for an agent", link(scoped("user"), "arya"), refusalError(parley.BadInput, "", "arya is not a person", "create a token for it instead")},
		{"without scopes", link(user, "user"), refusalError(parley.NotPermitted, "",
			"a credential without scopes cannot create a sign-in link", "use another credential")},
	})
	w.newSignInLink(scoped("sansa"), "")
}

func TestOwnersActAsOthersAndItIsAudited(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.AddPerson("sansa", parley.AccessMember)
	w.AddPerson("jon", parley.AccessOwner)
	until := began.Add(time.Hour)
	me := hub.Caller{Agent: "jon", Source: "cli", Token: "t", Scopes: parley.Scopes{parley.ScopeSend}, Until: &until}
	for _, who := range []string{"arya", "sansa"} {
		other, err := w.ActAs(ctx, me, who, "post a message")
		w.NoError(err)
		want := me
		want.Agent, want.By = who, "jon"
		same(t, "who acts", other, want)
		last := w.AuditEntries()[len(w.AuditEntries())-1]
		same(t, "audit", []string{last.Actor, last.Act, last.Subject, string(last.Detail)}, []string{"jon", "as", who, `{"act":"post a message"}`})
	}
	actAs := func(by, who string) func() error {
		return func() error {
			c, err := w.ActAs(ctx, scoped(by), who, "x")
			same(t, "who acts", c, hub.Caller{})
			c, reading := w.ReadAs(ctx, scoped(by), who, "x")
			same(t, "who reads", c, hub.Caller{})
			same(t, "why it may not read", reading.Error(), err.Error())
			return err
		}
	}
	nobody := func(who string) *parley.Error {
		return refusalError(parley.NotPermitted, "", "no caller may act as "+who, "name an agent, or a person who is not an owner")
	}
	w.assertRefusals(t, []refusal{
		{"an agent as another", actAs("arya", "sansa"), onlyOwner("act as another participant")},
		{"a member as an agent", actAs("sansa", "arya"), onlyOwner("act as another participant")},
		{"a member as nobody", actAs("sansa", "daenerys"), onlyOwner("act as another participant")},
		{"as the hub", actAs("user", "parley"), nobody("parley")},
		{"as another owner", actAs("user", "jon"), nobody("jon")},
		{"as nobody", actAs("user", "daenerys"), notFoundError("agent", "daenerys", listAgents)},
	})
}

func TestReadingAsAnotherIsAuditedOnceAMinute(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.AddPerson("jon", parley.AccessOwner)
	from := len(w.AuditEntries())
	read := func(by, who, act string, times int) {
		t.Helper()
		for range times {
			acting := resultOf[hub.Caller](w)(w.ReadAs(ctx, as(by), who, act))
			same(t, "who reads", []string{acting.By, acting.Agent}, []string{by, who})
		}
	}
	read("user", "arya", "who", 3)
	read("user", "arya", "history", 1)
	read("user", "ned", "who", 1)
	read("jon", "arya", "who", 1)
	for range 2 {
		resultOf[hub.Caller](w)(w.ActAs(ctx, user, "arya", "post"))
	}
	w.Clock.Advance(time.Minute)
	read("user", "arya", "who", 2)
	w.Clock.Advance(time.Minute)
	read("user", "arya", "who", 1)
	read("user", "ned", "who", 1)
	var got []string
	for _, e := range w.AuditEntries()[from:] {
		got = append(got, e.Actor+" "+e.Subject+" "+string(e.Detail))
	}
	same(t, "audited", got, []string{
		`user arya {"act":"who"}`, `user arya {"act":"history"}`, `user ned {"act":"who"}`, `jon arya {"act":"who"}`,
		`user arya {"act":"post"}`, `user arya {"act":"post"}`,
		`user arya {"act":"who","left_out":2}`, `user arya {"act":"who","left_out":1}`, `user ned {"act":"who"}`,
	})
	w.AssertConsistent()
}

// readOnly is a store that refuses updates while a test wants it to.
type readOnly struct {
	storage.Store
	on bool
}

func (s *readOnly) Update(ctx context.Context, fn func(storage.Tx) error) error {
	if s.on {
		return errors.New("nothing is stored")
	}
	return s.Store.Update(ctx, fn)
}

func TestReadingThatCannotBeAuditedIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	db := &readOnly{Store: w.Store}
	h, err := hub.New(ctx, db, w.Config)
	w.NoError(err)
	from := len(w.AuditEntries())
	db.on = true
	for range 2 {
		acting, err := h.ReadAs(ctx, user, "arya", "who")
		same(t, "who reads", acting, hub.Caller{})
		same(t, "code", parley.CodeOf(err), parley.Internal)
	}
	db.on = false
	resultOf[hub.Caller](w)(h.ReadAs(ctx, user, "arya", "who"))
	same(t, "audited", len(w.AuditEntries())-from, 1)
}

// On a full disk an owner reads in its own name. In another's it does not, since that could not be audited, and is told so.
func TestReadingAsAnotherOnAFullDiskIsRefusedClearly(t *testing.T) {
	t.Parallel()
	store := &fullStore{}
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { store.Store = s; return store }
	})
	w.AddAgents("arya", "ned")
	w.SendDM("arya", "ned", "hello")
	acting, err := w.ReadAs(ctx, user, "ned", "list conversations")
	w.NoError(err)
	store.full.Store(true)
	_, err = w.ReadAs(ctx, user, "ned", "peek at the inbox")
	e := parley.AsError(err)
	if e == nil || e.Code != parley.Unavailable || e.Reason != parley.StorageFull ||
		e.Message != "cannot read as ned, because the hub cannot write that to the audit log: the disk is full" ||
		e.Suggestion != "free space on the disk of the hub, or read as yourself, which needs no audit entry" {
		t.Errorf("it is refused with %v", err)
	}
	again, err := w.ReadAs(ctx, user, "ned", "list conversations") // which is in the audit log
	w.NoError(err)
	same(t, "acting", again, acting)
	_, _, err = w.Conversations(ctx, user, parley.ListFilter{})
	w.NoError(err)
}
