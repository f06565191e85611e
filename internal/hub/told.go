package hub

import (
	"fmt"

	"github.com/parley-hub/parley"
)

// tellDeciders tells the people who are asked for an approval. The key keeps one request, and each reminder, from being
// told twice.
func (s *scene) tellDeciders(a parley.Approval, people []string, key string) error {
	return s.tellPeople(people, parley.Notice{
		Key: key, Kind: parley.NoticeApproval, Title: a.Agent + " needs your approval (" + a.ShortName() + ")", Text: a.Summary, Approval: a.ID,
	})
}

// tellDead tells the sender of a message that it is a dead letter, or the owners where no person sent it.
func (s *scene) tellDead(d parley.Delivery) error {
	people, err := s.personOrOwners(d.From)
	if err != nil {
		return err
	}
	return s.tellPeople(people, parley.Notice{
		Key: "dead/" + d.Message + "/" + d.Recipient, Kind: parley.NoticeDeadLetter,
		Title: "A message for " + d.Recipient + " could not be delivered",
		Text:  fmt.Sprintf("%s's message %s: %s.\nSee it with: parley dead list", d.From, d.ShortName(), d.Failure.Message),
	})
}

// personOrOwners is a participant, if it is a person, or else the owners.
func (s *scene) personOrOwners(id string) ([]string, error) {
	return s.responsible(parley.Agent{Profile: parley.Profile{Manager: id}})
}
