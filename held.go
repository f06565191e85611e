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

// Canonical is the call with its arguments in the one form that each value has: keys in order, no spaces, nothing
// escaped that need not be.
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

// DigestFor is the SHA-256 of the canonical form of the call, made by an agent, in hex. An approval is good for
// this and nothing else.
func (c HeldCall) DigestFor(agent string) (string, error) {
	c, err := c.Canonical()
	if err != nil {
		return "", err
	}
	raw, err := sortedJSON(map[string]any{"agent": agent, "tool": c.Tool, "args": c.Args})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}

// ApprovalRequest is a held call as whoever decides is shown it.
type ApprovalRequest struct {
	ID     string // of the agent whose call it is
	Agent  string // its name
	Wants  string // contact SeniorAnalystBot
	Action string
	Parts  []ApprovalPart
}

// ApprovalPart is something that the call says: what its agent wrote.
type ApprovalPart struct{ Label, Text string }

// Text is the request in words. Whatever the agent wrote, it has no line that it did not get here.
func (r ApprovalRequest) Text() string { return r.Wording().Text }

// Wording is the request with the parts that the agent wrote.
func (r ApprovalRequest) Wording() Wording {
	w := Wording{}.Name(r.ID, visible(r.Agent)).Own(" wants to ").Join(Deed(r.ID, r.Wants)).Own(":\nAction: ").
		Name(r.ID, visible(r.Action)).Own("\n")
	for _, p := range r.Parts {
		if p.Text != "" {
			w = w.Own(p.Label + ":").Join(quoted(r.ID, p.Text)).Own("\n")
		}
	}
	return w.Own("\n[Approve] [Deny]")
}

// deed finds the verb of a held call. The text after it is a name that the caller may have chosen.
var deed = regexp.MustCompile(`^(?:contact(?:ing)? |post(?:ing)? in |read(?:ing)? (?:the thread of )?(?:message )?|look(?:ing)? at |\S+ |)`)

// Deed is the wording of what a call does: "contact SeniorAnalystBot", "reading #forge".
func Deed(by, text string) Wording {
	text = visible(text)
	verb := deed.FindString(text)
	return Own(verb).Name(by, text[len(verb):])
}

// quoted is a text in quotation marks where it is one line, else with a mark before each line.
func quoted(by, text string) Wording {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if len(lines) == 1 {
		return Own(` "`).Quote(by, visible(text)).Own(`"`)
	}
	for i, line := range lines {
		lines[i] = "| " + visible(line)
	}
	return Own("\n").Quote(by, strings.Join(lines, "\n"))
}

// visible shows what nobody could see, and what would begin another line, as escapes.
func visible(text string) string {
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

// ApprovalParts are what a contact says, all of it.
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

// ApprovalParts are what a draft says, all that makes it another one.
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

// ApprovalParts are what a change of a conversation says, all of it, and what it does in one word each.
func (c ConversationChange) ApprovalParts() (action string, parts []ApprovalPart) {
	var does []string
	if c.Name != nil {
		does, parts = append(does, "rename"), append(parts, ApprovalPart{"Name", *c.Name})
	}
	if c.DisplayName != nil && (*c.DisplayName != "" || c.Name == nil) {
		does, parts = append(does, "display name"), append(parts, ApprovalPart{"Display name", *c.DisplayName})
	}
	if c.Topic != nil && *c.Topic == "" {
		does = append(does, "remove topic")
	} else if c.Topic != nil {
		does, parts = append(does, "topic"), append(parts, ApprovalPart{"Topic", *c.Topic})
	}
	if c.Archived != nil {
		does = append(does, map[bool]string{true: "archive", false: "unarchive"}[*c.Archived])
	}
	if c.Answers != nil {
		does, parts = append(does, "answers"), append(parts, ApprovalPart{"Answers", string(*c.Answers)})
	}
	return strings.Join(does, ", "), parts
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
