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

// Canonical is the form of a message that its checksum is made from: netstrings ("5:hello,") of
// the fields in a fixed order, times as milliseconds, the body as its digest. Two messages have
// the same canonical form only if every field is the same.
func (m Message) Canonical(body [32]byte) []byte {
	c := make(canonical, 0, 512)
	c.add(canonicalForm)
	c.add(m.ID)
	c.num(m.Seq)
	c.add(m.TraceID)
	c.add(m.Conversation)
	c.add(m.From)
	c.add(m.To)
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
	c.add(string(body[:]))
	return c
}

// BodyDigest is the SHA-256 of what the sender wrote: text, code, artifacts, payload, metadata.
func (m Message) BodyDigest() [32]byte {
	artifacts := ""
	if len(m.Content.Artifacts) > 0 {
		raw, err := json.Marshal(m.Content.Artifacts)
		if err != nil {
			panic("parley: artifacts cannot fail to encode: " + err.Error())
		}
		artifacts = string(raw)
	}
	c := make(canonical, 0, len(m.Content.Text)+len(m.Content.Code)+len(m.Payload)+len(m.Metadata)+len(artifacts)+64)
	c.add(m.Content.Text)
	c.add(m.Content.Code)
	c.add(artifacts)
	c.add(string(m.Payload))
	c.add(string(m.Metadata))
	return sha256.Sum256(c)
}

// Seal is the checksum of a message whose body has the given digest.
func (m Message) Seal(body [32]byte) string {
	sum := sha256.Sum256(m.Canonical(body))
	return hex.EncodeToString(sum[:])
}

// Intact says whether the message is what its checksum was made from. Of one that was redacted, the
// digest that was kept stands for the body, which must be gone.
func (m Message) Intact() bool {
	if m.RedactedAt == nil {
		return m.Seal(m.BodyDigest()) == m.Checksum
	}
	kept, err := hex.DecodeString(m.Digest)
	if err != nil || len(kept) != sha256.Size || m.BodyDigest() != (Message{}).BodyDigest() {
		return false
	}
	return m.Seal([sha256.Size]byte(kept)) == m.Checksum
}

type canonical []byte

func (c *canonical) add(s string) {
	*c = strconv.AppendInt(*c, int64(len(s)), 10)
	*c = append(*c, ':')
	*c = append(*c, s...)
	*c = append(*c, ',')
}

// list is a netstring of netstrings, so that no entry can look like two.
func (c *canonical) list(entries []string) {
	var inner canonical
	for _, e := range entries {
		inner.add(e)
	}
	c.add(string(inner))
}

func (c *canonical) num(n int64) { c.add(strconv.FormatInt(n, 10)) }

func (c *canonical) time(t *time.Time) {
	if t == nil {
		c.add("")
		return
	}
	c.num(t.UnixMilli())
}
