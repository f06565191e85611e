package cli

import (
	"errors"
	"os"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/chat"
)

func TestAHubIsUnreachable(t *testing.T) {
	cause := errors.New("connection refused")
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{parley.Errorf(parley.Unavailable, "the hub is not running").From(cause), true},
		{parley.Errorf(parley.TimedOut, "the hub did not answer in time").From(cause), true},
		{parley.Errorf(parley.Unavailable, "the inbox is full"), false}, // the hub says so
		{parley.Errorf(parley.NotPermitted, "the hub belongs to another user").From(cause), false},
	} {
		got := markUnreachable(test.err)
		if errors.Is(got, chat.ErrUnreachable) != test.want || parley.CodeOf(got) != parley.CodeOf(test.err) {
			t.Errorf("markUnreachable(%v) = %v", test.err, got)
		}
	}
}

func TestAChatReportsTheMessagesItHasShown(t *testing.T) {
	hub := newFakeHub(t, map[string]string{"POST /v1/inbox/shown": `{"items":[]}`})
	c, err := client.New(client.Options{URL: os.Getenv("PARLEY_URL"), Token: "parley_test"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	shown := &chatConversation{client: c, me: parley.Agent{ID: "user", Kind: parley.KindHuman}, id: "conversation", joined: true}
	if err := shown.MarkShown(t.Context(), []parley.Message{{ID: "m1", From: "arya"}, {ID: "m2", From: "user"}, {ID: "m3", From: "arya"}}); err != nil {
		t.Fatal(err)
	}
	if len(hub.asked) != 1 || hub.last() != `POST /v1/inbox/shown {"messages":["m1","m3"]}` { // and its cursor passes nothing else
		t.Errorf("the hub was asked %q", hub.asked)
	}
}
