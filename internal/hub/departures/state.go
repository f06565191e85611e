package departures

import (
	"strconv"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ParseID parses the id of a departure. E003 if it is no number.
func ParseID(id string) (int64, error) {
	num, err := strconv.ParseInt(id, 10, 64)
	if err != nil || num < 0 {
		return 0, parley.Errorf(parley.BadInput, "%q is no departure", id).Suggest("name one as it was given")
	}
	return num, nil
}

// stepDeparture moves a departure to another state. It is the only function that changes the state. E003 if the step is not
// allowed.
func stepDeparture(u *unit.Unit, row *storage.DepartureRow, to parley.DepartureState) error {
	if !row.State.May(to) {
		return parley.Errorf(parley.BadInput, "departure %d is %s and cannot become %s", row.Num, row.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	row.State, row.At = to, u.Now
	return u.Bridges().PutDeparture(*row)
}
