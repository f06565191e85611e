package parley

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Type is the type of a message: one of the types below, or a word of the sender's own.
type Type string

// The types of messages that the hub knows.
const (
	TypeChat         Type = "chat"
	TypeRequest      Type = "request"
	TypeResponse     Type = "response"
	TypeNotification Type = "notification"
	TypeError        Type = "error"
	TypeCommand      Type = "command"
	TypeStatus       Type = "status"
	TypeHeartbeat    Type = "heartbeat"
	TypeTask         Type = "task"
	TypeResult       Type = "result"
)

var typeForm = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// CheckType returns why a word cannot be the type of a message, or nil.
func CheckType(t Type) error {
	if typeForm.MatchString(string(t)) {
		return nil
	}
	return Errorf(BadInput, "%q is not a message type", clip(string(t))).
		Suggest("a type is 1 to 64 of a-z, 0-9, _ and -, starting with a letter")
}

// Wakes reports whether a message of this type may start a run.
func (t Type) Wakes() bool {
	switch t {
	case TypeNotification, TypeStatus, TypeHeartbeat, TypeCommand, TypeError:
		return false
	default:
		return true
	}
}

// Message is one message. A stored message never changes, except that it can be redacted: then its body is
// removed, and the digest of the body stays.
type Message struct {
	ID             string          `json:"id" doc:"The id."`
	Seq            int64           `json:"seq" doc:"The position in the hub's total order."`
	TraceID        string          `json:"trace_id" doc:"The trace it belongs to."`
	Conversation   string          `json:"conversation" doc:"The conversation's id."`
	From           string          `json:"from" doc:"The sender's id."`
	To             string          `json:"to,omitempty" doc:"The addressee: a participant, or all."`
	Mentions       []string        `json:"mentions,omitempty" doc:"The participants that the text mentions."`
	Type           Type            `json:"type" doc:"What the message is meant as: chat, request, response, notification, error, command, status, heartbeat, task, result, or a word of the sender's own."`
	Priority       Priority        `json:"priority"`
	CreatedAt      time.Time       `json:"created_at" doc:"When it was posted."`
	ExpiresAt      *time.Time      `json:"expires_at,omitempty" doc:"When it expires."`
	Deadline       *time.Time      `json:"deadline,omitempty" doc:"When an ack or an answer is due."`
	InReplyTo      string          `json:"in_reply_to,omitempty" doc:"The message it answers."`
	RequiresAck    bool            `json:"requires_ack,omitempty" doc:"Whether an ack or an answer is due."`
	Task           string          `json:"task,omitempty" doc:"The task it belongs to."`
	Content        Content         `json:"content" doc:"The contents."`
	Payload        json.RawMessage `json:"payload,omitempty" doc:"Data for programs, as a JSON object."`
	Metadata       json.RawMessage `json:"metadata,omitempty" doc:"Further data, as a JSON object. Only the hub sets the key parley: in messages from parley, parley.quotes lists the parts of content.text that others wrote (by, start, end); parley.task and parley.approval name the task or approval whose end the message tells."`
	Source         string          `json:"source" doc:"Where the message came from: cli, web, api, mcp, file (a bridge), nats, run and so on."`
	Hops           int             `json:"hops" doc:"The length of the chain of automatic messages that caused it."`
	IdempotencyKey string          `json:"idempotency_key,omitempty" doc:"The idempotency key that the sender gave."`
	Checksum       string          `json:"checksum" doc:"The SHA-256 of the whole message."`
	RedactedAt     *time.Time      `json:"redacted_at,omitempty" doc:"When the body was erased."`
	Digest         string          `json:"body_digest,omitempty" doc:"The SHA-256 of the body that was redacted."`
	Damage         *Error          `json:"damage,omitempty" doc:"Set if this is a stand-in for a damaged message. The text names the damage; nothing of the message is shown."`
}

// CheckReason returns why a text cannot be a reason, such as that of a redaction or a command, or nil.
func CheckReason(reason string) error { return checkText("reason", reason, 4<<10) }

// Redacted returns the message without its body, and with the digest of the body.
func (m Message) Redacted(at time.Time) Message {
	digest := m.BodyDigest()
	m.Content, m.Payload, m.Metadata = Content{}, nil, nil
	m.RedactedAt, m.Digest = &at, hex.EncodeToString(digest[:])
	return m
}

// Size returns the number of bytes that the sender wrote: text, code, payload, metadata and the list of artifacts, without the
// bodies of the artifacts.
func (m Message) Size() int {
	size := len(m.Content.Text) + len(m.Content.Code) + len(m.Payload) + len(m.Metadata)
	if len(m.Content.Artifacts) > 0 {
		artifacts, err := json.Marshal(m.Content.Artifacts)
		if err != nil {
			panic("parley: artifacts cannot fail to encode: " + err.Error())
		}
		size += len(artifacts)
	}
	return size
}

// Content is the text, code and files of a message.
type Content struct {
	Text      string     `json:"text" doc:"What it says. @name mentions somebody."`
	Code      string     `json:"code,omitempty" doc:"Code, apart from the text."`
	Artifacts []Artifact `json:"artifacts,omitempty" doc:"Files that belong to it."`
}

// Artifact is a file that belongs to a message: a stored body with its digest, or a path that
// the hub never opens.
type Artifact struct {
	Name      string `json:"name,omitempty" doc:"Its file name."`
	MediaType string `json:"media_type,omitempty" doc:"Its media type."`
	Size      int64  `json:"size,omitempty" doc:"The size in bytes."`
	SHA256    string `json:"sha256,omitempty" doc:"The SHA-256 of the stored body, in lower-case hexadecimal."`
	Path      string `json:"path,omitempty" doc:"A path, if the hub does not store the file. The hub never opens the path."`
}

// Digests returns the digests of the stored bodies that the content refers to, each once.
func (c Content) Digests() []string {
	var digests []string
	for _, a := range c.Artifacts {
		if a.SHA256 != "" && !slices.Contains(digests, a.SHA256) {
			digests = append(digests, a.SHA256)
		}
	}
	return digests
}

// Draft is a message as its sender posts it.
type Draft struct {
	// Conversation is an id, a name or #name. Instead, Direct can name the other participants: one name selects the direct
	// conversation with that participant, several names select their group. One name with Ephemeral creates a new conversation. A
	// draft with InReplyTo and without Conversation and Direct goes to the sender of the answered message, in its conversation.
	Conversation string   `json:"conversation,omitempty" doc:"An id, a name or #name. Or give direct, or in_reply_to."`
	Direct       []string `json:"direct,omitempty" doc:"The other participants: one name selects a direct conversation, several select their group."`
	Ephemeral    bool     `json:"ephemeral,omitempty" doc:"With one name in direct: a new conversation for this message."`
	Make         bool     `json:"make,omitempty" doc:"Create the channel that conversation names, if it does not exist."`

	From        string     `json:"from,omitempty" doc:"Refused unless it is the caller."`
	To          string     `json:"to,omitempty" doc:"The addressee: a participant, or all."`
	Type        Type       `json:"type,omitempty" doc:"What the message is meant as: chat, request, response, notification, error, command, status, heartbeat, task, result, or a word of the sender's own."`
	Priority    Priority   `json:"priority,omitzero"`
	TTL         int64      `json:"ttl,omitempty" doc:"Seconds until the message expires."`
	Deadline    *time.Time `json:"deadline,omitempty" doc:"When an ack or an answer is due."`
	InReplyTo   string     `json:"in_reply_to,omitempty" doc:"The message it answers. Without a conversation, the answer goes to that message's sender in that message's conversation."`
	RequiresAck bool       `json:"requires_ack,omitempty" doc:"Whether an ack or an answer is due."`
	// Task is the task of the message. Messages of some types begin, update or end it.
	Task           string          `json:"task,omitempty" doc:"The task it belongs to."`
	TraceID        string          `json:"trace_id,omitempty" doc:"The trace it belongs to. Default: the trace of the message it answers, or a new one."`
	Content        Content         `json:"content" doc:"The contents."`
	Payload        json.RawMessage `json:"payload,omitempty" doc:"Data for programs, as a JSON object."`
	Metadata       json.RawMessage `json:"metadata,omitempty" doc:"Further data, as a JSON object. Only the hub sets the key parley: in messages from parley, parley.quotes lists the parts of content.text that others wrote (by, start, end); parley.task and parley.approval name the task or approval whose end the message tells."`
	IdempotencyKey string          `json:"idempotency_key,omitempty" doc:"The same key from the same sender within 24 hours stores nothing and returns the first message."`
	Sequence       int64           `json:"sequence,omitempty" doc:"The sender's own count of messages to its one recipient."`
}

// Limits bound the size of a message.
type Limits struct {
	Body     int   // bytes of text, code and payload together, and bytes of metadata
	Artifact int64 // bytes of one artifact
	Depth    int   // nesting of JSON
	Mentions int
}

// DefaultLimits returns the limits of a hub without configured limits.
func DefaultLimits() Limits {
	return Limits{Body: 256 << 10, Artifact: 64 << 20, Depth: 32, Mentions: 64}
}

const (
	maxArtifacts       = 64
	maxArtifact        = 1 << 10 // bytes of the name, the media type and the path each
	maxDirect          = 64      // participants that Direct may name
	maxAddress         = 256     // bytes of the name of a participant or a message
	maxConversationRef = 8 << 10 // bytes of a display name, or of a list of all names in Direct
	maxKeyBytes        = 255
	maxTTL             = 10 * 365 * 24 * 3600 // seconds
	maxSequence        = 1 << 53              // every JSON parser reads integers up to this exactly
)

// Check returns the draft with its defaults and with compact JSON, or an error that says what is wrong. It does not check whether
// the participants and the conversation exist.
func (d Draft) Check(limits Limits) (Draft, error) {
	d.Content.Artifacts = slices.Clone(d.Content.Artifacts)
	for i := range d.Content.Artifacts {
		d.Content.Artifacts[i].SHA256 = FoldDigest(d.Content.Artifacts[i].SHA256)
	}
	d, err := d.check(limits)
	for _, a := range d.Content.Artifacts {
		if err == nil {
			err = a.checkNames()
		}
	}
	return d, err
}

// check does what Check does, but does not check the names and digests of artifacts.
func (d Draft) check(limits Limits) (Draft, error) {
	if d.Type == "" {
		d.Type = TypeChat
	}
	if err := CheckType(d.Type); err != nil {
		return d, err
	}
	if !d.Priority.Given() {
		d.Priority = DefaultPriority
	}
	if err := d.checkAddress(); err != nil {
		return d, err
	}
	if d.TTL < 0 || d.TTL > maxTTL {
		return d, Errorf(BadInput, "ttl is %d seconds", d.TTL).Suggest("use 1 to %d", maxTTL)
	}
	if d.Sequence < 0 || d.Sequence > maxSequence {
		return d, Errorf(BadInput, "sequence is %d", d.Sequence).Suggest("use 1 to %d, or leave the sequence out", maxSequence)
	}
	if err := CheckTrace(d.TraceID); err != nil {
		return d, err
	}
	if err := checkText("idempotency_key", d.IdempotencyKey, maxKeyBytes); err != nil {
		return d, err
	}
	return d.checkBody(limits)
}

func (d Draft) checkAddress() error {
	if len(d.Direct) > maxDirect {
		return Errorf(BadInput, "the message names %d recipients, the limit is %d", len(d.Direct), maxDirect).
			Because(TooLarge).Suggest("create a channel")
	}
	for _, name := range d.Direct {
		if err := checkText("direct", name, maxAddress); err != nil {
			return err
		}
	}
	if err := checkText("conversation", d.Conversation, maxConversationRef); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"from": d.From, "to": d.To, "in_reply_to": d.InReplyTo, "task": d.Task,
	} {
		if err := checkText(name, text, maxAddress); err != nil {
			return err
		}
	}
	switch {
	case d.Conversation == "" && len(d.Direct) == 0 && d.InReplyTo == "":
		return Errorf(BadInput, "the message has no conversation").
			Suggest("name a conversation or the recipients")
	case d.Conversation != "" && len(d.Direct) > 0:
		return Errorf(BadInput, "the message names both a conversation and recipients").Suggest("name only one of them")
	case d.Make && d.Conversation == "":
		return Errorf(BadInput, "the message does not name the channel to create").Suggest("name the channel as the conversation")
	case d.Ephemeral && len(d.Direct) != 1:
		return Errorf(BadInput, "an ephemeral conversation needs exactly one recipient").Suggest("name one recipient in direct")
	default:
		return nil
	}
}

func (d Draft) checkBody(limits Limits) (_ Draft, err error) {
	c := d.Content
	if err := checkText("text", c.Text, limits.Body); err != nil {
		return d, err
	}
	if err := checkText("code", c.Code, limits.Body); err != nil {
		return d, err
	}
	if d.Payload, err = CompactObject("payload", d.Payload, limits); err != nil {
		return d, err
	}
	if d.Metadata, err = CompactObject("metadata", d.Metadata, limits); err != nil {
		return d, err
	}
	if len(c.Artifacts) > maxArtifacts {
		return d, tooLargeError("artifacts", len(c.Artifacts), maxArtifacts, "entries")
	}
	for _, a := range c.Artifacts {
		if err := a.check(limits); err != nil {
			return d, err
		}
	}
	if size := len(c.Text) + len(c.Code) + len(d.Payload); size > limits.Body {
		return d, tooLargeError("text, code and payload", size, limits.Body, "bytes")
	}
	if strings.TrimSpace(c.Text) == "" && c.Code == "" && len(c.Artifacts) == 0 && len(d.Payload) == 0 {
		return d, Errorf(BadInput, "the message is empty").Suggest("give it a text")
	}
	return d, nil
}

// checkNames refuses names with line breaks or invisible characters, because such a name could look like another file or line.
func (a Artifact) checkNames() error {
	for name, text := range map[string]string{"artifact media_type": a.MediaType, "artifact path": a.Path} {
		if strings.ContainsFunc(text, isControlOrFormat) {
			return Errorf(BadInput, "%s %q has a line break or an invisible character", name, clip(text)).Suggest("leave it out")
		}
	}
	return CheckArtifactName(a.Name)
}

func (a Artifact) check(limits Limits) error {
	for name, text := range map[string]string{
		"artifact name": a.Name, "artifact media_type": a.MediaType, "artifact path": a.Path,
	} {
		if err := checkText(name, text, maxArtifact); err != nil {
			return err
		}
	}
	switch {
	case (a.SHA256 == "") == (a.Path == ""):
		return Errorf(BadInput, "an artifact must have either sha256 or path, and not both").
			Suggest("store its body and give the sha256, or give a path")
	case a.SHA256 != "" && !digestForm.MatchString(a.SHA256):
		return Errorf(BadInput, "artifact sha256 %q is not 64 hexadecimal digits", clip(a.SHA256)).
			Suggest("give the SHA-256 of a stored body")
	case a.Size < 0:
		return Errorf(BadInput, "the size of an artifact is %d", a.Size).Suggest("give the size in bytes, or leave it out")
	case a.Size > limits.Artifact:
		return Errorf(BadInput, "an artifact has %d bytes, the limit is %d", a.Size, limits.Artifact).Because(TooLarge).
			Suggest("split it, or refer to it by a path")
	default:
		return nil
	}
}

// CompactObject checks that raw is one JSON object within the limits, without duplicate keys, and
// returns it without insignificant space. It returns nil for an empty raw.
func CompactObject(name string, raw json.RawMessage, limits Limits) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > limits.Body {
		return nil, tooLargeError(name, len(raw), limits.Body, "bytes")
	}
	if !utf8.Valid(raw) {
		return nil, Errorf(BadInput, "%s is not valid UTF-8", name).Suggest("encode it as UTF-8")
	}
	if err := checkJSON(name, raw, limits.Depth); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	compact.Grow(len(raw))
	if err := json.Compact(&compact, raw); err != nil {
		return nil, Errorf(BadInput, "%s is not JSON: %w", name, err).Suggest("give one JSON object")
	}
	if compact.Bytes()[0] != '{' {
		return nil, Errorf(BadInput, "%s is not a JSON object", name).Suggest("give one JSON object")
	}
	return compact.Bytes(), nil
}

// checkJSON refuses a JSON value with too deep nesting or with duplicate keys in one object. Readers of JSON disagree
// about which duplicate counts.
func checkJSON(name string, raw []byte, depth int) error {
	type level struct {
		keys    map[string]bool // nil in an array
		wantKey bool
	}
	var (
		open    []level // the objects and arrays around the next token
		deepest int
	)
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Errorf(BadInput, "%s is not JSON: %w", name, err).Suggest("give one JSON object")
		}
		delim, isDelim := token.(json.Delim)
		if isDelim && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			if in := &open[len(open)-1]; in.keys != nil {
				if in.wantKey {
					key, _ := token.(string)
					if in.keys[key] {
						return Errorf(BadInput, "%s has the key %q twice in one object", name, clip(key)).
							Suggest("give each key once")
					}
					in.keys[key] = true
				}
				in.wantKey = !in.wantKey
			}
		}
		if isDelim {
			next := level{}
			if delim == '{' {
				next = level{keys: map[string]bool{}, wantKey: true}
			}
			open = append(open, next)
			deepest = max(deepest, len(open))
		}
	}
	if deepest > depth {
		return Errorf(BadInput, "%s is nested %d levels deep, the limit is %d", name, deepest, depth).Because(TooLarge).
			Suggest("use fewer levels, or send an artifact")
	}
	return nil
}

// NamedMessages are messages with the names of their senders and receivers.
type NamedMessages struct {
	Messages []Message
	Names    []Presence // as Named of a Workspace returns them
	Answered ShortNames
}

// ShortNames are the short names of the messages that some messages answer, by id, as far as they are known.
type ShortNames map[string]string

// ParticipantsIn returns the ids of the senders and receivers of messages, each once.
func ParticipantsIn(messages []Message) (ids []string) {
	for _, m := range messages {
		for _, id := range []string{m.From, m.To} {
			if id != "" && id != All && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
