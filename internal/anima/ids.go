package anima

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

const maxIDLength = 64 // characters of an id or a name

// slug turns a text into an id or a name.
func slug(text string) string {
	fits := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '-'
	}
	slugged := strings.TrimLeft(strings.Map(fits, strings.ToLower(text)), "-_")
	return strings.TrimRight(slugged[:min(maxIDLength, len(slugged))], "-")
}

// withSuffix returns a name with a suffix derived from of, which makes it unique.
func withSuffix(name, of string) string {
	sum := sha256.Sum256([]byte(of))
	const mark = 5
	return strings.TrimPrefix(name[:min(maxIDLength-mark, len(name))]+"-"+hex.EncodeToString(sum[:2]), "-")
}

// newAgentID derives the id of an agent from its name alone, so that later imports give it the same id.
func newAgentID(name string) string {
	if strings.EqualFold(name, parley.Owner) {
		return parley.Owner
	}
	id := slug(name)
	if id != strings.ToLower(name) || parley.CheckID(id) != nil {
		id = withSuffix(id, name)
	}
	return id
}

// newID derives an id from a time and from parts.
func newID(at time.Time, parts ...string) string {
	hash := sha256.New()
	for _, part := range parts {
		hash.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	id := uuid.UUID(hash.Sum(nil)[:16])
	var millis [8]byte
	binary.BigEndian.PutUint64(millis[:], uint64(max(at.UnixMilli(), 0))) //nolint:gosec // it is not negative
	copy(id[:6], millis[2:])
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}
