package approvals

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// DescribeCall puts the call of an approval into words.
func DescribeCall(u *unit.Unit, a parley.Approval) (unit.CallWords, error) {
	tool, known := u.Core.Hooks.Calls[a.Call.Tool]
	if !known {
		return unit.CallWords{}, fmt.Errorf("the tool %s is unknown", a.Call.Tool)
	}
	return tool.Words(u, a.Agent, a.Call.Args)
}

// RepeatSummary makes the text of an earlier request again. If the subject of the call was changed or removed since, it returns the
// stored text, and all of it counts as the agent's words.
func RepeatSummary(u *unit.Unit, a parley.Approval) parley.Wording {
	if now, err := MakeSummary(u, a); err == nil && now.Text == a.Summary {
		return now
	}
	return parley.Wording{}.Quote(a.Agent, a.Summary)
}

// MakeSummary returns the text of the request for an approval.
func MakeSummary(u *unit.Unit, a parley.Approval) (text parley.Wording, err error) {
	agent, err := u.Agents().Find(a.Agent)
	if err != nil {
		return text, err
	}
	w, err := DescribeCall(u, a)
	if err != nil {
		return text, err
	}
	if reads := []string{policy.ToolRead, policy.ToolMessage, policy.ToolQuery}; a.Conversation != "" && slices.Contains(reads, a.Call.Tool) {
		conversation, err := u.Conversations().Find(a.Conversation)
		if err != nil {
			return text, err
		}
		w.Parts = append(w.Parts, parley.ApprovalPart{Label: "Shown in", Text: conversation.Title()}) // everybody who reads there sees what the call reads
	}
	return parley.ApprovalRequest{ID: agent.ID, Agent: agent.Name, Wants: w.Wants, Action: w.Action, Parts: w.Parts}.Wording(), nil
}

// DisplayName returns the display name of a participant, or the given name if it is unknown.
func DisplayName(u *unit.Unit, name string) (string, error) {
	a, err := u.Agents().Find(name)
	if errors.Is(err, parley.ErrNotFound) {
		return name, nil
	}
	return a.Name, err
}

// DraftDestination returns the names of the recipients of a draft, and the title of the conversation it goes to.
func DraftDestination(u *unit.Unit, agent string, d parley.Draft) (others []string, conversation string, err error) {
	ids, ref := d.Direct, d.Conversation
	if len(ids) == 0 && ref == "" {
		m, err := u.Messages().Get(d.InReplyTo)
		if err != nil {
			return nil, "a conversation", unit.IgnoreNotFound(err)
		}
		ref = m.Conversation
	}
	if len(ids) == 0 {
		c, err := u.Conversations().Find(unit.ConversationKey(ref))
		if errors.Is(err, parley.ErrNotFound) && d.Make {
			ref = "#" + unit.ConversationKey(ref)
		}
		if err != nil {
			return nil, ref, unit.IgnoreNotFound(err)
		}
		ids, conversation = c.FixedMemberIDs(), c.Title()
	}
	for _, id := range ids {
		if id == agent {
			continue
		}
		name, err := DisplayName(u, id)
		if err != nil {
			return nil, conversation, err
		}
		others = append(others, name)
	}
	return others, conversation, nil
}
