package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

var useMemory = Tool{
	Name:  "memory",
	Title: "Memory",
	Description: "Notes that outlive the conversation: your own (private), or those that all who read a conversation share. " +
		"remember: text. recall: query, or the newest. forget: note.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"action":{"type":"string","enum":["remember","recall","forget"]},` +
		`"scope":{"type":"string","enum":["private","conversation"],"description":"Default private"},` +
		`"conversation":{"type":"string","description":"Id or #name; in a run, default its own"},` +
		`"text":{"type":"string"},` +
		`"query":{"type":"string"},` +
		`"note":{"type":"string","description":"Like note-12"}},` +
		`"required":["action"],"additionalProperties":false}`),
	Result: json.RawMessage(`{"type":"object","properties":{"notes":{"type":"array","items":{"type":"object","properties":{` +
		`"id":{"type":"string"},"author":{"type":"string"},"at":{"type":"string"},"text":{"type":"string"}}}},` +
		`"note":{"type":"string"},"more":{"type":"integer"},"approval":{"type":"string"}}}`),
	call: withArguments(memory),
}

type memoryArgs struct {
	Action       string `json:"action"`
	Scope        string `json:"scope"`
	Conversation string `json:"conversation"`
	Text         string `json:"text"`
	Query        string `json:"query"`
	Note         string `json:"note"`
}

// memoryData is the structured result of memory.
type memoryData struct {
	Note  string     `json:"note,omitempty"` // the note that was remembered or forgotten
	Notes []noteData `json:"notes,omitempty"`
	More  int        `json:"more,omitempty"` // notes that do not fit into the result
}

// noteData is a note in a structured result.
type noteData struct {
	ID     string    `json:"id"`
	Author string    `json:"author"`
	At     time.Time `json:"at"`
	Text   string    `json:"text"`
}

// memory refuses an argument that its action does not use: the model would not notice that it had no effect.
func memory(ctx context.Context, p Participant, args memoryArgs) (Result, error) {
	takes := map[string][]string{
		"remember": {"scope", "conversation", "text"}, "recall": {"scope", "conversation", "query"}, "forget": {"note"},
	}[args.Action]
	if takes == nil {
		return Result{}, parley.Errorf(parley.BadInput, "there is no action %s", quote.Inline(args.Action)).Suggest("use remember, recall or forget")
	}
	for _, arg := range []struct{ name, value string }{
		{"scope", args.Scope}, {"conversation", args.Conversation}, {"text", args.Text}, {"query", args.Query}, {"note", args.Note},
	} {
		if arg.value != "" && !slices.Contains(takes, arg.name) {
			return Result{}, parley.Errorf(parley.BadInput, "%s is not for %s", arg.name, args.Action).Suggest("leave it out")
		}
	}
	if args.Scope == "" {
		args.Scope = string(parley.PrivateNote)
		if args.Conversation != "" {
			args.Scope = string(parley.ConversationNote)
		}
	}
	switch args.Action {
	case "remember":
		return rememberNote(ctx, p, args)
	case "recall":
		return recallNotes(ctx, p, args)
	default:
		return forgetNote(ctx, p, args.Note)
	}
}

func rememberNote(ctx context.Context, p Participant, args memoryArgs) (Result, error) {
	if err := require("text", args.Text); err != nil {
		return Result{}, err
	}
	n, err := p.Workspace.Remember(ctx, parley.NewNote{Scope: parley.NoteScope(args.Scope), Conversation: args.Conversation, Text: args.Text})
	if err != nil {
		return Result{}, err
	}
	return Result{"Noted as " + quote.Word(n.ID) + ".\n", memoryData{Note: n.ID}}, nil
}

func forgetNote(ctx context.Context, p Participant, note string) (Result, error) {
	if err := require("note", note); err != nil {
		return Result{}, err
	}
	if err := p.Workspace.Forget(ctx, note); err != nil {
		return Result{}, err
	}
	return Result{quote.Word(note) + " is forgotten.\n", memoryData{Note: note}}, nil
}

func recallNotes(ctx context.Context, p Participant, args memoryArgs) (Result, error) {
	list, err := p.Workspace.Recall(ctx, parley.NoteFilter{
		Scope: parley.NoteScope(args.Scope), Conversation: args.Conversation, Query: args.Query, Limit: defaultMessages,
	})
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return Result{"No notes.\n", memoryData{}}, nil
	}
	authors := make([]parley.Message, len(list))
	for i, n := range list {
		authors[i].From = n.Author
	}
	v, err := participantsIn(ctx, p, authors, nil)
	if err != nil {
		return Result{}, err
	}
	var out strings.Builder
	var data memoryData
	for i, n := range list {
		text := v.Note(n)
		if out.Len()+len(text) > maxBytes {
			data.More = len(list) - i
			fmt.Fprintf(&out, "(%d more)\n", data.More)
			break
		}
		out.WriteString(text)
		data.Notes = append(data.Notes, noteData{n.ID, n.Author, n.CreatedAt, quote.Clean(n.Text)})
	}
	return Result{out.String(), data}, nil
}
