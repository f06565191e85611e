package hub_test

import (
	"context"
	"runtime"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// asking is somebody who asks, and waits.
type asking struct {
	w       *fixture
	done    chan struct{}
	giveUp  context.CancelFunc
	made    parley.Contacted
	err     error
	request parley.Message // none if it was refused
	run     string         // that asks, if one does
}

// beginAsk has somebody ask, and returns once the question is stored, or refused.
func (w *fixture) beginAsk(c hub.Caller, to, words string) *asking {
	w.T.Helper()
	return w.beginContact(c, parley.Contact{Pattern: parley.PatternAsk, Agent: to, Message: words})
}

func (w *fixture) beginContact(c hub.Caller, contact parley.Contact) *asking {
	w.T.Helper()
	rung, bell := w.AgentsToCheck()
	rung()
	select {
	case <-bell:
	default:
	}
	a := w.startContact(c, contact)
	select {
	case <-bell:
		a.request = w.NewestMessage()
	case <-a.done:
	}
	return a
}

func (w *fixture) startContact(c hub.Caller, contact parley.Contact) *asking {
	a := &asking{w: w, done: make(chan struct{}), run: c.Run}
	var ctx context.Context
	ctx, a.giveUp = context.WithCancel(context.Background())
	go func() {
		defer close(a.done)
		a.made, a.err = w.Contact(ctx, c, contact)
	}()
	w.T.Cleanup(func() {
		a.giveUp()
		<-a.done
	})
	return a
}

// repeatAsk has somebody ask the same again.
func (w *fixture) repeatAsk(c hub.Caller, before *asking) *asking {
	w.T.Helper()
	return w.repeatContact(c, parley.Contact{Pattern: parley.PatternAsk, Agent: before.request.To, Message: "well?"}, before.request)
}

// repeatContact has somebody make a contact again, and returns once it waits, or has been told what came of it.
func (w *fixture) repeatContact(c hub.Caller, contact parley.Contact, request parley.Message) *asking {
	w.T.Helper()
	a := w.startContact(c, contact)
	a.request = request
	for w.askWait(request.ID).Node == "" {
		select {
		case <-a.done:
			return a
		default:
			runtime.Gosched()
		}
	}
	return a
}

// resultText is what the caller is told in the end: the text, or the error as doors show it.
func (a *asking) resultText() string {
	a.w.T.Helper()
	<-a.done
	if a.err != nil {
		said := parley.AsError(a.err)
		if a.made.Message != "" {
			same(a.w.T, "what the contact says in words", a.made.Text, said.Sentence())
		}
		return string(said.Code) + " " + said.Message
	}
	return a.made.Text
}

// assertWaiting requires that the caller has not been told anything yet.
func (a *asking) assertWaiting() {
	a.w.T.Helper()
	select {
	case <-a.done:
		a.w.T.Fatalf("it does not wait: %q, %v", a.made.Text, a.err)
	default:
	}
}

// askWait is the wait of an ask.
func (w *fixture) askWait(message string) (found parley.Wait) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		found, err = tx.Waits().Ask(message)
		return err
	}))
	return found
}

// openSessions has agents count as having a session, until they leave.
func (w *fixture) openSessions(agents ...string) (leave func()) {
	var leaves []func()
	for _, agent := range agents {
		leaves = append(leaves, w.Attend(agent))
	}
	return func() {
		for _, leave := range leaves {
			leave()
		}
	}
}

// askResultsTo is what the hub has brought to somebody, as texts.
func (w *fixture) askResultsTo(who string) (texts []string) {
	w.T.Helper()
	texts = []string{}
	for _, m := range w.HubMessagesTo(who) {
		if m.Source == "ask_result" {
			texts = append(texts, m.Content.Text)
		}
	}
	return texts
}
