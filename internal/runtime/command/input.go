package command

import (
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/runtime/rundoc"
)

// encodeInput returns the input of a program, in the form that its preset names.
func encodeInput(kind Input, request parley.RunRequest, p parley.Prompt) (string, error) {
	switch kind {
	case InputMessage:
		return senderTexts(request.Triggers), nil
	case InputJSON:
		// The document has no reply: the program answers on stdout, and its token must be only in its environment.
		document, err := rundoc.Encode(request, p, nil)
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

// senderTexts returns the text and code of messages, the oldest first, separated by empty lines.
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

// newestTrigger returns the trigger to which the answer replies, or a zero message.
func newestTrigger(triggers []parley.Message) (m parley.Message) {
	if n := len(triggers); n > 0 {
		m = triggers[n-1]
	}
	return m
}
