package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

func Expire(u *unit.Unit, d *parley.Delivery) error {
	return deliveries.End(u, d, parley.DeliveryExpired, parley.Errorf(parley.TimedOut, "this expired before %s took it", d.Recipient).
		Suggest("send it again with a longer ttl, or none"))
}
