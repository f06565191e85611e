package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-hub/parley/internal/quote"
	"github.com/parley-hub/parley/internal/tools"
)

// promptText writes the text of a prompt from its arguments.
type promptText func(ctx context.Context, p tools.Participant, args map[string]string) (string, error)

var prompts = []struct {
	mcp.Prompt
	text promptText
}{
	{mcp.Prompt{
		Name: "standup", Title: "Standup", Description: "Reports what you have done, do and wait for, from your open tasks.",
		Arguments: []*mcp.PromptArgument{{Name: "channel", Description: "Where to post it: id or #name"}},
	}, standup},
	{mcp.Prompt{
		Name: "hand_over", Title: "Hand Over", Description: "Hands your work over to another agent, with all that it needs.",
		Arguments: []*mcp.PromptArgument{
			{Name: "agent", Description: "Who takes over", Required: true}, {Name: "task", Description: "A task, such as task-101; default: all your open tasks"},
		},
	}, handOver},
	{mcp.Prompt{
		Name: "review_request", Title: "Review Request", Description: "Asks another agent to review your work.",
		Arguments: []*mcp.PromptArgument{
			{Name: "agent", Description: "Who reviews", Required: true}, {Name: "subject", Description: "What to review", Required: true},
		},
	}, reviewRequest},
}

func addPrompts(s *mcp.Server) {
	for i := range prompts {
		one := &prompts[i] // the servers of all principals share it
		s.AddPrompt(&one.Prompt, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if err := checkArguments(one.Prompt, req.Params.Arguments); err != nil {
				return nil, err
			}
			text, err := one.text(ctx, callerOf(ctx).participant(nil), req.Params.Arguments)
			if err != nil {
				return nil, rpcError(err)
			}
			return &mcp.GetPromptResult{
				Description: one.Description,
				Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
			}, nil
		})
	}
}

// checkArguments refuses a missing argument, and one that the prompt does not have.
func checkArguments(p mcp.Prompt, args map[string]string) error {
	var names []string
	for _, a := range p.Arguments {
		names = append(names, a.Name)
		if a.Required && strings.TrimSpace(args[a.Name]) == "" {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt " + p.Name + " needs the argument " + a.Name}
		}
	}
	for name := range args {
		if !slices.Contains(names, name) {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt " + p.Name + " has no argument " + quote.Inline(name)}
		}
	}
	return nil
}

// openTasks returns the caller's open tasks as the tool lists them.
func openTasks(ctx context.Context, p tools.Participant) (string, error) {
	result, err := tools.Call(ctx, p, "query_workspace", json.RawMessage(`{"action":"list_tasks"}`))
	return result.Text, err
}

func standup(ctx context.Context, p tools.Participant, args map[string]string) (string, error) {
	tasks, err := openTasks(ctx, p)
	if err != nil {
		return "", err
	}
	where := "Show it to me."
	if channel := args["channel"]; channel != "" {
		where = "Post it with send_channel_message to the channel " + quote.Inline(channel) + "."
	}
	return fmt.Sprintf("Write your standup report: what you have done, what you do next, and what you wait for or what blocks you. "+
		"Use at most six lines. %s\n\nYour tasks:\n%s", where, tasks), nil
}

func handOver(ctx context.Context, p tools.Participant, args map[string]string) (string, error) {
	agent, err := tools.ShowAgent(ctx, p, args["agent"])
	if err != nil {
		return "", err
	}
	what, err := openTasks(ctx, p)
	if task := args["task"]; task != "" && err == nil {
		var shown tools.Result
		shown, err = tools.ShowTask(ctx, p, task)
		what = shown.Text
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Hand this work over to %s with contact_agent, action delegate. The other agent sees neither your conversation nor your files: "+
		"write into context what is done, what is left, where things are, and what you would do next.\n\nThe agent:\n%s\nThe work:\n%s",
		quote.Inline(args["agent"]), agent.Text, what), nil
}

func reviewRequest(ctx context.Context, p tools.Participant, args map[string]string) (string, error) {
	agent, err := tools.ShowAgent(ctx, p, args["agent"])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Request a review from %s with contact_agent, action delegate. Say what to review, where it is, what has changed and why, "+
		"what you are unsure of, and what you want back.\n\nThe agent:\n%s\nTo review:\n%s",
		quote.Inline(args["agent"]), agent.Text, quote.Block(args["subject"])), nil
}
