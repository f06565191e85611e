package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// changing is what is expected of each operation that changes something and that agents may call: whether it contacts
// somebody, so that a rule can refuse it, and whether the agent of the example is refused anyway. What a mode holds is
// in the hub's table.
var changing = map[string]struct{ contacts, refused bool }{
	"post-message": {contacts: true}, "contact": {contacts: true}, "make-task": {contacts: true},
	"retry-task": {contacts: true}, "reassign-task": {contacts: true}, "cancel-task": {}, "update-task": {},

	"make-conversation": {contacts: true}, "add-member": {contacts: true},
	"change-conversation": {}, "join": {}, "leave": {}, "remove-member": {}, "mark-read": {},

	"remember": {}, "forget": {},

	"take": {}, "ack": {}, "mark-shown": {}, "nack": {}, "extend": {}, "see": {}, "settle": {},
	"sleep": {}, "wake": {}, "report-health": {}, "open-session": {}, "cancel-run": {}, "store-artifact": {}, "revoke-token": {},

	"request-tool-use": {},

	"command": {refused: true}, "resume-pair": {refused: true}, "decide-approval": {refused: true},
}

// forOthers are operations that agents may not call.
var forOthers = []hub.Callers{hub.Owner, hub.LocalOwner, hub.People, hub.SessionOnly}

// TestModesRulesAndOperations is the matrix of modes and rules: every operation that changes anything, in the three modes
// of an agent, with and without a rule that denies it everybody. An operation that is added fails here until
// somebody says what is expected of it.
func TestModesRulesAndOperations(t *testing.T) {
	table := hub.Operations()
	s := newStory(t)
	n := 0
	for _, op := range httpapi.Routes() {
		if op.Hidden || !table[op.ID].Changes {
			continue
		}
		expected, known := changing[op.ID]
		if closed := slices.Contains(forOthers, op.Who); closed {
			expected.refused = true
		} else if !known {
			t.Errorf("%s: nobody has said what is expected of it", op.ID)
			continue
		}
		for _, mode := range []parley.Mode{parley.ModeAutonomous, parley.ModeSupervised, parley.ModeStrict} {
			for _, denied := range []bool{false, true} {
				n++
				t.Run(fmt.Sprintf("%s/%s/denied=%t", op.ID, mode, denied), func(t *testing.T) {
					s.t, s.servedHub.T = t, t
					want := http.StatusOK
					switch {
					case expected.refused, denied && expected.contacts:
						want = http.StatusForbidden
					case mode != parley.ModeAutonomous && table[op.ID].Held == hub.HeldSupervised:
						want = http.StatusAccepted
					}
					if got := s.inMode(op, mode, denied, fmt.Sprintf("cell-%d", n)); got.status != want && (want != http.StatusOK || got.status >= 300 || got.status == http.StatusAccepted) {
						t.Errorf("status %d, want %d: %s", got.status, want, got.body)
					}
				})
			}
		}
	}
	for id := range changing {
		if !table[id].Changes {
			t.Errorf("%s is expected here, and changes nothing", id)
		}
	}
}

// inMode calls an operation as arya, in a mode, with or without a rule that denies it everybody.
func (s *story) inMode(op httpapi.Operation, mode parley.Mode, denied bool, name string) reply {
	s.t.Helper()
	arya := principal{"arya", "arya", parley.AllScopes(), "token"}
	st := s.example(op, arya, name)
	switch op.ID { // examples that say what the matrix is about: a contact, and a task of arya's
	case "post-message":
		st.body = `{"direct":["gendry"],"content":{"text":"hello"}}`
	case "make-conversation":
		st.body = `{"name":"` + name + `","with":["gendry"]}`
	case "remove-member":
		st.vars["conversation"] = s.ownRoom(name, st.vars["agent"])
	case "cancel-task", "retry-task", "reassign-task":
		view, err := s.NewTask(ctx, hub.Caller{Agent: "arya"}, parley.NewTask{Text: name, Assignee: "gendry"})
		s.NoError(err)
		if st.vars = in("task", view.ID); op.ID == "retry-task" {
			_, err := s.CancelTask(ctx, user, view.ID, "")
			s.NoError(err)
		}
		if op.ID == "reassign-task" {
			st.body = `{"assignee":"hound"}`
		}
	case "command":
		st.vars = in("agent", "gendry") // whose manager arya is not
	}
	if denied {
		_, err := s.Permit(ctx, user, parley.Permission{Agent: "arya", Target: parley.Anyone, Effect: parley.EffectDeny})
		s.NoError(err)
		defer func() { s.NoError(s.Unpermit(ctx, user, "arya", parley.Anyone, parley.EffectDeny)) }()
	}
	s.setMode("arya", mode)
	defer s.setMode("arya", parley.ModeAutonomous)
	return s.asPrincipal(arya, s.request(st))
}

// ownRoom is a channel that arya has made, with somebody in it.
func (s *story) ownRoom(name, member string) string {
	s.t.Helper()
	view, err := s.CreateConversation(ctx, hub.Caller{Agent: "arya"}, parley.NewConversation{Name: name + "-room", With: []string{member}})
	s.NoError(err)
	return view.ID
}
