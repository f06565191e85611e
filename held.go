package parley

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Canonical returns the call with its arguments in canonical form: sorted keys, no spaces, no needless escapes.
func (c HeldCall) Canonical() (HeldCall, error) {
	decoder := json.NewDecoder(bytes.NewReader(c.Args))
	decoder.UseNumber()
	var args any
	if err := decoder.Decode(&args); err != nil {
		return c, err
	}
	raw, err := sortedJSON(args)
	c.Args = raw
	return c, err
}

func sortedJSON(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out) // it sorts the keys of maps
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// DigestFor returns the SHA-256, in hex, of the canonical form of the call and the agent that makes it. An approval covers
// only the call with this digest.
func (c HeldCall) DigestFor(agent string) (string, error) {
	c, err := c.Canonical()
	if err != nil {
		return "", err
	}
	raw, err := sortedJSON(map[string]any{"agent": agent, "tool": c.Tool, "args": c.Args})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// ApprovalRequest is a held call as the approver sees it.
type ApprovalRequest struct {
	ID     string // the id of the calling agent
	Agent  string // the name of the calling agent
	Wants  string // contact SeniorAnalystBot
	Action string
	Parts  []ApprovalPart
}

// ApprovalPart is a text in the call that the agent wrote, with a label.
type ApprovalPart struct{ Label, Text string }

// Text returns the request in words. The agent's texts cannot add lines that look like the hub's.
func (r ApprovalRequest) Text() string { return r.Wording().Text }

// Wording returns the request with the parts that the agent wrote.
func (r ApprovalRequest) Wording() Wording {
	w := Wording{}.Name(r.ID, escapeInvisible(r.Agent)).Own(" wants to ").Join(DescribeCall(r.ID, r.Wants)).Own(":\nAction: ").
		Name(r.ID, escapeInvisible(r.Action)).Own("\n")
	for _, p := range r.Parts {
		if p.Text != "" {
			w = w.Own(p.Label + ":").Join(quoteText(r.ID, p.Text)).Own("\n")
		}
	}
	return w.Own("\n[Approve] [Deny]")
}

// RequestLine returns a request for approval in one line: who wants what, the action, and the beginning of the message or, without
// one, of the first text that the agent wrote. No line of such a text begins like a line of the request.
func RequestLine(request string) string {
	first, rest, _ := strings.Cut(request, "\n")
	line := cutToLine(strings.TrimSuffix(first, ":"))
	action, parts, found := strings.Cut(strings.TrimPrefix(rest, "Action: "), "\n")
	if !found {
		return line
	}
	if _, message, ok := strings.Cut("\n"+parts, "\nMessage:"); ok {
		parts = message
	}
	text, _, _ := strings.Cut(strings.TrimLeft(parts, "\n| "), "\n")
	if text == "" || strings.HasPrefix(parts, "\n[Approve]") {
		return line + ": " + action
	}
	return line + ": " + action + " " + cutToLine(text)
}

// callVerb matches the verb at the beginning of a description of a call. A name that the caller may have chosen follows it.
var callVerb = regexp.MustCompile(`^(?:contact(?:ing)? |post(?:ing)? in |read(?:ing)? (?:the thread of )?(?:message )?|look(?:ing)? at |\S+ |)`)

// DescribeCall returns the wording of a description of a call, such as "contact SeniorAnalystBot" or "reading #forge".
func DescribeCall(by, text string) Wording {
	text = escapeInvisible(text)
	verb := callVerb.FindString(text)
	return Own(verb).Name(by, text[len(verb):])
}

// quoteText returns a text of one line in quotation marks, and a longer text with "| " before each line.
func quoteText(by, text string) Wording {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) == 1 {
		return Own(` "`).Quote(by, escapeInvisible(text)).Own(`"`)
	}
	for i, line := range lines {
		lines[i] = "| " + escapeInvisible(line)
	}
	return Own("\n").Quote(by, strings.Join(lines, "\n"))
}

// escapeInvisible writes invisible characters and line breaks as escapes.
func escapeInvisible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsGraphic(r) || r == '\t' || r == '\u200d' {
			out.WriteRune(r)
			continue
		}
		escaped := strconv.QuoteRuneToASCII(r)
		out.WriteString(escaped[1 : len(escaped)-1])
	}
	return out.String()
}

// ApprovalParts returns every text and setting of a contact that an approver must see.
func (c Contact) ApprovalParts() []ApprovalPart {
	parts := []ApprovalPart{{"Message", c.Message}, {"Context", c.Context}}
	if c.Pattern == PatternDelegate {
		parts = append(parts, ApprovalPart{"Priority", c.Priority.Class()})
	}
	if c.Deadline != nil {
		parts = append(parts, ApprovalPart{"Deadline", c.Deadline.UTC().Format(time.RFC3339)})
	}
	return append(parts, ApprovalPart{"After", strings.Join(c.After, ", ")}, filesPart(c.Artifacts))
}

// ApprovalParts returns every text and setting of a draft that an approver must see.
func (d Draft) ApprovalParts() []ApprovalPart {
	parts := []ApprovalPart{{"To", d.To}, {"In reply to", d.InReplyTo}, {"Task", d.Task}}
	if d.Type != TypeChat {
		parts = append(parts, ApprovalPart{"Type", string(d.Type)})
	}
	if d.Priority.Level() != DefaultPriority.Level() {
		parts = append(parts, ApprovalPart{"Priority", d.Priority.Class()})
	}
	if d.Deadline != nil {
		parts = append(parts, ApprovalPart{"Deadline", d.Deadline.UTC().Format(time.RFC3339)})
	}
	return append(parts, ApprovalPart{"Message", d.Content.Text}, ApprovalPart{"Code", d.Content.Code}, ApprovalPart{"Payload", string(d.Payload)},
		ApprovalPart{"Metadata", string(d.Metadata)}, filesPart(d.Content.Artifacts))
}

// ApprovalParts returns a description of a change of a conversation, with a word or two for each changed field, and every text of
// the change.
func (c ConversationChange) ApprovalParts() (action string, parts []ApprovalPart) {
	var actions []string
	if c.Name != nil {
		actions, parts = append(actions, "rename"), append(parts, ApprovalPart{"Name", *c.Name})
	}
	if c.DisplayName != nil && (*c.DisplayName != "" || c.Name == nil) {
		actions, parts = append(actions, "display name"), append(parts, ApprovalPart{"Display name", *c.DisplayName})
	}
	if c.Topic != nil && *c.Topic == "" {
		actions = append(actions, "remove topic")
	} else if c.Topic != nil {
		actions, parts = append(actions, "topic"), append(parts, ApprovalPart{"Topic", *c.Topic})
	}
	if c.Archived != nil {
		actions = append(actions, map[bool]string{true: "archive", false: "unarchive"}[*c.Archived])
	}
	if c.Answers != nil {
		actions, parts = append(actions, "answers"), append(parts, ApprovalPart{"Answers", string(*c.Answers)})
	}
	return strings.Join(actions, ", "), parts
}

func filesPart(list []Artifact) ApprovalPart {
	lines := make([]string, 0, len(list))
	for _, a := range list {
		line := a.Name
		if a.Path != "" {
			line = a.Path
		}
		if a.SHA256 != "" {
			line += " sha256:" + a.SHA256
		}
		lines = append(lines, line)
	}
	return ApprovalPart{"Files", strings.Join(lines, ", ")}
}
