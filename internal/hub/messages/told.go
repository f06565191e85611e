package messages

import (
	"fmt"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// TellDead tells the sender of a message that it is a dead letter, or the owners where no person sent it.
func TellDead(u *unit.Unit, d parley.Delivery) error {
	people, err := agents.PersonOrOwners(u, d.From)
	if err != nil {
		return err
	}
	return notices.TellPeople(u, people, parley.Notice{
		Key: "dead/" + d.Message + "/" + d.Recipient, Kind: parley.NoticeDeadLetter,
		Title: "A message for " + d.Recipient + " could not be delivered",
		Text:  fmt.Sprintf("%s's message %s: %s.\nSee it with: parley dead list", d.From, d.ShortName(), d.Failure.Message),
	})
}
