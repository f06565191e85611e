package hub_test

import (
	"context"
	"runtime"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// asking is a contact that a test makes in the background, and that may wait for its outcome.
type asking struct {
	w       *fixture
	done    chan struct{}
	giveUp  context.CancelFunc
	made    parley.Contacted
	err     error
	request parley.Message // empty if the hub refused the contact
	run     string         // id of the run that makes the contact, or empty
}

// beginAsk makes an ask in the background. It returns once the hub has stored or refused the question.
func (w *fixture) beginAsk(c hub.Caller, to, words string) *asking {
	w.T.Helper()
	return w.beginContact(c, parley.Contact{Pattern: parley.PatternAsk, Agent: to, Message: words})
}

func (w *fixture) beginContact(c hub.Caller, contact parley.Contact) *asking {
	w.T.Helper()
	takeAgents, agentsToCheck := w.AgentsToCheck()
	takeAgents()
	select {
	case <-agentsToCheck:
	default:
	}
	a := w.startContact(c, contact)
	select {
	case <-agentsToCheck:
		a.request = w.NewestMessage()
	case <-a.done:
		select { // a short ask may have ended by now
		case <-agentsToCheck:
			a.request = w.NewestMessage()
		default:
		}
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

// repeatAsk makes the same ask again.
func (w *fixture) repeatAsk(c hub.Caller, before *asking) *asking {
	w.T.Helper()
	return w.repeatContact(c, parley.Contact{Pattern: parley.PatternAsk, Agent: before.request.To, Message: "well?"}, before.request)
}

// repeatContact makes a contact again. It returns once the call waits or has ended.
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

// resultText waits for the end of the call. It returns the text of the result, or the code and message of the error.
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

// assertWaiting requires that the call has not returned yet.
func (a *asking) assertWaiting() {
	a.w.T.Helper()
	select {
	case <-a.done:
		a.w.T.Fatalf("it does not wait: %q, %v", a.made.Text, a.err)
	default:
	}
}

// askWait reads the wait of an ask from the store.
func (w *fixture) askWait(message string) (found parley.Wait) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		found, err = tx.Waits().Ask(message)
		return err
	}))
	return found
}

// openSessions opens a session for each agent. Call leave to end the sessions.
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

// askResultsTo returns the texts of the callbacks with late answers to a participant.
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
