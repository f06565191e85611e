package parley_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		given parley.Scopes
		want  string // in the usual order, or the sentence
	}{
		{parley.Scopes{"read"}, "read"},
		{parley.Scopes{"admin", "send", "admin", "read"}, "read send admin"},
		{nil, "a token needs a scope"},
		{parley.Scopes{"read", "root"}, `unknown scope "root"`},
		{parley.Scopes{"Read"}, `unknown scope "Read"`},
	} {
		checked, err := c.given.Check()
		var got string
		if err != nil {
			got = parley.AsError(err).Message
		} else {
			var words []string
			for _, s := range checked {
				words = append(words, string(s))
			}
			got = strings.Join(words, " ")
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.given, got, c.want)
		}
	}
}

func TestScopesBeyondOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOf(rapid.SampledFrom(parley.AllScopes()))
		a, b := parley.Scopes(some.Draw(t, "a")), parley.Scopes(some.Draw(t, "b"))
		kept := slices.Clone(a)
		for _, s := range a.Without(b) {
			if b.Has(s) || !a.Has(s) {
				t.Fatalf("%v beyond %v has %v", a, b, s)
			}
		}
		if !slices.Equal(a, kept) {
			t.Fatal("the receiver was changed")
		}
		if len(a.Without(parley.AllScopes())) != 0 {
			t.Fatal("something is beyond everything")
		}
	})
}

func TestSecrets(t *testing.T) {
	first, second := parley.NewSecret(), parley.NewSecret()
	if first == second || !strings.HasPrefix(first, "parley_") {
		t.Fatalf("made %q and %q", first, second)
	}
	hash, ok := parley.HashSecret(first)
	again, _ := parley.HashSecret(first)
	other, _ := parley.HashSecret(second)
	if !ok || hash != again || hash == other {
		t.Fatal("a hash is not of its secret")
	}
	for _, wrong := range []string{
		"", "parley_", first[:len(first)-1], first + "A", strings.TrimPrefix(first, "parley_"),
		strings.ToUpper(first), " " + first, first + "\n", strings.Replace(first, "_", "-", 1),
	} {
		if _, ok := parley.HashSecret(wrong); ok {
			t.Errorf("%q is taken for a secret", wrong)
		}
	}
}

func TestSessionSecrets(t *testing.T) {
	page := parley.NewSecret()
	session := parley.SessionSecret(page)
	if _, ok := parley.HashSecret(session); !ok || session == page {
		t.Errorf("%q is no secret of a session", session)
	}
	if session != parley.SessionSecret(page) || session == parley.SessionSecret(parley.NewSecret()) {
		t.Error("a session is not that of its page")
	}
}

func TestTokensEnd(t *testing.T) {
	now := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	before, after := now.Add(-time.Millisecond), now.Add(time.Millisecond)
	for _, c := range []struct {
		name  string
		token parley.Token
		good  bool
	}{
		{"for ever", parley.Token{}, true},
		{"not yet over", parley.Token{ExpiresAt: &after}, true},
		{"over now", parley.Token{ExpiresAt: &now}, false},
		{"over", parley.Token{ExpiresAt: &before}, false},
		{"revoked", parley.Token{RevokedAt: &before}, false},
		{"revoked before its end", parley.Token{ExpiresAt: &after, RevokedAt: &before}, false},
	} {
		if got := c.token.Valid(now); got != c.good {
			t.Errorf("%s: good is %t", c.name, got)
		}
	}
}
