package deliveries

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// NotLeasedError returns the error for giving back a delivery that was taken under another lease. The deliveries of people have no
// lease.
func NotLeasedError(d parley.Delivery) error {
	return parley.Errorf(parley.BadInput, "the lease does not hold message %s", d.ShortName()).Because(parley.Conflict).
		Suggest("name the lease that holds the message")
}

// Each calls do with each of the caller's deliveries of some messages. It returns E003 if a delivery has another lease than
// the one given.
func Each(u *unit.Unit, lease string, messages []string, do func(*parley.Delivery) error) (list []parley.Delivery, err error) {
	if len(messages) == 0 || len(messages) > MaxTaken {
		return nil, parley.Errorf(parley.BadInput, "the call names %d messages", len(messages)).Suggest("name 1 to %d", MaxTaken)
	}
	if list, err = findOwn(u, messages); err != nil {
		return nil, err
	}
	for i := range list {
		if held := list[i].Lease; lease != "" && held != "" && held != lease {
			return nil, errLeaseOver(lease)
		}
		if err := do(&list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// findOwn returns the caller's deliveries of some messages, by seq. It returns unit.Unknown if one is missing.
func findOwn(u *unit.Unit, messages []string) ([]parley.Delivery, error) {
	list, err := u.Deliveries().GetAll(u.Me.ID, messages)
	if err != nil {
		return nil, err
	}
	for _, id := range messages {
		if !slices.ContainsFunc(list, func(d parley.Delivery) bool { return strings.EqualFold(d.Message, id) }) {
			return nil, unit.Unknown{Noun: "message", Name: id}
		}
	}
	return list, nil
}

// errLeaseOver returns the error for a lease that has ended.
func errLeaseOver(lease string) error {
	return parley.Errorf(parley.BadInput, "the lease %s has ended", lease).Because(parley.Conflict).
		Suggest("take messages again: those of the lease are back in the inbox, or another reader has them")
}

// Leased returns the caller's deliveries under a lease. It returns E003 if there are none any more.
func Leased(u *unit.Unit, lease string) ([]parley.Delivery, error) {
	list, err := u.Queue().Leased(lease)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(d parley.Delivery) bool { return d.Recipient != u.Me.ID })
	if len(list) == 0 {
		return nil, errLeaseOver(lease)
	}
	return list, nil
}

// Lease leases an accepted delivery to a holder that has not taken it yet. Nobody else can take it until the lease ends.
func Lease(u *unit.Unit, d *parley.Delivery, holder string, length time.Duration) error {
	now, err := u.Queue().Now()
	if err != nil {
		return err
	}
	after := *d
	after.Lease, after.Until = holder, now.After(length)
	return Save(u, d, after)
}

// Holders returns the participants that hold a lease: they work on what they took.
func Holders(u *unit.Unit) (map[string]bool, error) {
	if u.LeaseHolders != nil {
		return u.LeaseHolders, nil
	}
	holders, err := u.Queue().LeaseHolders()
	if err == nil {
		u.LeaseHolders = holders
	}
	return holders, err
}

// Extend lets the lease of deliveries end after a length of time from now.
func Extend(u *unit.Unit, list []parley.Delivery, length time.Duration) error {
	now, err := u.Queue().Now()
	for i := range list {
		after := list[i]
		after.Until = now.After(length)
		if err == nil {
			err = Save(u, &list[i], after)
		}
	}
	return err
}
