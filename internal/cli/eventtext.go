package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
)

// runEventData is the data of an event about a run.
type runEventData struct {
	Run          string        `json:"run"`
	Number       int64         `json:"number"`
	Conversation string        `json:"conversation"`
	Runtime      string        `json:"runtime"`
	Text         string        `json:"text"`   // progress
	Cancel       string        `json:"cancel"` // why it was cancelled
	Failure      *parley.Error `json:"failure"`
}

func parseRunEvent(e parley.Event) (data runEventData) {
	_ = json.Unmarshal(e.Data, &data) // unknown data gives an empty value
	return data
}

// isMinor reports whether an event of this kind tells a person little that other events do not tell.
func isMinor(kind parley.EventKind) bool {
	switch kind {
	case parley.EventTokenCreated, parley.EventTokenRevoked, parley.EventAgentSummary, parley.EventCursorMoved,
		parley.EventSessionOpened, parley.EventSessionEnded,
		parley.EventRun(parley.RunStarting), parley.EventDelivery(parley.DeliveryDelivered):
		return true
	default:
		return false
	}
}

// eventInWords describes an event if its data alone would be hard to read.
func eventInWords(title func(conversation string) string, e parley.Event) (string, bool) {
	switch family, rest, _ := strings.Cut(string(e.Kind), "."); {
	case family == "run":
		return runInWords(e, rest, title), true
	case family == "delivery":
		return deliveryInWords(e, parley.DeliveryState(rest)), true
	case family == "loop":
		return loopInWords(e.Data, rest), true
	case family == "task":
		return taskInWords(e, rest), true
	case family == "note":
		return noteInWords(e, rest), true
	case family == "approval":
		return approvalInWords(e, rest), true
	case e.Kind == parley.EventAgentPresence:
		return presenceInWords(e), true
	case e.Kind == parley.EventAgentHealth:
		var h parley.Health
		_ = json.Unmarshal(e.Data, &h)
		return e.Agent + " is " + h.Health, h.Health != ""
	default:
		return "", false
	}
}

func runInWords(e parley.Event, step string, title func(string) string) string {
	data := parseRunEvent(e)
	if e.Kind == parley.EventRunProgress {
		return e.Agent + ": " + data.Text
	}
	words := e.Agent + " " + parley.Run{ID: data.Run, Number: data.Number}.ShortName()
	if data.Conversation != "" {
		words += " in " + title(data.Conversation)
	}
	if data.Failure != nil {
		words += ": " + data.Failure.Error()
	}
	if step == string(parley.RunCancelled) && data.Cancel != "" {
		words += ": " + data.Cancel
	}
	return words
}

func deliveryInWords(e parley.Event, state parley.DeliveryState) string {
	var data struct {
		Seq     int64         `json:"seq"`
		Failure *parley.Error `json:"failure"`
	}
	_ = json.Unmarshal(e.Data, &data)
	message := parley.Message{ID: e.Message, Seq: data.Seq}.ShortName()
	words := e.Agent + " has " + string(state) + " " + message
	switch {
	case state == parley.DeliveryAccepted:
		words = message + " is queued again for " + e.Agent
	case state == parley.DeliveryDelivered:
		words = message + " was delivered to " + e.Agent
	case state.Settled() && state != parley.DeliveryAcked && state != parley.DeliveryAnswered, state == parley.DeliveryDead:
		words = message + " to " + e.Agent + " is " + string(state)
	default:
		return words // an earlier failure does not matter now
	}
	if data.Failure != nil {
		words += ": " + data.Failure.Error()
	}
	return words
}

func noteInWords(e parley.Event, step string) string {
	var data struct{ Note string }
	_ = json.Unmarshal(e.Data, &data)
	if e.Conversation == "" {
		return data.Note + " of " + e.Agent + " was " + step
	}
	return data.Note + " by " + e.Agent + " was " + step
}

func loopInWords(data json.RawMessage, step string) string {
	var loop struct {
		Agents    []string `json:"agents"`
		Exchanges int      `json:"exchanges"`
	}
	_ = json.Unmarshal(data, &loop)
	pair := strings.Join(loop.Agents, " and ")
	if step == "opened" {
		return fmt.Sprintf("%s woke each other %d times in a row; the hub holds further wake-ups", pair, loop.Exchanges)
	}
	return pair + " may wake each other again"
}

func presenceInWords(e parley.Event) string {
	var now parley.Status
	_ = json.Unmarshal(e.Data, &now)
	words := e.Agent + " is " + cmp.Or(now.Status, "here")
	if now.Reason != "" {
		words += " (" + now.Reason + ")"
	}
	return words
}
