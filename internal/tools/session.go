package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

var sendToSession = Tool{
	Name:        "sessions_send",
	Title:       "Send To Session",
	Description: "Asks one live session of an agent, and no other, and waits for its answer. query_workspace list_sessions shows the keys.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"sessionKey":{"type":"string"},` +
		`"message":{"type":"string"}},` +
		`"required":["sessionKey","message"],"additionalProperties":false}`),
	Result: json.RawMessage(contactSchema),
	call: withArguments(func(ctx context.Context, p Participant, args sessionArgs) (Result, error) {
		c, err := args.contact()
		if err != nil {
			return Result{}, err
		}
		return makeContact(ctx, p, c)
	}),
}

type sessionArgs struct {
	Session string `json:"sessionKey"`
	Message string `json:"message"`
}

func (args sessionArgs) contact() (c parley.Contact, err error) {
	if err := require("sessionKey", args.Session); err != nil {
		return c, err
	}
	c = parley.Contact{Pattern: parley.PatternAsk, Session: args.Session, Message: args.Message}
	if agent, key, qualified := strings.Cut(args.Session, "/"); qualified {
		if c.Agent, c.Session = agent, key; agent == "" || key == "" {
			return c, parley.UnknownSession(args.Session)
		}
	}
	return c, require("message", args.Message)
}

// addressOf returns the key of a session with its agent. Another agent may choose the same key, but nobody else gets what is sent to this.
func addressOf(s parley.Session) string { return s.Agent + "/" + s.Key }

// sessionData is a live session in a list.
type sessionData struct {
	Key    string             `json:"key"` // with the agent
	Agent  string             `json:"agent"`
	Client string             `json:"client,omitempty"`
	Kind   parley.SessionKind `json:"kind"`
	Wake   parley.SessionWake `json:"wake"`
}

func listSessions(ctx context.Context, p Participant) (Result, error) {
	list, err := p.Workspace.Sessions(ctx)
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return itemsOf[sessionData]("No live sessions.\n", nil, 0), nil
	}
	shown := list[:min(len(list), maxRows)]
	var out strings.Builder
	items := make([]sessionData, 0, len(shown))
	for _, s := range shown {
		fmt.Fprintf(&out, "- %s: %s, %s, %s, woken by %s\n", quote.Word(s.Agent)+"/"+quote.Word(s.Key), participantName(p, s.Agent), quote.Inline(s.Client), s.Kind, s.Wake)
		items = append(items, sessionData{addressOf(s), s.Agent, s.Client, s.Kind, s.Wake})
	}
	if len(list) > len(shown) {
		fmt.Fprintf(&out, "(%d more)\n", len(list)-len(shown))
	}
	return itemsOf(out.String(), items, len(list)-len(shown)), nil
}
