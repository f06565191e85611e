package reports

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Notify lets a person know something, in the DM of the hub and the person. The hub is the caller.
func Notify(u *unit.Unit, person string, text parley.Wording, payload json.RawMessage, key string) error {
	where, err := conversations.Direct(u, []string{person}, false)
	if err != nil {
		return err
	}
	_, err = messages.Speak(u, parley.Message{
		To: person, Conversation: where.ID, Type: parley.TypeNotification, Payload: payload, IdempotencyKey: key,
	}, text, parley.Reach{Agent: person})
	return err
}
