package llm

import (
	"context"
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// dialogue is the exchange of turns with a model in one run.
type dialogue interface {
	// next requests the next turn. The turn has the usage even if next returns an error. After an error the dialogue is
	// unchanged.
	next(ctx context.Context, l listener) (turn, error)
	// addResults adds the results of tool calls, for the next turn.
	addResults(outcomes []toolResult)
}

// listener has functions that a dialogue calls while a turn arrives.
type listener struct {
	accepted func() error      // called when the API has accepted the request; its error ends the turn
	text     func(text string) // called with each piece of text
}

// ending is why a turn has ended.
type ending int

const (
	done    ending = iota // the model has answered, or calls tools
	cutOff                // the turn reached the limit of tokens
	refused               // the model refused to answer
)

// turn is one answer of a model.
type turn struct {
	text    string
	calls   []toolCall
	ending  ending
	refusal string // the model's reason to refuse
	parley.Usage
}

// toolCall is a tool that the model wants to use.
type toolCall struct {
	id, name string
	args     json.RawMessage
}

// toolResult is the result of a tool call.
type toolResult struct {
	id     string
	text   string
	failed bool
}

// newDialogue makes a dialogue that begins with the prompt of a run.
func (r *Runtime) newDialogue(request parley.RunRequest, s settings, p Provider, key string) dialogue {
	offered := allowedTools(request)
	if p.Kind == Anthropic {
		return r.newAnthropicDialogue(request.Prompt, s, p, key, offered)
	}
	return r.newOpenAIDialogue(request.Prompt, s, p, key, offered)
}

// allowedTools returns the tools that a run may use.
func allowedTools(request parley.RunRequest) (list []tools.Tool) {
	allowed := map[string]bool{}
	for _, t := range request.Tools {
		allowed[t.Name] = true
	}
	for _, t := range tools.All() {
		if allowed[t.Name] {
			list = append(list, t)
		}
	}
	return list
}
