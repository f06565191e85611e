package hub_test

import (
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func TestStatus(t *testing.T) {
	w := newHub(t, func(w *fixture) {
		w.Config.About = parley.HubStatus{Version: "1.2.3", Store: "sqlite", PID: 7, Address: "127.0.0.1:7717", Home: "/home/parley"}
	})
	w.AddAgents("arya", "gendry")
	w.SendDM("user", "arya", "hello")
	w.SendEphemeralDM("user", "gendry", "hello")
	status := resultOf[parley.HubStatus](w)(w.Status(ctx, user))
	want := parley.HubStatus{
		Version: "1.2.3", Store: "sqlite", PID: 7, Address: "127.0.0.1:7717", Home: "/home/parley", StartedAt: began,
		Totals:    parley.Totals{Agents: 4, Conversations: 2, Messages: 2, OpenDeliveries: 2},
		LastEvent: w.LastEventNumber(), Alerts: []parley.Alert{},
	}
	same(t, "to an owner", status, want)
	want.Home = ""
	same(t, "to an agent", resultOf[parley.HubStatus](w)(w.Status(ctx, as("arya"))), want)
	_, err := w.Status(ctx, as("nobody"))
	wantError(t, err, refusalError(parley.NotPermitted, "", "nobody is not a participant of this hub", "ask an owner of this hub to add it"))
}

// fixedDisk is a store on a disk with a fixed amount of free space.
type fixedDisk struct {
	storage.Store
	free, total int64
}

func (d fixedDisk) Space() (free, total int64, err error) { return d.free, d.total, nil }

func TestStatusAlertsOfAFullDisk(t *testing.T) {
	for free, alerts := range map[int64]int{4 << 30: 1, 6 << 30: 0} {
		w := newHub(t, func(w *fixture) {
			w.WrapStore = func(s storage.Store) storage.Store { return fixedDisk{s, free, 100 << 30} }
		})
		status := resultOf[parley.HubStatus](w)(w.Status(ctx, user))
		same(t, "the disk", []int64{status.DiskFree, status.DiskTotal, int64(len(status.Alerts))}, []int64{free, 100 << 30, int64(alerts)})
	}
}
