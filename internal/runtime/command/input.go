package command

import (
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/rundoc"
)

// encodeInput is what a program is given to read.
func encodeInput(kind Input, job parley.Job, p parley.Prompt) (string, error) {
	switch kind {
	case InputMessage:
		return senderTexts(job.Triggers), nil
	case InputJSON:
		// No reply: the program answers on stdout, and its token is for its own environment alone.
		document, err := rundoc.Encode(job, p, nil)
		return string(document) + "\n", err
	default:
		return join(p), nil
	}
}

func join(p parley.Prompt) string {
	if p.System == "" {
		return p.User
	}
	return p.System + "\n\n" + p.User
}

// senderTexts is what the senders of messages wrote, text and code, the oldest first, divided by empty lines.
func senderTexts(messages []parley.Message) string {
	var parts []string
	for _, m := range messages {
		for _, part := range []string{m.Unheaded(), m.Content.Code} {
			if part != "" {
				parts = append(parts, part)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

// newestTrigger is the trigger that the answer replies to.
func newestTrigger(triggers []parley.Message) (m parley.Message) {
	if n := len(triggers); n > 0 {
		m = triggers[n-1]
	}
	return m
}
