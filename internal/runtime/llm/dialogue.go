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

// listener gets a turn while it arrives.
type listener struct {
	begun func() error // the API has accepted the request
	said  func(text string)
}

// ending is why a turn has ended.
type ending int

const (
	done    ending = iota // the model has answered, or calls tools
	length                // it was cut off
	refused               // the model refused to answer
)

// turn is one answer of a model.
type turn struct {
	text   string
	calls  []toolCall
	ending ending
	why    string // of a refusal
	parley.Usage
}

// toolCall is a tool that the model wants to use.
type toolCall struct {
	id, name string
	args     json.RawMessage
}

// toolResult is what a call came to.
type toolResult struct {
	id     string
	text   string
	failed bool
}

// start makes a talk with what a run is told.
func (r *Runtime) start(job parley.Job, s settings, p Provider, key string) dialogue {
	offered := offeredTo(job)
	if p.Kind == Anthropic {
		return r.startAnthropic(job.Prompt, s, p, key, offered)
	}
	return r.startOpenAI(job.Prompt, s, p, key, offered)
}

// offeredTo are the tools that a run may use.
func offeredTo(job parley.Job) (offered []tools.Tool) {
	may := map[string]bool{}
	for _, t := range job.Tools {
		may[t.Name] = true
	}
	for _, t := range tools.All() {
		if may[t.Name] {
			offered = append(offered, t)
		}
	}
	return offered
}
