package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/parley-hub/parley/internal/plain"
)

// bot is a Telegram bot. The hub calls it through the Bot API.
type bot struct {
	service *Service
	client  *http.Client
	base    string
	token   Secret
	people  map[int64]string // ids of people by the number of their private chat
}

func newBot(s *Service, client *http.Client, t Telegram) *bot {
	return &bot{
		service: s, client: client, base: t.URL, token: secretOf(t.TokenFile, t.TokenEnv), people: map[int64]string{},
	}
}

// apiError is a refusal by the Bot API.
type apiError struct {
	code        int
	description string
}

func (e *apiError) Error() string {
	return fmt.Sprintf("Telegram says %d: %s", e.code, plain.Line(e.description))
}

// call calls a method of the API and reads its result. No error contains the token.
func (b *bot) call(ctx context.Context, method string, arguments, result any) error {
	token, err := b.token.read()
	if err != nil {
		return shortError(err)
	}
	status, answer, err := post(ctx, b.client, b.base+"/bot"+token+"/"+method, mustMarshal(arguments), func(*http.Request) {})
	if err != nil {
		return err
	}
	var response struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return fmt.Errorf("the server does not answer like the Bot API, with status %d; check telegram.url", status)
	}
	if !response.OK {
		return &apiError{response.Code, response.Description}
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		return fmt.Errorf("cannot parse the result of %s of the Bot API", method)
	}
	return nil
}

// telegramChat sends notifications to the private chat of a person with a bot.
type telegramChat struct {
	*bot
	id int64
}

// telegramMessage is a message to send, or the new content of a sent message. It has no parse mode, so Telegram shows the
// text as it is.
type telegramMessage struct {
	Chat     int64          `json:"chat_id"`
	ID       int64          `json:"message_id,omitempty"`
	Text     string         `json:"text"`
	Preview  previewOptions `json:"link_preview_options"`
	Keyboard *keyboard      `json:"reply_markup,omitempty"`
}

type previewOptions struct {
	Disabled bool `json:"is_disabled"`
}

type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

const (
	approveData = "approve:"
	denyData    = "deny:"
)

func (c telegramChat) name() string { return "telegram:" + strconv.FormatInt(c.id, 10) }

func (c telegramChat) send(ctx context.Context, n notification) (string, error) {
	m := telegramMessage{Chat: c.id, Text: n.title + "\n\n" + n.text, Preview: previewOptions{true}}
	switch {
	case n.canDecideHere():
		m.Keyboard = &keyboard{[][]button{{
			{"Approve" + n.approvalLabel(), approveData + n.notice.Approval}, {"Deny" + n.approvalLabel(), denyData + n.notice.Approval},
		}}}
	case n.link != "":
		m.Text = n.title + "\n\n" + n.text + "\n\nThe message is cut. Read the full request and decide: " + n.link
	}
	var sent struct {
		ID int64 `json:"message_id"`
	}
	if err := c.call(ctx, "sendMessage", m, &sent); err != nil {
		return "", err
	}
	if n.about == nil {
		return "", nil
	}
	return strconv.FormatInt(sent.ID, 10), nil
}

// amend adds the decision to a sent message and removes its buttons. It ignores messages that are deleted or already
// amended.
func (c telegramChat) amend(ctx context.Context, receipt string, n notification) error {
	id, err := strconv.ParseInt(receipt, 10, 64)
	if err != nil {
		return nil //nolint:nilerr // not the number of a message
	}
	err = c.call(ctx, "editMessageText", telegramMessage{
		Chat: c.id, ID: id, Text: n.title + "\n\n" + n.text + "\n\n" + decisionText(*n.about), Preview: previewOptions{true},
	}, new(json.RawMessage))
	if refused, ok := errors.AsType[*apiError](err); ok && refused.code == http.StatusBadRequest {
		return nil
	}
	return err
}
