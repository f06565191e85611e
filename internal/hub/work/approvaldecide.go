package work

import (
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

func DecidedAlready(a parley.Approval) error {
	what := fmt.Sprintf("%s is %s", a.ShortName(), a.State)
	if a.DecidedBy != "" {
		word := "denied"
		if a.State != parley.ApprovalDenied {
			word = "approved"
		}
		what = fmt.Sprintf("%s was %s by %s at %s", a.ShortName(), word, a.DecidedBy, a.DecidedAt.Format(time.RFC3339))
	}
	if a.Refused() {
		what += ", and the call was refused: " + a.Failure.Message
	}
	return parley.Errorf(parley.BadInput, "%s", what).Because(parley.Conflict).Suggest("the first answer stands")
}
