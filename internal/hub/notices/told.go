package notices

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// TellDeciders tells the people who are asked for an approval. The key keeps one request, and each reminder, from being
// told twice.
func TellDeciders(u *unit.Unit, a parley.Approval, people []string, key string) error {
	return TellPeople(u, people, parley.Notice{
		Key: key, Kind: parley.NoticeApproval, Title: a.Agent + " needs your approval (" + a.ShortName() + ")", Text: a.Summary, Approval: a.ID,
	})
}
