// Package tools defines the tools by which models use the hub. The MCP server and the runs of the hub offer the same table. The
// definitions are fixed texts and contain nothing that a participant wrote. The results quote participants as prompts do.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

// Participant is the caller of a tool, with its view of the hub.
type Participant struct {
	ID        string
	Workspace parley.Workspace

	// Session is the key of the participant's live session, to which the hub leases what check_inbox takes; empty: it has none.
	Session string
	// Takes are the takes of the session, so that a call gets what an earlier one took and could not show.
	Takes *Takes
	// InRun says that a run of the hub calls. Messages that come meanwhile start the next run, so a run takes none.
	InRun bool
	// MaxWait is the longest that one call waits, because its client gives up on longer ones; 0: as long as the hub allows. A call
	// that would wait longer returns a ticket.
	MaxWait time.Duration
	// Waits is called once when a call begins to wait, with what it waits for in words. It may be nil.
	Waits func(text string)
}

// Tool is one tool with the definition that a model reads.
type Tool struct {
	Name        string
	Title       string
	Description string
	Schema      json.RawMessage // of its arguments
	Result      json.RawMessage // the schema of the structured result
	Reads       bool            // the tool changes nothing

	call func(context.Context, Participant, json.RawMessage) (Result, error)
}

// Result is the result of a tool: a text for the model, and the same as a value that the tool's schema describes.
type Result struct {
	Text string
	Data any
}

// heldResult is the result of a call that needs an approval. Its first line is the same everywhere.
func heldResult(p Participant, held *parley.Held) Result {
	name := held.Approval.ShortName()
	outcome := "its outcome comes to your inbox"
	if p.InRun {
		outcome = "its outcome wakes you"
	}
	text := fmt.Sprintf("%s\nThe call has not been made: it waits for %s, and %s.\n", held.Error(), quote.Word(name), outcome)
	return Result{text, heldData{outcomeHeld, name}}
}

// outcomeHeld is the outcome of a call that needs an approval.
const outcomeHeld = "held"

// heldData is the structured result of a call that needs an approval.
type heldData struct {
	Outcome  string `json:"outcome"`
	Approval string `json:"approval"`
}

// All returns the tools in the order in which models see them.
func All() []Tool {
	return []Tool{
		contactAgent, sendChannelMessage, readConversation, checkInbox, replyTo, queryWorkspace, updateTask, decideApproval, useMemory, sendToSession,
	}
}

// Docs returns the names and descriptions of the tools, for a prompt.
func Docs() []parley.ToolDoc {
	var docs []parley.ToolDoc
	for _, t := range All() {
		docs = append(docs, parley.ToolDoc{Name: t.Name, Description: t.Description})
	}
	return docs
}

// Commands returns the commands that a prompt lists for agents that are programs with a shell. The program runs parley, which acts as
// the agent by the token of its run.
func Commands() []parley.ToolDoc {
	return []parley.ToolDoc{
		{Name: `parley chat --conv CHANNEL "text"`, Description: "Post to a channel; @name wakes that agent."},
		{Name: `parley send AGENT "text"`, Description: "Write to one participant."},
		{Name: `parley ask AGENT "question" --context "…"`, Description: "Ask another agent, and wait for its answer."},
		{Name: `parley delegate AGENT "work" --context "…"`, Description: "Hand over work. The hub brings you the result in a new turn."},
		{Name: `parley notify AGENT "text"`, Description: "Inform another agent without waking it."},
		{Name: `parley task progress TASK "text" --fraction 0.5`, Description: "Report the progress of your task."},
		{Name: `parley task complete TASK "result"`, Description: "End your task. Without it, your final text is its result."},
		{Name: "parley conv read CHANNEL", Description: "Read a conversation."},
		{Name: `parley memory add "text"`, Description: "Write a note to yourself that survives the conversation; with --conv CHANNEL for all who read the channel."},
		{Name: "parley memory list WORDS", Description: "Find your notes, or with --conv CHANNEL those of a channel."},
		{Name: "parley search WORDS", Description: "Search what you may read."},
		{Name: "parley who", Description: "List agents and people, and what they are doing."},
	}
}

// Call calls a tool and returns its result. It returns E003 if no tool has the name or the arguments are wrong, and otherwise the
// errors of the hub. A call that needs an approval is no error: the result says that it waits. Failure turns an error into text for
// the model.
func Call(ctx context.Context, p Participant, name string, args json.RawMessage) (Result, error) {
	var names []string
	for _, t := range All() {
		if t.Name == name {
			result, err := t.call(ctx, p, args)
			if held, ok := errors.AsType[*parley.Held](err); ok {
				return heldResult(p, held), nil
			}
			return result, err
		}
		names = append(names, t.Name)
	}
	return Result{}, parley.Errorf(parley.BadInput, "there is no tool %s", quote.Inline(name)).
		Suggest("use %s", strings.Join(names, ", "))
}

// Failure returns an error as one line for a model. Another participant may have written the reason in it. Failure quotes a reason
// that the model could take for a heading or a separate line.
func Failure(err error) string {
	e := parley.AsError(err)
	text := e.Sentence()
	if frame, words, ok := parley.Frame("", text); ok && strings.ContainsAny(quote.Clean(words), "\n[]|\"") {
		text = frame.Text + strconv.Quote(oneLine(words))
	}
	if e.Suggestion != "" {
		text += " (" + Suggestion(e.Suggestion) + ")"
	}
	return oneLine(text)
}

func oneLine(text string) string { return strings.ReplaceAll(quote.Clean(text), "\n", " ") }
