package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

const (
	defaultMessages = 20
	maxMessages     = 100
	maxBytes        = 64 << 10 // of messages in one result
)

var readConversation = Tool{
	Name:        "read_conversation",
	Title:       "Read Conversation",
	Description: "Shows the last messages of a conversation, oldest first.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"conversation":{"type":"string","description":"Id, #name, or @id of an agent for your DM"},` +
		`"before":{"type":"integer","description":"Shows only messages before this position, which an earlier result names"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Default 20"}},` +
		`"required":["conversation"],"additionalProperties":false}`),
	Result: json.RawMessage(`{"type":"object","properties":{"messages":{"type":"array","items":` + messageSchema + `},` +
		`"before":{"type":"integer"},"approval":{"type":"string"}}}`),
	Reads: true,
	call:  withArguments(read),
}

type readArgs struct {
	Conversation string `json:"conversation"`
	Before       int64  `json:"before"`
	Limit        int    `json:"limit"`
}

// readData is the structured result of read_conversation.
type readData struct {
	Messages []messageData `json:"messages"`
	Before   int64         `json:"before,omitempty"` // where older messages begin
}

// messageData is a message in a structured result.
type messageData struct {
	ID           string      `json:"id"`
	Conversation string      `json:"conversation"`
	From         string      `json:"from"`
	Type         parley.Type `json:"type"`
	At           time.Time   `json:"at"`
	InReplyTo    string      `json:"in_reply_to,omitempty"`
	Task         string      `json:"task,omitempty"`     // of a result: the task that has ended
	Approval     string      `json:"approval,omitempty"` // of a result: the approval that was decided
	Text         string      `json:"text"`
}

// messageSchema is the schema of messageData.
const messageSchema = `{"type":"object","properties":{"id":{"type":"string"},"from":{"type":"string"},"text":{"type":"string"}}}`

func read(ctx context.Context, p Participant, args readArgs) (Result, error) {
	if err := require("conversation", args.Conversation); err != nil {
		return Result{}, err
	}
	limit := args.Limit
	if limit == 0 {
		limit = defaultMessages
	}
	if limit < 1 || limit > maxMessages || args.Before < 0 {
		return Result{}, parley.Errorf(parley.BadInput, "limit is %d, before is %d", args.Limit, args.Before).
			Suggest("use a limit of 1 to %d, and a before that an earlier result names", maxMessages)
	}
	found, err := p.Workspace.Read(ctx, args.Conversation, args.Before, limit)
	if err != nil {
		return Result{}, err
	}
	messages := found.Messages
	if len(messages) == 0 {
		return Result{"No messages.\n", readData{Messages: []messageData{}}}, nil
	}
	names := namesOf(messages, found.Answered)
	shown, left := quoteNewest(messages, participants(p, found.Names, names))
	data := readData{Messages: dataOf(messages[left:], names)}
	if left > 0 || len(messages) == limit {
		data.Before = messages[left].Seq
		shown += fmt.Sprintf("For older messages, use before %d\n", data.Before)
	}
	return Result{shown, data}, nil
}

// quoteNewest returns the newest messages that fit into a result, and the number of older ones that do not. If not even the newest
// message fits, it is shortened.
func quoteNewest(messages []parley.Message, v quote.Participants) (text string, left int) {
	shown, left := v.Fit(messages, maxBytes)
	if len(shown) == 0 {
		left = len(messages) - 1
		shown = []string{v.ShortMessage(messages[left], maxBytes)}
	}
	return strings.Join(shown, ""), left
}

// namesOf returns the short names of messages, and of those that they answer, by id.
func namesOf(messages []parley.Message, answered parley.ShortNames) map[string]string {
	names := quote.NamesOf(messages)
	maps.Copy(names, answered)
	return names
}

// dataOf returns messages as structured results have them. Texts that do not fit into a result are cut, as in the text for the model.
func dataOf(messages []parley.Message, names map[string]string) []messageData {
	list := make([]messageData, 0, len(messages))
	for _, m := range messages {
		about := m.Subject()
		list = append(list, messageData{
			ID: m.ShortName(), Conversation: m.Conversation, From: m.From, Type: m.Type, At: m.CreatedAt,
			InReplyTo: cmp.Or(names[m.InReplyTo], m.InReplyTo), Task: cmp.Or(about.Task, m.Task), Approval: about.Approval,
			Text: cut(quote.Clean(m.Content.Text), maxBytes/len(messages)),
		})
	}
	return list
}

// cut leaves out the middle of a text that is longer than limit bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	first, last := strings.ToValidUTF8(text[:limit/2], ""), strings.ToValidUTF8(text[len(text)-limit/2:], "")
	return fmt.Sprintf("%s\n(%d bytes left out)\n%s", first, len(text)-len(first)-len(last), last)
}

// participantsIn returns the participants in messages as the reader of the result sees them.
func participantsIn(ctx context.Context, p Participant, messages []parley.Message, names map[string]string) (quote.Participants, error) {
	named, err := p.Workspace.Named(ctx, parley.ParticipantsIn(messages)...)
	return participants(p, named, names), err
}

// participants returns participants as the reader of a result sees them.
func participants(p Participant, named []parley.Presence, names map[string]string) quote.Participants {
	v := quote.Participants{Self: p.ID, Known: map[string]quote.Person{}, Names: names}
	for _, a := range named {
		v.Known[a.ID] = quote.Person{Name: a.Name, Kind: a.Kind}
	}
	return v
}
