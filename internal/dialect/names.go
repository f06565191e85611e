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
	longestID   = 64
	shortDigest = 8  // hexadecimal digits after a name that is kept whole
	longDigest  = 16 // after one that had to be cut
)

// AgentID is the id that an agent has here which a document names, and what is to be said of it if it is another. S3 allows ids
// that are none here: they are kept whole, or cut, and end in a digest of what they were, so that no two meet.
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

func mappedID(raw string) string {
	if id := "x" + raw + "-" + digest(raw, shortDigest); len(id) <= longestID {
		return id
	}
	return "x" + raw[:longestID-longDigest-2] + "-" + digest(raw, longDigest)
}

func digest(text string, digits int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:digits]
}

var (
	keptForm = regexp.MustCompile(`^x(.+)-([0-9a-f]{8})$`)
	cutForm  = regexp.MustCompile(`^x.{46}-[0-9a-f]{16}$`)
)

// isMapped says whether an id is one that AgentID could have made of another name.
func isMapped(id string) bool { return Native(Routing, id) != id || Cut(id) }

// Cut says whether an id was made of a name of S3 that it does not tell.
func Cut(id string) bool { return cutForm.MatchString(id) && Native(Routing, id) == id }

// Native is how a dialect names an agent: the reverse of AgentID. A name that was too long for an id cannot be told from its id:
// who lists the directories of a tree finds it there by AgentID.
func Native(d Dialect, id string) string {
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
	return Native(d, id)
}
