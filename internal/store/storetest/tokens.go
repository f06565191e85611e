package storetest

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var tokenTests = []test{
	{"every field of a token is stored, and found by its hash and by its id", tokenFields},
	{"a token is found by its own hash only", tokenHashes},
	{"an id or a hash that is in use is refused", tokenTaken},
	{"a token of a missing participant is refused", tokenOfNobody},
	{"a token keeps its holder when the holder is renamed or removed", tokenOfChanged},
	{"tokens are listed by their ids, newest first, without links", tokenLists},
	{"replacing a token changes only its revocation", tokenPut},
	{"erasing a token keeps the others", tokenErase},
	{"ended tokens are forgotten, by kind, up to a limit", tokenForget},
	{"a failed update stores no token", tokenFailed},
}

func newToken(agent string) parley.Token {
	return parley.Token{
		ID: newID(), Agent: agent, Kind: parley.TokenPlain, Scopes: parley.Scopes{parley.ScopeRead},
		CreatedBy: agent, CreatedAt: at(1),
	}
}

// tokens stores tokens under the hashes 1, 2 and so on.
func (f *fixture) tokens(list ...parley.Token) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		for i, t := range list {
			if err := tx.Tokens().Insert(t, parley.TokenHash{byte(i + 1)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fixture) findToken(hash byte) parley.Token {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Token, error) { return tx.Tokens().Find(parley.TokenHash{hash}) })
}

func (f *fixture) getToken(id string) parley.Token {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Token, error) { return tx.Tokens().Get(id) })
}

func (f *fixture) listTokens(filter parley.TokenFilter) []parley.Token {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Token, error) { return tx.Tokens().List(filter) })
}

func tokenFields(f *fixture) {
	f.agents("arya", "gendry")
	full := parley.Token{
		ID: newID(), Agent: "arya", Kind: parley.TokenLink, Label: "é\n", Scopes: parley.AllScopes(), CreatedBy: "gendry",
		CreatedAt: at(1), ExpiresAt: atPointer(2), RevokedAt: atPointer(3), SessionUntil: atPointer(4),
	}
	plain := newToken("gendry")
	f.tokens(full, plain)
	f.same("found by its hash", f.findToken(1), full)
	f.same("found by its id", f.getToken(full.ID), full)
	f.same("a plain one", f.findToken(2), plain)
}

func tokenHashes(f *fixture) {
	f.agents("arya")
	f.tokens(newToken("arya"))
	for _, hash := range []parley.TokenHash{{}, {2}, {31: 1}, {0: 1, 31: 1}} {
		f.missing("another hash", func(tx storage.Tx) error { return errorOf(tx.Tokens().Find(hash)) })
	}
	for _, id := range []string{newID(), "", "no uuid", "\x00", "arya"} {
		f.missing("another id", func(tx storage.Tx) error { return errorOf(tx.Tokens().Get(id)) })
	}
}

func tokenTaken(f *fixture) {
	f.agents("arya")
	first := newToken("arya")
	f.tokens(first)
	again := newToken("arya")
	again.ID = first.ID
	before := f.contents()
	for what, insert := range map[string]func(storage.Tx) error{
		"the hash": func(tx storage.Tx) error { return tx.Tokens().Insert(newToken("arya"), parley.TokenHash{1}) },
		"the id":   func(tx storage.Tx) error { return tx.Tokens().Insert(again, parley.TokenHash{2}) },
	} {
		f.fails(parley.ErrTaken, insert)
		f.same("after "+what+" was refused", f.contents(), before)
	}
}

func tokenOfNobody(f *fixture) {
	f.agents("arya")
	held, made := newToken("arya"), newToken("arya")
	held.Agent, made.CreatedBy = "nobody", "nobody"
	for _, t := range []parley.Token{held, made} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Tokens().Insert(t, parley.TokenHash{1}) })
	}
	f.same("tokens", f.listTokens(parley.TokenFilter{Limit: 9}), []parley.Token{})
	f.same("tokens of nobody", f.listTokens(parley.TokenFilter{Agent: "nobody", Limit: 9}), []parley.Token{})
}

func tokenOfChanged(f *fixture) {
	arya := f.agents("arya")[0]
	token := newToken("arya")
	f.tokens(token)
	arya.Name, arya.RemovedAt = "NoOne", atPointer(2)
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(arya) })
	f.same("its token", f.findToken(1), token)
	f.same("its tokens", f.listTokens(parley.TokenFilter{Agent: "arya", Limit: 9}), []parley.Token{token})
}

func tokenLists(f *fixture) {
	f.agents("arya", "gendry")
	var all []parley.Token // newest first
	for i := range 6 {
		t := newToken([]string{"arya", "gendry"}[i%2])
		if i == 3 {
			t.RevokedAt = atPointer(9)
		}
		all = append([]parley.Token{t}, all...)
	}
	link, run, approval := newToken("arya"), newToken("arya"), newToken("arya")
	link.Kind, run.Kind, approval.Kind = parley.TokenLink, parley.TokenRun, parley.TokenApproval
	f.tokens(append(all, link, run, approval)...)
	for begin := range 7 {
		for limit := 1; limit <= 7; limit++ {
			filter := parley.TokenFilter{Limit: limit}
			if begin > 0 {
				filter.Before = all[begin-1].ID
			}
			f.same("a page", f.listTokens(filter), all[begin:min(begin+limit, 6)])
		}
	}
	f.same("of one", f.listTokens(parley.TokenFilter{Agent: "gendry", Limit: 9}), []parley.Token{all[0], all[2], all[4]})
	f.same("of one, going on", f.listTokens(parley.TokenFilter{Agent: "gendry", Before: all[0].ID, Limit: 1}), []parley.Token{all[2]})
	f.same("before what is no id", f.listTokens(parley.TokenFilter{Before: "x", Limit: 9}), []parley.Token{})
}

func tokenPut(f *fixture) {
	f.agents("arya", "gendry")
	token, other := newToken("arya"), newToken("arya")
	f.tokens(token, other)
	changed := parley.Token{ID: token.ID, Agent: "gendry", Kind: parley.TokenLink, Label: "changed", RevokedAt: atPointer(5)}
	f.update(func(tx storage.Tx) error { return tx.Tokens().Put(changed) })
	token.RevokedAt = atPointer(5)
	f.same("revoked", f.findToken(1), token)
	f.same("another", f.findToken(2), other)
	for _, id := range []string{newID(), "no uuid"} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Tokens().Put(parley.Token{ID: id}) })
	}
}

func tokenErase(f *fixture) {
	f.agents("arya")
	token, other := newToken("arya"), newToken("arya")
	f.tokens(token, other)
	f.update(func(tx storage.Tx) error { return tx.Tokens().Erase(token.ID) })
	f.missing("the erased one", func(tx storage.Tx) error { return errorOf(tx.Tokens().Get(token.ID)) })
	f.same("another", f.findToken(2), other)
	for _, id := range []string{token.ID, "no uuid"} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Tokens().Erase(id) })
	}
}

// tokenForget has five tokens of each kind: one that is valid, two that expire, and two that were revoked. One of the revoked
// tokens had expired before.
func tokenForget(f *fixture) {
	f.agents("arya")
	var list []parley.Token
	for _, kind := range []parley.TokenKind{parley.TokenPlain, parley.TokenSession} {
		for _, ends := range [][2]int{{0, 0}, {10, 0}, {30, 0}, {0, 10}, {10, 30}} {
			t := newToken("arya")
			t.Kind = kind
			if ends[0] > 0 {
				t.ExpiresAt = atPointer(ends[0])
			}
			if ends[1] > 0 {
				t.RevokedAt = atPointer(ends[1])
			}
			list = append(list, t)
		}
	}
	f.tokens(list...)
	forget := func(seconds, limit int) (n int) {
		f.update(func(tx storage.Tx) (err error) {
			n, err = tx.Tokens().Forget(parley.TokenPlain, at(seconds), limit)
			return err
		})
		return n
	}
	f.same("none has ended", forget(10, 9), 0)
	f.same("up to the limit", forget(11, 1), 1)
	f.same("the other", forget(11, 9), 1)
	f.same("no more", forget(11, 9), 0)
	f.missing("a forgotten one", func(tx storage.Tx) error { return errorOf(tx.Tokens().Find(parley.TokenHash{2})) })
	f.same("the rest", forget(99, 9), 2)
	f.same("the good one", f.findToken(1), list[0])
	f.same("left", len(f.listTokens(parley.TokenFilter{Limit: 99})), 6)
}

func tokenFailed(f *fixture) {
	f.agents("arya")
	f.fails(errOwn, func(tx storage.Tx) error {
		return errors.Join(tx.Tokens().Insert(newToken("arya"), parley.TokenHash{1}), errOwn)
	})
	f.missing("its token", func(tx storage.Tx) error { return errorOf(tx.Tokens().Find(parley.TokenHash{1})) })
	f.tokens(newToken("arya"))
}
