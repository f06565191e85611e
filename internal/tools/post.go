package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

var sendChannelMessage = Tool{
	Name:        "send_channel_message",
	Title:       "Send Channel Message",
	Description: "Posts a message in a channel or another conversation that you are in. Wakes only the agents that you mention as @id.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"channelId":{"type":"string","description":"Id or #name"},` +
		`"content":{"type":"string"}},` +
		`"required":["channelId","content"],"additionalProperties":false}`),
	Result: json.RawMessage(postSchema),
	call: withArguments(func(ctx context.Context, p Participant, args struct {
		Channel string `json:"channelId"`
		Content string `json:"content"`
	},
	) (Result, error) {
		if err := require("channelId", args.Channel); err != nil {
			return Result{}, err
		}
		return post(ctx, p, parley.Draft{Conversation: args.Channel, Content: parley.Content{Text: args.Content}})
	}),
}

var replyTo = Tool{
	Name:  "reply",
	Title: "Reply",
	Description: "Answers a message in its conversation. If the hub runs you, do not use it for the messages that woke you: " +
		"the hub posts your final text as the answer to them. If you took the message with check_inbox, only reply answers it.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"message":{"type":"string","description":"The message, like m1234"},` +
		`"content":{"type":"string"}},` +
		`"required":["message","content"],"additionalProperties":false}`),
	Result: json.RawMessage(postSchema),
	call: withArguments(func(ctx context.Context, p Participant, args struct {
		Message string `json:"message"`
		Content string `json:"content"`
	},
	) (Result, error) {
		if err := require("message", args.Message); err != nil {
			return Result{}, err
		}
		result, err := post(ctx, p, parley.Draft{InReplyTo: args.Message, Content: parley.Content{Text: args.Content}})
		return withOpenTask(p, result), err
	}),
}

// withOpenTask adds to the result of a reply which task goes on. The reply of an agent that polls to the request of its task is progress.
func withOpenTask(p Participant, result Result) Result {
	data, ok := result.Data.(postData)
	if !ok || data.Task == "" || p.InRun {
		return result
	}
	result.Text += quote.Word(data.Task) + " is open: end it with update_task.\n"
	return result
}

// postData is the structured result of posting a message.
type postData struct {
	Message      string   `json:"message"`
	Conversation string   `json:"conversation"`
	Task         string   `json:"task,omitempty"` // the task on which the message reports
	Duplicate    bool     `json:"duplicate,omitempty"`
	Notices      []string `json:"notices,omitempty"`
}

// postSchema is the schema of postData.
const postSchema = `{"type":"object","properties":{"message":{"type":"string"},"conversation":{"type":"string"},"task":{"type":"string"},"duplicate":{"type":"boolean"},` +
	`"notices":{"type":"array","items":{"type":"string"}},"approval":{"type":"string"}}}`

// post posts a draft, and returns the message and its notices as text.
func post(ctx context.Context, p Participant, d parley.Draft) (Result, error) {
	if err := require("content", d.Content.Text); err != nil {
		return Result{}, err
	}
	receipt, err := p.Workspace.Post(ctx, d)
	if err != nil {
		return Result{}, err
	}
	data := postData{receipt.Message.ShortName(), receipt.Message.Conversation, receipt.Message.Task, receipt.Duplicate, noticesFor(receipt.Notices)}
	var out strings.Builder
	fmt.Fprintf(&out, "Posted as message %s in conversation %s.\n", quote.Word(data.Message), quote.Word(data.Conversation))
	if receipt.Duplicate {
		out.WriteString("The message was posted before; it was not posted again.\n")
	}
	for _, notice := range data.Notices {
		out.WriteString("Note: " + notice + "\n")
	}
	return Result{out.String(), data}, nil
}
