package cli

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// listAsks prints asks, newest first.
func (a *app) listAsks(ctx context.Context, c *client.Client, options client.AsksOptions, limit int) error {
	page := func(ctx context.Context, from client.PageRequest) (client.Page[parley.AskView], error) {
		from.Limit = min(limit+1, maxTasksPerCall)
		return c.Asks(ctx, options, from)
	}
	asks, err := collectItems(client.All(ctx, page), limit+1)
	if err != nil {
		return err
	}
	if len(asks) > limit {
		a.printStderr("note: there are more asks; list them with a higher --limit")
	}
	return printList(a, asks[:min(limit, len(asks))],
		column[parley.AskView]{"message", parley.AskView.ShortName},
		column[parley.AskView]{"from", func(v parley.AskView) string { return v.FromName }},
		column[parley.AskView]{"to", func(v parley.AskView) string { return v.ToName }},
		column[parley.AskView]{"state", func(v parley.AskView) string { return string(v.State) }},
		column[parley.AskView]{"since", func(v parley.AskView) string { return a.formatTime(v.Since) }},
		column[parley.AskView]{"until", func(v parley.AskView) string { return a.formatTime(v.Until) }},
		column[parley.AskView]{"ended", func(v parley.AskView) string { return a.formatOptionalTime(v.EndedAt) }},
		column[parley.AskView]{"task", func(v parley.AskView) string { return v.Task }},
		column[parley.AskView]{"source", func(v parley.AskView) string { return v.Source }},
		column[parley.AskView]{"question", func(v parley.AskView) string { return truncate(oneLine(v.Question), parley.MaxQuestion) }},
	)
}
