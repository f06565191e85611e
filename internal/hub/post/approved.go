package post

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley/internal/hub/trees"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Calls returns the calls of this package that an approver can approve, by tool.
func Calls(s *Service) map[string]unit.ApprovableCall {
	return map[string]unit.ApprovableCall{
		policy.ToolPost:  unit.Approvable(draftWords(policy.ToolPost), s.preparePost),
		policy.ToolReply: unit.Approvable(draftWords(policy.ToolReply), s.preparePost),
	}
}

// draftWords returns the function that puts a held post into words for its approver.
func draftWords(action string) func(*unit.Unit, string, policy.HeldPost) (unit.CallWords, error) {
	return func(u *unit.Unit, agent string, d policy.HeldPost) (unit.CallWords, error) {
		others, where, err := approvals.DraftDestination(u, agent, d.Draft)
		w := unit.CallWords{Wants: "post in " + where, Doing: "posting in " + where, Action: action, Parts: d.ApprovalParts()}
		if len(others) > 0 {
			names := strings.Join(others, ", ")
			w.Wants, w.Doing = "contact "+names, "contacting "+names
		}
		return w, err
	}
}

// preparePost prepares a held post, which is posted once it is approved.
func (s *Service) preparePost(_ context.Context, as unit.Caller, held policy.HeldPost) (unit.Execution, error) {
	d, err := held.Check(s.Config.Limits)
	if err != nil {
		return nil, err
	}
	p := Posting{Draft: d, Source: as.Source, Named: held.Document}
	if err := p.Compose(); err != nil {
		return nil, err
	}
	if p.Call, err = unit.CallDigest(d); err != nil {
		return nil, err
	}
	return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
		p := p // the transaction may run again
		p.approved = &a
		if r, err := u.Runs().Get(a.Run); err == nil {
			p.By = &r // a later attempt of the run does not post it again
		} else if !errors.Is(err, parley.ErrNotFound) {
			return unit.Result{}, err
		}
		receipt, err := postApproved(u, p, held.Bridge)
		if err != nil {
			return unit.Result{}, err
		}
		notices, err := UnknownNoticesIn(u)
		receipt.Notices = append(receipt.Notices, notices...)
		return unit.Result{Text: postedWords(receipt)}, err
	}, nil
}

// postApproved stores an approved post. If the post came as a document of a directory tree, postApproved notes the message under the
// name of the document.
func postApproved(u *unit.Unit, p Posting, bridge string) (parley.Receipt, error) {
	b, err := u.Bridges().Get(bridge)
	switch {
	case bridge == "" || errors.Is(err, parley.ErrNotFound):
		return Store(u, p)
	case err != nil:
		return parley.Receipt{}, err
	}
	p.Tree = &b
	receipt, err := Store(u, p)
	if err != nil {
		return receipt, err
	}
	return receipt, trees.SaveFile(u.Tx, storage.FileRow{
		Bridge: b.ID, File: parley.BridgeFile{Path: "approved/" + p.approved.ID}, Name: p.Named, From: u.Me.ID, Message: receipt.Message.ID, At: u.Now,
	})
}

// postedWords tells the agent that its approved message was posted.
func postedWords(r parley.Receipt) string {
	return unit.WithNotices(fmt.Sprintf("Posted as message %s in conversation %s.", r.Message.ShortName(), r.Message.Conversation), r.Notices)
}
