package dialect

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"

	"github.com/parley-hub/parley"
)

// oldNames maps old names of agents in the Multi-Agent OS format to their current names.
var oldNames = map[string]string{"claude-1": "claude", "codex-1": "codex", "gemini-1": "gemini"}

const (
	maxIDLength = 64
	shortDigest = 8  // hexadecimal digits after a whole name
	longDigest  = 16 // hexadecimal digits after a name that was cut
)

// AgentID returns the hub's id for an agent that a document names, with a warning if the two differ. For a
// Routing Protocol name that is not a valid id, it makes an id from the name, which it may cut, and a digest, so that no two are
// equal.
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

// mappedID returns the id for a name that is not a valid id.
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

// isMapped reports whether AgentID could have made an id from another name.
func isMapped(id string) bool { return NativeName(Routing, id) != id || IsCutID(id) }

// IsCutID reports whether AgentID made an id from a Routing Protocol name that it had to cut.
func IsCutID(id string) bool { return cutForm.MatchString(id) && NativeName(Routing, id) == id }

// NativeName returns the name of an agent in a dialect, as the reverse of AgentID. It returns the id itself for a name that was
// cut; only the directories of a tree have the whole name.
func NativeName(d Dialect, id string) string {
	if m := keptForm.FindStringSubmatch(id); d == Routing && m != nil && digest(m[1], shortDigest) == m[2] {
		return m[1]
	}
	return id
}

// broadcastAddress is the address of all agents in each dialect.
var broadcastAddress = map[Dialect]string{AgentOS: parley.All, ClawOS: "broadcast", Routing: parley.All}

// recipient returns the recipient that an address of a document means.
func recipient(d Dialect, raw string) (id, warning string) {
	if raw == broadcastAddress[d] {
		return parley.All, ""
	}
	return AgentID(d, raw)
}

// address returns the address of a recipient in a document.
func address(d Dialect, id string) string {
	if id == parley.All || id == "" {
		return broadcastAddress[d]
	}
	return NativeName(d, id)
}
