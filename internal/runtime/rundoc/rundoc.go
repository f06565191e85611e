// Package rundoc describes one run as JSON, for programs that need more than a prompt. The document is the body of a call to a
// webhook, and the standard input of a command whose preset says `input: json`. docs/runtimes/webhook.md lists the keys.
package rundoc

import (
	"encoding/json"
	"time"

	"github.com/parley-hub/parley"
)

// document is the JSON document. Its keys must not change, because programs of users read them.
type document struct {
	Run          string           `json:"run"`
	Agent        string           `json:"agent"`
	Conversation string           `json:"conversation"`
	Attempt      int              `json:"attempt"`
	Deadline     time.Time        `json:"deadline"`
	Triggers     []parley.Message `json:"triggers"`
	Prompt       prompt           `json:"prompt"`
	Reply        *Reply           `json:"reply,omitempty"`
}

type prompt struct {
	System string `json:"system"`
	User   string `json:"user"`
}

// Reply lets a receiver answer later: by a POST to the URL, with the token.
type Reply struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// Encode returns the JSON document of a run with a prompt. The caller chooses between request.Prompt and the longer request.Fresh. If
// reply is nil, the document contains no credential.
func Encode(request parley.RunRequest, p parley.Prompt, reply *Reply) ([]byte, error) {
	return json.Marshal(document{
		Run: request.Run.ID, Agent: request.Agent.ID, Conversation: request.Run.Conversation, Attempt: request.Run.Attempt,
		Deadline: request.Run.Deadline, Triggers: request.Triggers, Prompt: prompt(p), Reply: reply,
	})
}
