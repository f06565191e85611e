package notify

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

const (
	botToken = "123456:ABC-canary"
	myChat   = 4711
)

// telegram is a Bot API as Telegram documents it, as far as it is used.
type telegram struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	updates []map[string]any
	changed chan struct{} // closed and replaced when there are more
	offsets []int64
	refuse  string        // description with which messages are refused
	calls   chan sentCall // those that people see
}

type sentCall struct {
	method string
	sentMessage
}

// sentMessage has the fields of what is sent, edited and answered, and no other: a parse mode would be one.
type sentMessage struct {
	Chat    int64  `json:"chat_id"`
	ID      int64  `json:"message_id"`
	Text    string `json:"text"`
	Preview struct {
		Disabled bool `json:"is_disabled"`
	} `json:"link_preview_options"`
	Keyboard struct {
		Rows [][]struct {
			Text string `json:"text"`
			Data string `json:"callback_data"`
		} `json:"inline_keyboard"`
	} `json:"reply_markup"`
	Query string `json:"callback_query_id"`
	Alert bool   `json:"show_alert"`
}

func newTelegram(t *testing.T) *telegram {
	t.Helper()
	f := &telegram{t: t, changed: make(chan struct{}), calls: make(chan sentCall, 100)}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *telegram) config(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("user:\n  - telegram: {token_file: %s, chat: %d, url: '%s/'}\n", secretFile(t, botToken), myChat, f.URL)
}

func (f *telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+botToken+"/")
	body, _ := io.ReadAll(r.Body)
	if !ok || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		f.t.Errorf("it is called with %s %s", r.Method, r.URL.Path)
	}
	var result any = true
	switch method {
	case "getUpdates":
		result = f.getUpdates(r, body)
	case "sendMessage", "editMessageText", "answerCallbackQuery":
		var m sentMessage
		strictly(f.t, body, &m)
		f.mu.Lock()
		refuse := f.refuse
		f.mu.Unlock()
		if refuse != "" {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":429,"description":%q,"parameters":{"retry_after":7}}`, refuse)
			return
		}
		f.calls <- sentCall{method, m}
		if method != "answerCallbackQuery" {
			result = map[string]any{"message_id": 100 + m.ID, "chat": map[string]any{"id": m.Chat, "type": "private"}, "text": m.Text}
		}
	default:
		f.t.Errorf("%s is not known", method)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
}

// getUpdates waits for updates with at least the number of the offset, and forgets those before.
func (f *telegram) getUpdates(r *http.Request, body []byte) []map[string]any {
	var ask struct {
		Offset  int64    `json:"offset"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}
	strictly(f.t, body, &ask)
	if ask.Timeout < 1 || len(ask.Allowed) != 1 || ask.Allowed[0] != "callback_query" {
		f.t.Errorf("it asks for %s", body)
	}
	for {
		f.mu.Lock()
		f.offsets = append(f.offsets, ask.Offset)
		for len(f.updates) > 0 && f.updates[0]["update_id"].(int64) < ask.Offset {
			f.updates = f.updates[1:]
		}
		left, changed := f.updates, f.changed
		f.mu.Unlock()
		if len(left) > 0 {
			return left
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return nil
		}
	}
}

// press presses a button.
func (f *telegram) press(update, from, chat int64, data string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.updates = append(f.updates, map[string]any{"update_id": update, "callback_query": map[string]any{
		"id": fmt.Sprint("query-", update), "from": map[string]any{"id": from, "is_bot": false, "first_name": "A"}, "chat_instance": "1",
		"message": map[string]any{"message_id": 100, "date": 1, "chat": map[string]any{"id": chat, "type": "private"}, "text": "…"}, "data": data,
	}})
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *telegram) setRefuse(description string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = description
}

// next is the next call that somebody sees.
func (f *telegram) next(method string) sentMessage {
	f.t.Helper()
	select {
	case call := <-f.calls:
		if call.method != method {
			f.t.Fatalf("%s came, and not %s: %+v", call.method, method, call.sentMessage)
		}
		return call.sentMessage
	case <-time.After(time.Minute):
		f.t.Fatalf("%s never came", method)
		return sentMessage{}
	}
}

func (f *telegram) quiet(what string) {
	f.t.Helper()
	select {
	case call := <-f.calls:
		f.t.Errorf("%s: %s was called: %+v", what, call.method, call.sentMessage)
	default:
	}
}

func TestTelegramButtonsDecide(t *testing.T) {
	for _, c := range []struct {
		button int
		state  parley.ApprovalState
		says   string
	}{{0, parley.ApprovalExecuted, "Approved by user."}, {1, parley.ApprovalDenied, "Denied by user."}} {
		t.Run(c.says, func(t *testing.T) {
			f := newTelegram(t)
			w := newNotifiedHub(t, f.config(t))
			w.startNotifier()
			a := w.postHeldMessage(hostile)
			sent := f.next("sendMessage")
			if sent.Chat != myChat || !sent.Preview.Disabled || !strings.HasPrefix(sent.Text, "arya needs your approval (approval-1)\n\narya wants to ") ||
				strings.ContainsAny(sent.Text, "\u202e\u202c\x1b") || !strings.Contains(sent.Text, "<b>bold</b> *bold* _it_ [text](http://evil.example)") {
				t.Errorf("it says %+v", sent)
			}
			buttons := sent.Keyboard.Rows[0]
			if len(sent.Keyboard.Rows) != 1 || len(buttons) != 2 || buttons[0].Text != "Approve approval-1" || buttons[1].Text != "Deny approval-1" || len(buttons[0].Data) > 64 {
				t.Fatalf("the buttons are %+v", sent.Keyboard)
			}
			f.press(70, myChat, myChat, buttons[c.button].Data)
			answers := map[string]sentMessage{} // in either order
			for range 2 {
				call := <-f.calls
				answers[call.method] = call.sentMessage
			}
			answered, edited := answers["answerCallbackQuery"], answers["editMessageText"]
			if answered.Query != "query-70" || answered.Text != c.says || answered.Alert {
				t.Errorf("the button is answered with %+v", answered)
			}
			if edited.Chat != myChat || edited.ID != 100 || edited.Text != sent.Text+"\n\n"+c.says || len(edited.Keyboard.Rows) != 0 {
				t.Errorf("the message becomes %+v", edited)
			}
			if now := w.ApprovalByID(a.ID); now.State != c.state || now.DecidedBy != "user" {
				t.Errorf("it is %s by %s", now.State, now.DecidedBy)
			}
			f.press(71, myChat, myChat, buttons[0].Data)
			if again := f.next("answerCallbackQuery"); !again.Alert || !strings.Contains(again.Text, "by user at") {
				t.Errorf("the second time: %+v", again)
			}
			w.notifier.Stop()
			if last := f.offsets[len(f.offsets)-1]; last != 71 && last != 72 {
				t.Errorf("the last offset is %d", last)
			}
		})
	}
}

// TestTelegramRefusesOtherChats: only the configured private chat decides.
func TestTelegramRefusesOtherChats(t *testing.T) {
	f := newTelegram(t)
	w := newNotifiedHub(t, f.config(t))
	a := w.postHeldMessage("hello")
	w.startNotifier()
	data := f.next("sendMessage").Keyboard.Rows[0][0].Data
	for i, c := range []struct {
		from, chat int64
		data       string
	}{
		{666, 666, data},
		{666, myChat, data},
		{myChat, -100, data},
		{myChat, myChat, "approve:" + strings.Repeat("x", 40)},
		{myChat, myChat, "destroy:" + a.ID},
		{myChat, myChat, ""},
	} {
		f.press(int64(10+i), c.from, c.chat, c.data)
		if got := f.next("answerCallbackQuery"); !got.Alert || got.Text == "" || len(got.Text) > 200 {
			t.Errorf("%v is answered with %+v", c, got)
		}
	}
	if now := w.ApprovalByID(a.ID); now.State != parley.ApprovalPending {
		t.Errorf("it is %s", now.State)
	}
}

// TestTelegramShowsDecisionsMadeElsewhere decides by the hub, across a restart, and more than once.
func TestTelegramShowsDecisionsMadeElsewhere(t *testing.T) {
	f := newTelegram(t)
	w := newNotifiedHub(t, f.config(t))
	a := w.postHeldMessage("hello")
	w.sendDue()
	sent := f.next("sendMessage")
	w.restart()
	w.sendDue()
	f.quiet("after a restart")
	w.DecideAs(parley.Owner, a.ID, parley.Decision{Note: "Not *now*"})
	w.restart()
	f.setRefuse("Too Many Requests: retry after 7")
	w.sendDue()
	f.setRefuse("")
	w.Clock.Advance(15 * time.Second)
	w.sendDue()
	if got := f.next("editMessageText"); got.ID != 100 || got.Text != sent.Text+"\n\nDenied by user. Not *now*" {
		t.Errorf("it becomes %+v", got)
	}
	w.Clock.Advance(time.Hour)
	w.sendDue()
	f.quiet("once it says so")
}

func TestTelegramTriesAgain(t *testing.T) {
	f := newTelegram(t)
	w := newNotifiedHub(t, f.config(t))
	f.setRefuse("Too Many Requests: retry after 7")
	w.postHeldMessage("hello")
	w.sendDue()
	f.quiet("refused")
	f.setRefuse("")
	w.Clock.Advance(15 * time.Second)
	w.sendDue()
	f.next("sendMessage")
	f.Close()
	w.postHeldMessage("there is nobody")
	for range 10 {
		w.sendDue()
		w.Clock.Advance(time.Hour)
	}
	if log := w.logged.String(); !strings.Contains(log, "the hub gives up") || strings.Contains(log, "canary") {
		t.Errorf("the log is %s", log)
	}
}

func TestTelegramShowsNoPartOfALongRequest(t *testing.T) {
	f := newTelegram(t)
	w := newNotifiedHub(t, f.config(t))
	w.postHeldMessage(strings.Repeat("long ", 2000))
	w.sendDue()
	sent := f.next("sendMessage")
	if len(sent.Text) > 4096 || len(sent.Keyboard.Rows) != 0 || !strings.Contains(sent.Text, "Read the full request and decide: "+w.server.URL+"/approve/") {
		t.Errorf("it says %d bytes, %+v", len(sent.Text), sent)
	}
}
