package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// canonicalForm names the layout below. A new layout gets a new name.
const canonicalForm = "parley-message-1"

// Canonical returns the form of a message from which its checksum is made. The form has the fields as netstrings ("5:hello,") in
// a fixed order, with times as milliseconds and the body as its digest. Two messages have the same canonical form only if all
// their fields are equal. The form names each agent by the id with which it was added; see OriginalName.
func (m Message) Canonical(body [32]byte) []byte {
	c := make(canonical, 0, 512)
	c.message(&m, body)
	return c
}

func (c *canonical) message(m *Message, body [32]byte) {
	c.add(canonicalForm)
	c.add(m.ID)
	c.num(m.Seq)
	c.add(m.TraceID)
	c.add(m.Conversation)
	c.add(OriginalName(m.From)) // the checksum may be older than the id that the agent has now
	c.add(OriginalName(m.To))
	c.list(m.Mentions)
	c.add(string(m.Type))
	c.num(int64(m.Priority.Level()))
	c.add(m.Priority.Word())
	c.time(&m.CreatedAt)
	c.time(m.ExpiresAt)
	c.time(m.Deadline)
	c.add(m.InReplyTo)
	c.add(strconv.FormatBool(m.RequiresAck))
	c.add(m.Task)
	c.add(m.Source)
	c.num(int64(m.Hops))
	c.add(m.IdempotencyKey)
	c.bytes(body[:])
}

// BodyDigest returns the SHA-256 of everything that the sender wrote: text, code, artifacts, payload and metadata.
func (m Message) BodyDigest() [32]byte {
	c := make(canonical, 0, len(m.Content.Text)+len(m.Content.Code)+len(m.Payload)+len(m.Metadata)+64)
	c.body(&m)
	return sha256.Sum256(c)
}

func (c *canonical) body(m *Message) {
	var artifacts []byte
	if len(m.Content.Artifacts) > 0 {
		var err error
		if artifacts, err = json.Marshal(m.Content.Artifacts); err != nil {
			panic("parley: artifacts cannot fail to encode: " + err.Error())
		}
	}
	c.add(m.Content.Text)
	c.add(m.Content.Code)
	c.bytes(artifacts)
	c.bytes(m.Payload)
	c.bytes(m.Metadata)
}

// Seal returns the checksum of a message whose body has the given digest.
func (m Message) Seal(body [32]byte) string {
	sum := sha256.Sum256(m.Canonical(body))
	return hex.EncodeToString(sum[:])
}

// Intact reports whether the message matches its checksum. A redacted message must have no body; for its body, the stored digest
// counts.
func (m Message) Intact() bool { return new(Verifier).Intact(&m) }

// Verifier checks many messages one after the other, with one buffer for all of them. See Message.Intact.
type Verifier struct{ buffer canonical }

// Intact reports whether a message matches its checksum.
func (v *Verifier) Intact(m *Message) bool {
	v.buffer = v.buffer[:0]
	v.buffer.body(m)
	body := sha256.Sum256(v.buffer)
	if m.RedactedAt != nil {
		kept, err := hex.DecodeString(m.Digest)
		if err != nil || len(kept) != sha256.Size || body != emptyBody {
			return false
		}
		body = [sha256.Size]byte(kept)
	}
	v.buffer = v.buffer[:0]
	v.buffer.message(m, body)
	sum := sha256.Sum256(v.buffer)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:]) == m.Checksum
}

// emptyBody is the digest of an empty body.
var emptyBody = Message{}.BodyDigest()

type canonical []byte

func (c *canonical) add(s string) {
	c.length(len(s))
	*c = append(*c, s...)
	*c = append(*c, ',')
}

func (c *canonical) bytes(b []byte) {
	c.length(len(b))
	*c = append(*c, b...)
	*c = append(*c, ',')
}

func (c *canonical) length(n int) {
	*c = strconv.AppendInt(*c, int64(n), 10)
	*c = append(*c, ':')
}

// list adds a netstring that contains the entries as netstrings, so that one entry cannot look like two.
func (c *canonical) list(entries []string) {
	size := 0
	for _, e := range entries {
		size += digits(len(e)) + len(e) + len(":,")
	}
	c.length(size)
	for _, e := range entries {
		c.add(e)
	}
	*c = append(*c, ',')
}

// digits returns how many decimal digits a length has.
func digits(n int) int {
	count := 1
	for ; n > 9; n /= 10 {
		count++
	}
	return count
}

func (c *canonical) num(n int64) {
	var text [20]byte
	c.bytes(strconv.AppendInt(text[:0], n, 10))
}

func (c *canonical) time(t *time.Time) {
	if t == nil {
		c.add("")
		return
	}
	c.num(t.UnixMilli())
}
