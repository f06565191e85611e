// Package tools is the hub as a model uses it: one table of tools, for every door that offers them. Their
// definitions are fixed texts; nothing that a participant wrote gets into them. What they return quotes
// participants as prompts do.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

// Participant is who uses a tool, and the hub as it may use it.
type Participant struct {
	ID        string
	Workspace parley.Workspace
}

// Tool is one tool, as a model is told of it.
type Tool struct {
	Name        string
	Title       string
	Description string
	Schema      json.RawMessage // of its arguments

	call func(context.Context, Participant, json.RawMessage) (string, error)
}

// All are the tools, in the order in which they are shown.
func All() []Tool {
	return []Tool{
		contactAgent, sendChannelMessage, readConversation, checkInbox, replyTo, queryWorkspace, updateTask, decideApproval,
	}
}

// Docs are the tools as a prompt names them.
func Docs() []parley.ToolDoc {
	var docs []parley.ToolDoc
	for _, t := range All() {
		docs = append(docs, parley.ToolDoc{Name: t.Name, Description: t.Description})
	}
	return docs
}

// Commands are for agents that are programs with a shell: there parley speaks for them, by the token of
// their run.
func Commands() []parley.ToolDoc {
	return []parley.ToolDoc{
		{Name: `parley chat --conv CHANNEL "text"`, Description: "Post to a channel; @name wakes whom it names."},
		{Name: `parley send AGENT "text"`, Description: "Write to one participant."},
		{Name: `parley ask AGENT "question" --context "…"`, Description: "Ask another agent, and wait for its answer."},
		{Name: `parley delegate AGENT "work" --context "…"`, Description: "Hand over work. The result comes back to you by itself, in a new turn."},
		{Name: `parley notify AGENT "text"`, Description: "Let another agent know. It is not woken."},
		{Name: `parley task progress TASK "text" --fraction 0.5`, Description: "Say how far your task has come."},
		{Name: `parley task complete TASK "result"`, Description: "End your task. Without it, your final text is its result."},
		{Name: "parley conv read CHANNEL", Description: "Read a conversation."},
		{Name: "parley search WORDS", Description: "Search what you may read."},
		{Name: "parley who", Description: "See who is here and what they do."},
	}
}

// Call uses a tool. E003 if there is none of that name, or if its arguments are wrong; else what the hub says.
// A call that waits for an approval has not failed: the text says that it waits. Failure makes a text of an error.
func Call(ctx context.Context, p Participant, name string, args json.RawMessage) (string, error) {
	var names []string
	for _, t := range All() {
		if t.Name == name {
			text, err := t.call(ctx, p, args)
			if held, ok := errors.AsType[*parley.Held](err); ok {
				return held.Error(), nil
			}
			return text, err
		}
		names = append(names, t.Name)
	}
	return "", parley.Errorf(parley.BadInput, "there is no tool %s", quote.Inline(name)).
		Suggest("use %s", strings.Join(names, ", "))
}

// Failure is an error as a model sees it, on one line. Other participants may have written the reason: a reason that could be
// read as a heading or a line of its own is put in quotation marks.
func Failure(err error) string {
	e := parley.AsError(err)
	text := e.Sentence()
	if frame, words, ok := parley.Frame("", text); ok && strings.ContainsAny(quote.Clean(words), "\n[]|\"") {
		text = frame.Text + strconv.Quote(oneLine(words))
	}
	if e.Suggestion != "" {
		text += " (" + e.Suggestion + ")"
	}
	return oneLine(text)
}

func oneLine(text string) string { return strings.ReplaceAll(quote.Clean(text), "\n", " ") }

// withArguments makes a call of a function with arguments of its own type. They are read strictly: a model that
// thinks that it said something must not find out later that nobody listened.
func withArguments[A any](call func(context.Context, Participant, A) (string, error)) func(context.Context, Participant, json.RawMessage) (string, error) {
	return func(ctx context.Context, p Participant, raw json.RawMessage) (string, error) {
		var args A
		if len(raw) == 0 {
			raw = json.RawMessage("{}")
		}
		if err := jsonv2.Unmarshal(raw, &args, jsonv2.RejectUnknownMembers(true)); err != nil {
			return "", parley.Errorf(parley.BadInput, "the arguments are wrong: %s", argumentError(err)).
				Suggest("see the tool's schema")
		}
		return call(ctx, p, args)
	}
}

// argumentError says what is wrong with arguments without the names of Go's types.
func argumentError(err error) string {
	if errors.Is(err, jsonv2.ErrUnknownName) {
		if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
			return "there is no " + quote.Inline(e.JSONPointer.LastToken())
		}
	}
	if e, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		return quote.Inline(e.JSONPointer.LastToken()) + " cannot be a " + e.JSONKind.String()
	}
	return quote.Clean(err.Error())
}

// require says that an argument is missing, or nil.
func require(name, value string) error {
	if strings.TrimSpace(value) == "" {
		return parley.Errorf(parley.BadInput, "%s is missing", name).Suggest("see the tool's schema")
	}
	return nil
}
