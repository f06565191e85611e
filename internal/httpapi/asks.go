package httpapi

import (
	"context"

	"github.com/parley-hub/parley"
)

type listAsksInput struct {
	Open   bool   `query:"open" doc:"Only asks that have not ended: waiting, late or abandoned."`
	Limit  int    `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: the default."`
	Cursor string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

func listAsks(ctx context.Context, c *call, in *listAsksInput) (page List[parley.AskView], err error) {
	paged := pageInput{in.Limit, in.Cursor}
	before, err := paged.after()
	if err != nil {
		return page, err
	}
	views, err := c.hub.Asks(ctx, c.caller, parley.AskFilter{Open: in.Open, Before: before, Limit: paged.size()})
	return pageByNumber(views, paged.size(), func(v parley.AskView) int64 { return v.Seq }), err
}
