package top

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// listed are the agents as the screen has them.
func listed(m *Model) (ids []string) {
	for _, a := range m.snapshot.Agents {
		ids = append(ids, a.ID)
	}
	return ids
}

func TestSorting(t *testing.T) {
	m := newModel(t, newFakeHub())
	for _, want := range []string{
		"arya gendry hodor user", // by status: people last
		"arya gendry hodor user", // by name
		"gendry arya hodor user", // by what waits
		"arya gendry hodor user", // by runs
		"arya gendry hodor user", // by cost
		"arya gendry hodor user", // by status again
	} {
		if got := strings.Join(listed(m), " "); got != want {
			t.Errorf("by %s it is %s, want %s", orders[m.order].name, got, want)
		}
		do(m, key("s"))
	}
}

func TestTheSelectionStaysWithItsAgent(t *testing.T) {
	m := newModel(t, newFakeHub())
	do(m, key("down"))
	if chosen, _ := m.selectedAgent(); chosen.ID != "gendry" {
		t.Fatalf("%s is selected", chosen.ID)
	}
	do(m, key("s"), key("s"))
	if chosen, _ := m.selectedAgent(); chosen.ID != "gendry" || m.position() != 0 {
		t.Errorf("%s is selected, at %d", chosen.ID, m.position())
	}
	do(m, key("up"), key("k"))
	if chosen, _ := m.selectedAgent(); chosen.ID != "gendry" {
		t.Errorf("above the first is %s", chosen.ID)
	}
	do(m, key("G"), key("j"))
	if chosen, _ := m.selectedAgent(); chosen.ID != "user" {
		t.Errorf("below the last is %s", chosen.ID)
	}
}

func TestPausingAndResuming(t *testing.T) {
	h := newFakeHub()
	m := newModel(t, h)
	do(m, key("p"))
	if got := screen(m); !strings.Contains(got, "arya is paused") {
		t.Errorf("it shows\n%s", got)
	}
	do(m, key("p"))
	if want := []string{"pause arya", "resume arya"}; !slices.Equal(h.commands, want) {
		t.Errorf("commands are %q, want %q", h.commands, want)
	}
	h.refused = parley.Errorf(parley.NotPermitted, "arya cannot command arya").Suggest("ask its manager")
	do(m, key("p"))
	if got := screen(m); !strings.Contains(got, "arya cannot command arya (ask its manager)") {
		t.Errorf("it shows\n%s", got)
	}
	if do(m, key("j")); strings.Contains(screen(m), "cannot command") {
		t.Error("what went wrong stays after the next key")
	}
}

func TestDetailsAreOpenedAndLeft(t *testing.T) {
	m := newModel(t, newFakeHub())
	do(m, key("enter"))
	if got := screen(m); !strings.Contains(got, "AryaBot") || !strings.Contains(got, "last hour 14 runs of 30") {
		t.Errorf("it shows\n%s", got)
	}
	do(m, key("j")) // nothing is selected behind it
	if do(m, key("esc")); m.detail != nil || m.position() != 0 {
		t.Error("it does not go back")
	}
	if _, cmd := m.Update(key("esc")); cmd == nil {
		t.Error("it does not leave")
	} else if _, quits := cmd().(tea.QuitMsg); !quits {
		t.Error("it does not leave")
	}
}

func TestSimultaneousEventsCauseOneRefresh(t *testing.T) {
	m := newModel(t, newFakeHub())
	waits := do(m, happened(parley.EventRun(parley.RunRunning), "arya", nil))
	waits = append(waits, do(m, happened(parley.EventRun(parley.RunSucceeded), "arya", nil))...)
	if !slices.Equal(waits, []tea.Msg{timerSoon}) {
		t.Errorf("it waits for %v", waits)
	}
	if more := do(m, happened(parley.EventRunProgress, "arya", map[string]string{"run": "r1", "text": "x"})); len(more) > 0 {
		t.Error("what a run says makes it look again")
	}
	if m.ended != 1 {
		t.Errorf("%d runs have ended", m.ended)
	}
}

func TestRates(t *testing.T) {
	var r rate
	if r.perSecond() != 0 {
		t.Error("nothing has a rate")
	}
	for second := range 60 {
		r.add(moment.Add(durationOf(second)), int64(5*second))
		if got := r.perSecond(); second > 0 && got != 5 {
			t.Fatalf("after %d seconds the rate is %v", second, got)
		}
	}
	if len(r.samples) > 13 {
		t.Errorf("%d samples are kept", len(r.samples))
	}
	if r.add(moment.Add(durationOf(61)), 3); r.perSecond() != 0 {
		t.Error("a hub that began anew has the rate of the one before")
	}
}
