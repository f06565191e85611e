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
		`"conversation":{"type":"string","description":"Id or #name"},` +
		`"before":{"type":"integer","description":"Shows only messages before this position, which an earlier result names"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":100,"description":"Default 20"}},` +
		`"required":["conversation"],"additionalProperties":false}`),
	call: withArguments(read),
}

type readArgs struct {
	Conversation string `json:"conversation"`
	Before       int64  `json:"before"`
	Limit        int    `json:"limit"`
}

func read(ctx context.Context, p Participant, args readArgs) (string, error) {
	if err := require("conversation", args.Conversation); err != nil {
		return "", err
	}
	limit := args.Limit
	if limit == 0 {
		limit = defaultMessages
	}
	if limit < 1 || limit > maxMessages || args.Before < 0 {
		return "", parley.Errorf(parley.BadInput, "limit is %d, before is %d", args.Limit, args.Before).
			Suggest("use a limit of 1 to %d, and a before that an earlier result names", maxMessages)
	}
	messages, err := p.Workspace.Read(ctx, args.Conversation, args.Before, limit)
	if err != nil {
		return "", err
	}
	if len(messages) == 0 {
		return "No messages.\n", nil
	}
	shown, left, err := quoteNewest(ctx, p, messages)
	if err != nil {
		return "", err
	}
	if left > 0 || len(messages) == limit {
		shown += fmt.Sprintf("For older messages, use before %d\n", messages[left].Seq)
	}
	return shown, nil
}

// quoteNewest quotes as many of the newest messages as fit into one result, and returns how many of the oldest it left out. It always
// quotes the newest, shortened if it is too long.
func quoteNewest(ctx context.Context, p Participant, messages []parley.Message) (text string, left int, err error) {
	v, err := participantsIn(ctx, p, messages)
	if err != nil {
		return "", 0, err
	}
	shown, left := v.Fit(messages, maxBytes)
	if len(shown) == 0 {
		left = len(messages) - 1
		shown = []string{v.ShortMessage(messages[left], maxBytes)}
	}
	return strings.Join(shown, ""), left, nil
}

// participantsIn returns the senders and recipients of messages.
func participantsIn(ctx context.Context, p Participant, messages []parley.Message) (quote.Participants, error) {
	var ids []string
	for _, m := range messages {
		for _, id := range []string{m.From, m.To} {
			if id != "" && id != parley.All && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	v := quote.Participants{Self: p.ID, Known: map[string]quote.Person{}}
	named, err := p.Workspace.Named(ctx, ids...)
	for _, a := range named {
		v.Known[a.ID] = quote.Person{Name: a.Name, Kind: a.Kind}
	}
	return v, err
}

var checkInbox = Tool{
	Name:        "check_inbox",
	Title:       "Check Inbox",
	Description: "Lists your pending messages without taking them (peek), or puts you to sleep until a time (sleep_until).",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"peek":{"type":"boolean"},` +
		`"sleep_until":{"type":"string","format":"date-time"}},` +
		`"additionalProperties":false}`),
	call: withArguments(inbox),
}

type inboxArgs struct {
	Peek       bool      `json:"peek"`
	SleepUntil time.Time `json:"sleep_until"`
}

func inbox(ctx context.Context, p Participant, args inboxArgs) (string, error) {
	if !args.Peek && args.SleepUntil.IsZero() {
		return "", parley.Errorf(parley.BadInput, "the call has neither peek nor sleep_until").Suggest("set peek to true, or sleep_until to a time")
	}
	text := ""
	if args.Peek {
		var err error
		if text, err = peek(ctx, p); err != nil {
			return "", err
		}
	}
	if args.SleepUntil.IsZero() {
		return text, nil
	}
	if err := p.Workspace.Sleep(ctx, args.SleepUntil); err != nil {
		return "", err
	}
	return text + "You sleep until " + quote.Time(args.SleepUntil) + ", after this turn.\n", nil
}

// peek counts the pending messages of the caller and quotes the first of them. It takes none.
func peek(ctx context.Context, p Participant) (string, error) {
	waiting, err := p.Workspace.Peek(ctx, defaultMessages)
	if err != nil {
		return "", err
	}
	count := fmt.Sprintf("%d to answer, %d to know.\n", waiting.Waking, waiting.Quiet)
	if len(waiting.Messages) == 0 {
		return count, nil
	}
	messages := slices.Clone(waiting.Messages)
	slices.Reverse(messages) // the agent gets the oldest first, so the newest are left out
	shown, left, err := quoteNewest(ctx, p, messages)
	if err != nil || left == 0 {
		return count + shown, err
	}
	return count + shown + fmt.Sprintf("(%d more)\n", left), nil
}
