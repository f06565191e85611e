package notify

import (
	"context"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	pollSeconds  = 50
	pollTime     = pollSeconds*time.Second + 20*time.Second
	firstPause   = 5 * time.Second
	longestPause = 5 * time.Minute
)

// update is what has happened to a bot. Only buttons are asked for.
type update struct {
	ID       int64  `json:"update_id"`
	Callback *press `json:"callback_query"`
}

// press is a button that somebody has pressed.
type press struct {
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

// listen takes the answers of people until ctx is done. Telegram keeps what was not confirmed by the offset of the next
// call, so that a restart loses nothing; what comes twice finds its approval decided.
func (b *bot) listen(ctx context.Context) {
	var offset int64
	pause := firstPause
	for ctx.Err() == nil {
		updates, err := b.poll(ctx, offset)
		if err != nil {
			if pause == firstPause && ctx.Err() == nil {
				b.service.o.Log.Warn("answers from Telegram cannot be fetched, will try again", "error", err)
			}
			rest(ctx, pause)
			pause = min(2*pause, longestPause)
			continue
		}
		pause = firstPause
		for _, u := range updates {
			if u.Callback != nil {
				b.answer(ctx, *u.Callback)
			}
			offset = max(offset, u.ID+1)
		}
	}
}

func rest(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (b *bot) poll(ctx context.Context, offset int64) (list []update, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	err = b.call(ctx, "getUpdates", map[string]any{
		"offset": offset, "timeout": pollSeconds, "allowed_updates": []string{"callback_query"},
	}, &list)
	return list, err
}

// answer does what a button says, and tells whoever pressed it. What was sent changes once the hub has decided.
func (b *bot) answer(ctx context.Context, p press) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	said, failed := b.decide(ctx, p)
	said, _ = clip(said, 190) // Telegram takes 200 characters
	var shown bool
	if err := b.call(ctx, "answerCallbackQuery", map[string]any{
		"callback_query_id": p.ID, "text": said, "show_alert": failed,
	}, &shown); err != nil && ctx.Err() == nil {
		b.service.o.Log.Warn("an answer from Telegram could not be confirmed", "error", err)
	}
}

// decide takes a decision for the person whose private chat it comes from. The number of such a chat is that of the
// person in it.
func (b *bot) decide(ctx context.Context, p press) (said string, failed bool) {
	if p.Message == nil || p.Message.Chat.ID != p.From.ID || b.people[p.From.ID] == "" {
		return "This is not yours to decide.", true
	}
	approval, approve := strings.CutPrefix(p.Data, approveData)
	if !approve {
		var deny bool
		if approval, deny = strings.CutPrefix(p.Data, denyData); !deny {
			return "This button is not known here.", true
		}
	}
	a, err := b.service.hub.Decide(ctx, hub.Caller{
		Agent: b.people[p.From.ID], Source: "telegram", Scopes: parley.Scopes{parley.ScopeDecide},
	}, approval, parley.Decision{Approve: approve})
	if err != nil {
		return parley.AsError(err).Message, true
	}
	return decision(a), false
}
