package post

import (
	"cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// traceOf is the trace of a new message: the one that its sender names, if it may join that; else that of its run or of
// the message it answers; else that of the call; else one of its own.
func traceOf(u *unit.Unit, p Posting, given string, parent *parley.Message) (string, error) {
	inherited := p.Inherits
	switch {
	case inherited != "":
	case p.By != nil:
		inherited = p.By.TraceID
	case parent != nil:
		inherited = parent.TraceID
	}
	if given == "" && inherited == "" {
		given = p.Trace
	}
	given, err := names.MayJoinTrace(u, given, inherited)
	return cmp.Or(given, inherited, p.Id), err
}
