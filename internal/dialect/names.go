package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/parley-hub/parley"
)

// oldNames are names that S0 has given up, and what they are called now.
var oldNames = map[string]string{"claude-1": "claude", "codex-1": "codex", "gemini-1": "gemini"}

const (
	maxIDLength = 64
	shortDigest = 8  // hexadecimal digits after a name that is kept whole
	longDigest  = 16 // after one that had to be cut
)

// AgentID returns the hub's id for an agent that a document names, with a warning if the two differ. Routing Protocol names
// that are no valid ids are kept or cut, and end in a digest, so that no two are equal.
func AgentID(d Dialect, raw string) (id, warning string) {
	switch d {
	case AgentOS:
		if now, ok := oldNames[raw]; ok {
			return now, fmt.Sprintf("%s is an old name for %s", raw, now)
		}
	case Routing:
		if raw == parley.All || parley.CheckKnownID(raw) == nil && !isMapped(raw) {
			return raw, ""
		}
		id = mappedID(raw)
		return id, fmt.Sprintf("%s cannot be an id here: it is %s", raw, id)
	}
	return raw, ""
}

// mappedID returns the id for a name that is no valid id.
func mappedID(raw string) string {
	if id := "x" + raw + "-" + digest(raw, shortDigest); len(id) <= maxIDLength {
		return id
	}
	return "x" + raw[:maxIDLength-longDigest-2] + "-" + digest(raw, longDigest)
}

func digest(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}

var (
	keptForm = regexp.MustCompile(`^x(.+)-([0-9a-f]{8})$`)
	cutForm  = regexp.MustCompile(`^x.{46}-[0-9a-f]{16}$`)
)

// isMapped reports whether an id could be one that AgentID made of another name.
func isMapped(id string) bool { return NativeName(Routing, id) != id || IsCutID(id) }

// IsCutID reports whether an id was made of a Routing Protocol name that was cut.
func IsCutID(id string) bool { return cutForm.MatchString(id) && NativeName(Routing, id) == id }

// NativeName returns the name of an agent in a dialect: the reverse of AgentID. A cut name cannot be recovered from its id; the
// directories of a tree show it.
func NativeName(d Dialect, id string) string {
	if m := keptForm.FindStringSubmatch(id); d == Routing && m != nil && digest(m[1], shortDigest) == m[2] {
		return m[1]
	}
	return id
}

// broadcastAddress is how each dialect addresses all.
var broadcastAddress = map[Dialect]string{AgentOS: parley.All, ClawOS: "broadcast", Routing: parley.All}

// recipient reads to whom a document is.
func recipient(d Dialect, raw string) (id, warning string) {
	if raw == broadcastAddress[d] {
		return parley.All, ""
	}
	return AgentID(d, raw)
}

// address writes to whom a document is.
func address(d Dialect, id string) string {
	if id == parley.All || id == "" {
		return broadcastAddress[d]
	}
	return NativeName(d, id)
}
