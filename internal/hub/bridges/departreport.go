package bridges

import (
	"context"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/departures"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Report tells what became of departures. What has come further already stays as it is.
func (b bridgeAPI) Report(ctx context.Context, id string, reports []parley.DepartureReport) error {
	for part := range slices.Chunk(reports, mostDepartures) {
		err := b.hub.Write(ctx, b.caller, unit.OpReportDepartures, func(u *unit.Unit) error {
			view, err := trees.Bridge(u, id)
			for _, r := range part {
				if err == nil {
					err = departures.Report(u, view.Bridge, r)
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
