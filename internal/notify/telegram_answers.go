package notify

import (
	"context"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	pollSeconds = 50
	pollTimeout = pollSeconds*time.Second + 20*time.Second
	firstPause  = 5 * time.Second
	maxPause    = 5 * time.Minute
)

// update is one event of a bot. The hub asks only for pressed buttons.
type update struct {
	ID       int64        `json:"update_id"`
	Callback *buttonPress `json:"callback_query"`
}

// buttonPress says which button was pressed, and in which chat.
type buttonPress struct {
	ID   string `json:"id"`
	From struct {
		ID int64 `json:"id"`
	} `json:"from"`
	Message *struct {
		Chat struct {
			ID int64 `json:"id"`
		} `json:"chat"`
	} `json:"message"`
	Data string `json:"data"`
}

// receiveAnswers polls for pressed buttons and handles them until ctx is done. Telegram keeps an update until the offset of a
// later call confirms it, so a restart loses nothing. If an update comes twice, its approval is already decided.
func (b *bot) receiveAnswers(ctx context.Context) {
	var offset int64
	pause := firstPause
	for ctx.Err() == nil {
		updates, err := b.poll(ctx, offset)
		if err != nil {
			if pause == firstPause && ctx.Err() == nil {
				b.service.o.Log.Warn("cannot poll Telegram for answers; retrying soon", "error", err, "retry_in", pause)
			}
			sleep(ctx, pause)
			pause = min(2*pause, maxPause)
			continue
		}
		pause = firstPause
		for _, u := range updates {
			if u.Callback != nil {
				b.handlePress(ctx, *u.Callback)
			}
			offset = max(offset, u.ID+1)
		}
	}
}

func sleep(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (b *bot) poll(ctx context.Context, offset int64) (list []update, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err = b.call(ctx, "getUpdates", map[string]any{
		"offset": offset, "timeout": pollSeconds, "allowed_updates": []string{"callback_query"},
	}, &list)
	return list, err
}

// handlePress takes the decision that a button stands for, and shows the outcome in the chat. The hub amends the sent message
// later.
func (b *bot) handlePress(ctx context.Context, p buttonPress) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	text, failed := b.decide(ctx, p)
	text, _ = shorten(text, 190) // Telegram takes 200 characters
	var shown bool
	if err := b.call(ctx, "answerCallbackQuery", map[string]any{
		"callback_query_id": p.ID, "text": text, "show_alert": failed,
	}, &shown); err != nil && ctx.Err() == nil {
		b.service.o.Log.Warn("cannot confirm an answer to Telegram", "error", err)
	}
}

// decide decides an approval for the person whose private chat the button is in. The number of a private chat equals the
// number of its user. It returns a text for the person, and whether the decision failed.
func (b *bot) decide(ctx context.Context, p buttonPress) (text string, failed bool) {
	if p.Message == nil || p.Message.Chat.ID != p.From.ID || b.people[p.From.ID] == "" {
		return "You cannot decide this.", true
	}
	approval, approve := strings.CutPrefix(p.Data, approveData)
	if !approve {
		var deny bool
		if approval, deny = strings.CutPrefix(p.Data, denyData); !deny {
			return "The hub does not know this button.", true
		}
	}
	a, err := b.service.hub.Decide(ctx, hub.Caller{
		Agent: b.people[p.From.ID], Source: "telegram", Scopes: parley.Scopes{parley.ScopeDecide},
	}, approval, parley.Decision{Approve: approve})
	if err != nil {
		return parley.AsError(err).Message, true
	}
	return decisionText(a), false
}
