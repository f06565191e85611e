package parley

import "testing"

func TestAlertsOfOneNameAreOneGroup(t *testing.T) {
	t.Parallel()
	groups := GroupAlerts([]Alert{
		{Name: "depth", Agent: "arya", Message: "the inbox of arya has 81 of 100 messages", Severity: 0.81},
		{Name: "depth", Agent: "gendry", Message: "the inbox of gendry has 99 of 100 messages", Severity: 0.99},
		{Name: "disk", Message: "the disk is nearly full"},
		{Name: "depth", Agent: "sansa", Message: "the inbox of sansa has 85 of 100 messages", Severity: 0.85},
	})
	if len(groups) != 2 || groups[0].Count != 3 || groups[1].Count != 1 {
		t.Fatalf("%+v", groups)
	}
	if want := "3 inboxes are filling up; the worst: the inbox of gendry has 99 of 100 messages"; groups[0].Message != want {
		t.Errorf("%q, want %q", groups[0].Message, want)
	}
	if want := "the disk is nearly full"; groups[1].Message != want {
		t.Errorf("%q, want %q", groups[1].Message, want)
	}
	if GroupAlerts(nil) != nil {
		t.Error("nothing has groups")
	}
}
