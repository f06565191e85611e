package cli

import (
	"testing"

	"github.com/parley-hub/parley"
)

// TestStatusesBelongToTheirQuestion: of two asks of one caller at the same time, each shows its own statuses.
func TestStatusesBelongToTheirQuestion(t *testing.T) {
	status := parley.Message{Type: parley.TypeStatus, From: "bob", To: "user", InReplyTo: "m1", Task: "task-1"}
	answer := status
	answer.Type = parley.TypeResponse
	plain := status
	plain.Task = ""
	for name, test := range map[string]struct {
		m        parley.Message
		question string
		want     bool
	}{
		"its own":              {status, "m1", true},
		"of the other ask":     {status, "m2", false},
		"the answer":           {answer, "m1", false},
		"a status of no task":  {plain, "m1", false},
		"of no question known": {status, "", false},
	} {
		if got := isStatusOf(test.m, test.question); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
