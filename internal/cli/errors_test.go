package cli

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestAllIssuesAreListed(t *testing.T) {
	var out strings.Builder
	a := &app{program: programName}
	a.err = &out
	issues := []string{"Missing required field: status", "progress: maximum is 1,\ngot 2"}
	code := a.fail(t.Context(), parley.Invalid("the payload is not a valid status-update", "", issues))
	want := "parley: E003: the payload is not a valid status-update: Missing required field: status, and 1 more (see docs/formats.md for the correct form)\n" +
		" - Missing required field: status\n - progress: maximum is 1, got 2\n"
	if code != exitError || out.String() != want {
		t.Errorf("%d\n%q\n%q", code, out.String(), want)
	}
}
