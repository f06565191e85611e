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

// bot is a bot of Telegram, called by its Bot API.
type bot struct {
	service *Service
	client  *http.Client
	base    string
	token   Secret
	people  map[int64]string // by their private chats
}

func newBot(s *Service, client *http.Client, t Telegram) *bot {
	return &bot{
		service: s, client: client, base: t.URL, token: secretOf(t.TokenFile, t.TokenEnv), people: map[int64]string{},
	}
}

// apiError is what Telegram says where it does not do what it is asked for.
type apiError struct {
	code        int
	description string
}

func (e *apiError) Error() string {
	return fmt.Sprintf("Telegram says %d: %s", e.code, plain.Line(e.description))
}

// call calls a method of the API and reads its result. No error has the token in it.
func (b *bot) call(ctx context.Context, method string, arguments, result any) error {
	token, err := b.token.read()
	if err != nil {
		return short(err)
	}
	status, answer, err := post(ctx, b.client, b.base+"/bot"+token+"/"+method, encoded(arguments), func(*http.Request) {})
	if err != nil {
		return err
	}
	var said struct {
		OK          bool            `json:"ok"`
		Result      json.RawMessage `json:"result"`
		Code        int             `json:"error_code"`
		Description string          `json:"description"`
	}
	if err := json.Unmarshal(answer, &said); err != nil {
		return fmt.Errorf("what answers with status %d is not the Bot API", status)
	}
	if !said.OK {
		return &apiError{said.Code, said.Description}
	}
	if err := json.Unmarshal(said.Result, result); err != nil {
		return fmt.Errorf("the Bot API answers %s with something else", method)
	}
	return nil
}

// chat tells a person in their private chat with a bot.
type chat struct {
	*bot
	id int64
}

// message is a message to send, or what one is changed to. It has no parse mode: its text is shown as it is.
type message struct {
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

func (c chat) name() string { return "telegram:" + strconv.FormatInt(c.id, 10) }

func (c chat) send(ctx context.Context, l letter) (string, error) {
	m := message{Chat: c.id, Text: l.title + "\n\n" + l.text, Preview: previewOptions{true}}
	switch {
	case l.asks():
		m.Keyboard = &keyboard{[][]button{{
			{"Approve" + l.name(), approveData + l.notice.Approval}, {"Deny" + l.name(), denyData + l.notice.Approval},
		}}}
	case l.link != "":
		m.Text = l.title + "\n\n" + l.text + "\n\nThere is more. Read all of it and decide: " + l.link
	}
	var sent struct {
		ID int64 `json:"message_id"`
	}
	if err := c.call(ctx, "sendMessage", m, &sent); err != nil {
		return "", err
	}
	if l.about == nil {
		return "", nil
	}
	return strconv.FormatInt(sent.ID, 10), nil
}

// amend has a message say what was decided, and takes its buttons away. One that is gone, or says it already, is left.
func (c chat) amend(ctx context.Context, receipt string, l letter) error {
	id, err := strconv.ParseInt(receipt, 10, 64)
	if err != nil {
		return nil //nolint:nilerr // it is no message of ours
	}
	err = c.call(ctx, "editMessageText", message{
		Chat: c.id, ID: id, Text: l.title + "\n\n" + l.text + "\n\n" + decision(*l.about), Preview: previewOptions{true},
	}, new(json.RawMessage))
	if refused, ok := errors.AsType[*apiError](err); ok && refused.code == http.StatusBadRequest {
		return nil
	}
	return err
}
