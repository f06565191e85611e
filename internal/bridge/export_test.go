package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

func departure(n int, channel string) parley.Departure {
	return parley.Departure{
		ID: fmt.Sprint(n), Name: fmt.Sprintf("msg-20260111-170000-claude-%04x", n), Channel: channel,
		Message: parley.Message{
			ID: "m", From: "claude", To: "codex", Type: parley.TypeChat, CreatedAt: time.Date(2026, 1, 11, 17, 0, 0, 0, time.UTC),
			Content: parley.Content{Text: "hello codex"},
		},
	}
}

func TestDeparturesAreWrittenAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		first, taken := departure(1, "paper"), departure(2, "paper")
		s.put("channels/paper/"+taken.Name+".json", "a script's own")
		lost := true
		s.hub.taken = func(parley.DepartureReport) error {
			if lost {
				lost = false
				return errors.New("the report is lost")
			}
			return nil
		}
		s.during(func() {
			s.hub.send(first, taken, departure(3, "elsewhere"))
			s.polls(3)
		})
		var states []string
		for _, r := range s.hub.reported() {
			states = append(states, r.ID+" "+string(r.State))
		}
		slices.Sort(states)
		s.is("reports", states, []string{"1 written", "2 failed"})
		if got := s.text("channels/paper/" + taken.Name + ".json"); got != "a script's own" {
			t.Errorf("it was overwritten: %s", got)
		}
		var out struct {
			ID      string `json:"id"`
			Session string `json:"session_id"`
		}
		s.must(json.Unmarshal([]byte(s.text("channels/paper/"+first.Name+".json")), &out))
		if out.ID != first.Name || out.Session != "paper" {
			t.Errorf("written: %+v", out)
		}
	})
}

// A file that was written and not reported is known again, though the same message would be told otherwise by now.
func TestAWrittenDepartureIsRecognised(t *testing.T) {
	for layout, name := range map[parley.Layout]string{
		parley.LayoutAgentOS: departure(1, "paper").Name, parley.LayoutBlackboard: "0191d7a0-0000-7000-8000-00000000abcd", parley.LayoutInbox: "msg_0000abcd",
	} {
		t.Run(string(layout), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, layout)
				first := departure(1, "")
				first.Name, first.Recipient, first.Message.From, first.Message.To, first.Sequence = name, "coder", "ana", "coder", 1
				if layout == parley.LayoutAgentOS {
					s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
					first.Channel, first.Recipient, first.Sequence = "paper", "", 0
				}
				again, other := first, first
				again.ID, again.FromTier, again.ToTier, again.ByRun, again.Wakes = "2", parley.TierPM, parley.TierWorker, true, true
				other.ID, other.Message.CreatedAt = "3", first.Message.CreatedAt.Add(time.Millisecond)
				s.during(func() {
					for _, d := range []parley.Departure{first, again, other} {
						s.hub.send(d)
						s.polls(2)
					}
				})
				var states []string
				for _, r := range s.hub.reported() {
					states = append(states, r.ID+" "+string(r.State))
				}
				s.is("reports", states, []string{"1 written", "2 written", "3 failed"})
			})
		})
	}
}

func TestUnwritableDeparturesStayDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.must(os.MkdirAll(s.at("channels/good"), 0o755))
		s.must(os.MkdirAll(s.at("channels/bad/"+departure(1, "bad").Name+".tmp/in the way"), 0o755))
		var stuck []parley.Departure
		for n := range 2 * batch {
			d := departure(n+1, "bad")
			d.Name = departure(1, "bad").Name
			stuck = append(stuck, d)
		}
		s.during(func() {
			s.hub.send(stuck...)
			s.hub.send(departure(900, "good"))
			s.polls(2)
			if got := s.hub.reported(); len(got) != 1 || got[0].ID != "900" || s.hub.noted().Trouble == "" {
				t.Errorf("reports: %+v, trouble: %q", got, s.hub.noted().Trouble)
			}
			s.must(os.RemoveAll(s.at("channels/bad/" + departure(1, "bad").Name + ".tmp")))
			s.polls(30)
			if got := s.hub.reported(); len(got) != 2*batch+1 || s.hub.noted().Trouble != "" {
				t.Errorf("%d reports, trouble: %q", len(got), s.hub.noted().Trouble)
			}
		})
	})
}
