package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// approvePolicy is the content security policy of the approval page. The page can use its own styles and send its form to the
// hub. It cannot run scripts.
const approvePolicy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// shownApproval is the content of the approval page. It shows the held call exactly.
type shownApproval struct {
	parley.Approval
	Args    string
	Pending bool
	Problem *Problem
}

func newShownApproval(approval parley.Approval) shownApproval {
	var args bytes.Buffer
	if json.Indent(&args, approval.Call.Args, "", "  ") != nil {
		args.Reset()
		args.Write(approval.Call.Args)
	}
	return shownApproval{Approval: approval, Args: string(plain.JSON(args.Bytes())), Pending: approval.State == parley.ApprovalPending}
}

// approvePage shows the approval and does not decide, because programs such as chat clients open links before people do.
func approvePage(a *api, w http.ResponseWriter, r *http.Request) error {
	approval, err := a.hub.ApprovalByLink(r.Context(), r.PathValue("secret"))
	return a.showApproval(w, approval, err)
}

// approve decides an approval. It does not check the origin of the form, because the button of a notification sends the form
// from no page. The secret in the link protects the call: other pages do not have it.
func approve(a *api, w http.ResponseWriter, r *http.Request) error {
	form, err := parseForm(w, r)
	if err != nil {
		return err
	}
	answer := form.Get("approve")
	if answer != "1" && answer != "0" {
		return parley.Errorf(parley.BadInput, "the form does not say whether to approve").Suggest("send approve=1 or approve=0")
	}
	secret := r.PathValue("secret")
	_, refused := a.hub.DecideByLink(r.Context(), secret, parley.Decision{Approve: answer == "1", Note: form.Get("note")})
	approval, err := a.hub.ApprovalByLink(r.Context(), secret)
	if err == nil && refused != nil {
		shown, p := newShownApproval(approval), problemOf(refused)
		shown.Problem = &p
		return a.pageWithPolicy(approvePolicy, w, p.Status, "approve.html", shown)
	}
	return a.showApproval(w, approval, err)
}

func (a *api) showApproval(w http.ResponseWriter, approval parley.Approval, err error) error {
	if err != nil {
		p := problemOf(err)
		return a.pageWithPolicy(approvePolicy, w, p.Status, "approve.html", shownApproval{Problem: &p})
	}
	return a.pageWithPolicy(approvePolicy, w, http.StatusOK, "approve.html", newShownApproval(approval))
}
