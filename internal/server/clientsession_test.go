package server

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// TestASessionSurvivesARestartOfTheHub holds a session, with what it has taken, while its hub stops and starts again.
func TestASessionSurvivesARestartOfTheHub(t *testing.T) {
	onBothStores(t, func(t *testing.T, o Options) {
		s := start(t, o)
		owner, err := client.New(client.Options{Socket: s.about.Socket})
		check(t, err)
		defer owner.Close()
		for _, id := range []string{"arya", "ned"} {
			_, err := owner.AddAgent(t.Context(), parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: "attached"}})
			check(t, err)
		}
		made, err := owner.NewToken(t.Context(), parley.NewToken{Agent: "ned"})
		check(t, err)
		ned, err := client.New(client.Options{Socket: s.about.Socket, Token: made.Secret})
		check(t, err)
		defer ned.Close()

		session, err := ned.OpenSession(t.Context(), parley.NewSession{Key: "k", Client: "test 1", Kind: parley.SessionStdio})
		check(t, err)
		posted, err := owner.Post(t.Context(), parley.Draft{Direct: []string{"ned"}, Content: parley.Content{Text: "one"}})
		check(t, err)
		if taken, err := ned.Take(t.Context(), parley.Take{Session: "k", Seen: true}); err != nil || len(taken.Messages) != 1 {
			t.Fatalf("taken: %+v, %v", taken, err)
		}
		for sign := range signsOf(t, session) {
			if sign.Inbox.Waking == 1 {
				break
			}
		}
		stop(t, s)
		s = start(t, o)
		defer func() { stop(t, s) }()
		for sign := range signsOf(t, session) { // the first sign of the new connection
			if sign.Inbox.Waking == 1 {
				break
			}
		}
		list, err := ned.Sessions(t.Context())
		if err != nil || len(list) != 1 || list[0].Held != 1 || list[0].Client != "test 1" {
			t.Errorf("after the restart: %+v, %v", list, err)
		}
		if acked, err := ned.AckSession(t.Context(), "k", posted.Message.ShortName()); err != nil || acked[0].State != parley.DeliveryAcked {
			t.Errorf("acknowledged: %+v, %v", acked, err)
		}
		check(t, session.Close())
		if _, err := session.Next(t.Context()); parley.AsError(err).Reason != parley.Gone {
			t.Errorf("after Close: %v", err)
		}
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// signsOf returns the signs of a session. It fails the test at the first error.
func signsOf(t *testing.T, s *client.SessionStream) func(yield func(parley.SessionSign) bool) {
	t.Helper()
	return func(yield func(parley.SessionSign) bool) {
		for {
			sign, err := s.Next(t.Context())
			check(t, err)
			if !yield(sign) {
				return
			}
		}
	}
}

// TestAHubStartsWithADamagedListOfClients: it goes on without the list.
func TestAHubStartsWithADamagedListOfClients(t *testing.T) {
	o := options(t, nil)
	s := start(t, o)
	for _, list := range []string{
		"", "null", `{"agent":"ana"}`, `[{"pid":"1"}]`, `[{"pid":1e99}]`, `[{"pid":-1,"started":-1}, null]`, "[" + strings.Repeat("{},", 1<<20) + "{}]", "{",
	} {
		check(t, s.Home.SaveClientProcesses([]byte(list)))
		s.restoreClients()
		if found := s.clientProcesses(); len(found) > 0 {
			t.Errorf("%.40s: it takes %+v for clients", list, found)
		}
	}
	stop(t, s)
	stop(t, start(t, o))
}
