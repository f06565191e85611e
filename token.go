package parley

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// Scope is a set of operations for which a credential may be used.
type Scope string

// The scopes. An operation needs exactly one of them; none implies another.
const (
	ScopeRead   Scope = "read"   // read whatever the holder may read
	ScopeSend   Scope = "send"   // post, take and acknowledge messages, and join conversations
	ScopeDecide Scope = "decide" // decide on approvals
	ScopeAdmin  Scope = "admin"  // administer whatever the holder may administer
)

// Scopes are the scopes of one credential.
type Scopes []Scope

// AllScopes returns all scopes.
func AllScopes() Scopes { return Scopes{ScopeRead, ScopeSend, ScopeDecide, ScopeAdmin} }

// Has reports whether the scopes include a scope.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// Without returns the scopes that others does not include.
func (s Scopes) Without(others Scopes) Scopes {
	return slices.DeleteFunc(slices.Clone(s), others.Has)
}

// Join returns the names of the scopes with a separator between them.
func (s Scopes) Join(sep string) string {
	words := make([]string, len(s))
	for i, scope := range s {
		words[i] = string(scope)
	}
	return strings.Join(words, sep)
}

// Check returns the scopes in their usual order, each once. It returns E003 for an unknown scope and for an empty list.
func (s Scopes) Check() (Scopes, error) {
	if unknown := s.Without(AllScopes()); len(unknown) > 0 {
		return nil, Errorf(BadInput, "unknown scope %q", clip(string(unknown[0]))).Suggest("use read, send, decide and admin")
	}
	if len(s) == 0 {
		return nil, Errorf(BadInput, "a token needs a scope").Suggest("use read, send, decide and admin")
	}
	return slices.DeleteFunc(AllScopes(), func(scope Scope) bool { return !s.Has(scope) }), nil
}

// TokenKind is the kind of a credential.
type TokenKind string

// The kinds of credential. The credential of a run has the id of the run, and the hub removes it when the run ends.
const (
	TokenPlain    TokenKind = "token"    // a program sends it with each call
	TokenSession  TokenKind = "session"  // a browser keeps it in a cookie
	TokenLink     TokenKind = "link"     // it opens a session, once
	TokenRun      TokenKind = "run"      // of one run, for processes of the run on the hub's socket
	TokenBearer   TokenKind = "bearer"   // of one run, for every process that has it, also over TCP; without the scope decide
	TokenReply    TokenKind = "reply"    // of one run, for one answer to a message that woke the run
	TokenApproval TokenKind = "approval" // it decides on one approval; its label is the id of the approval
)

// Token is a credential without its secret, which the hub does not keep.
type Token struct {
	ID        string     `json:"id" doc:"The id."`
	Agent     string     `json:"agent" doc:"The agent that holds the token."`
	Kind      TokenKind  `json:"kind" doc:"token, session for a browser's, or run for that of one run."`
	Label     string     `json:"label,omitempty" doc:"The token's label."`
	Scopes    Scopes     `json:"scopes" doc:"What the credential may be used for."`
	CreatedBy string     `json:"created_by" doc:"The participant that created it."`
	CreatedAt time.Time  `json:"created_at" doc:"When it was created."`
	ExpiresAt *time.Time `json:"expires_at,omitempty" doc:"When the token expires."`
	RevokedAt *time.Time `json:"revoked_at,omitempty" doc:"When it was revoked."`

	SessionUntil *time.Time `json:"-"` // of a link: the latest end of the session that it opens
}

// OfRun reports whether tokens of this kind are credentials of runs.
func (k TokenKind) OfRun() bool { return k == TokenRun || k == TokenBearer || k == TokenReply }

// Valid reports whether a token is valid at a moment.
func (t Token) Valid(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || t.ExpiresAt.After(now))
}

// CheckLabel returns why a text cannot be the label of a token, or nil.
func CheckLabel(label string) error { return checkText("label", label, 256) }

// NewToken describes a token to make.
type NewToken struct {
	Agent  string        `json:"agent"`
	Label  string        `json:"label,omitempty"`
	Scopes Scopes        `json:"scopes,omitempty"` // default: read and send
	For    time.Duration `json:"-"`                // 0: until it is revoked
}

// TokenFilter selects tokens for a list.
type TokenFilter struct {
	Agent  string // only tokens of this holder
	Before string // only tokens with a smaller id
	Limit  int
}

// MadeToken is a new token with its secret. The hub shows the secret once.
type MadeToken struct {
	Token
	Secret string `json:"secret" doc:"Shown once: the hub keeps only its hash."`
	Page   string `json:"-"` // of a session: the secret of the hub's page; see SessionSecret
}

// TokenHash is the hash of a secret. The hub stores it and finds the token by it. A secret has 256 random bits, so
// nobody can guess it, and its hash needs neither salt nor a slow function.
type TokenHash [sha256.Size]byte

const secretPrefix = "parley_"

// NewSecret makes the secret of a token.
func NewSecret() string {
	var bits [32]byte
	_, _ = rand.Read(bits[:]) // never fails
	return secretPrefix + base64.RawURLEncoding.EncodeToString(bits[:])
}

// HashSecret returns the hash of a secret. ok is false for a text that does not have the form of a secret.
func HashSecret(secret string) (hash TokenHash, ok bool) {
	bits, found := strings.CutPrefix(secret, secretPrefix)
	raw, err := base64.RawURLEncoding.DecodeString(bits)
	// Decoding ignores line ends and spare bits, but a secret has only one spelling.
	if !found || err != nil || len(raw) != 32 || base64.RawURLEncoding.EncodeToString(raw) != bits {
		return hash, false
	}
	return sha256.Sum256([]byte(secret)), true
}

// SessionSecret returns the secret of a session. A browser keeps it in a cookie, and sends the cookie to every port of a machine.
// So the secret is derived from another one, which only the hub's own page keeps. Nobody can derive the secret of the page from
// the cookie. The hub stores neither.
func SessionSecret(page string) string {
	sum := sha256.Sum256([]byte("parley-session:" + page))
	return secretPrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}
